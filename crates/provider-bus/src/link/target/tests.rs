use super::*;

fn address(host: &str, port: u16) -> Address {
    Address { host: host.into(), port }
}

fn login(user: Option<&str>, password: Option<&str>) -> Login {
    Login { user: user.map(Into::into), password: password.map(Into::into) }
}

#[test]
fn one_server_with_everything_or_nothing_else() {
    for (url, at, login, db, tls) in [
        ("redis://localhost", address("localhost", 6379), login(None, None), 0, None),
        ("redis://localhost/", address("localhost", 6379), login(None, None), 0, None),
        ("redis://10.0.0.7:7000/3", address("10.0.0.7", 7000), login(None, None), 3, None),
        ("redis://[::1]:7000", address("::1", 7000), login(None, None), 0, None),
        ("redis://[::1]", address("::1", 6379), login(None, None), 0, None),
        ("redis://:p%40ss@r", address("r", 6379), login(None, Some("p@ss")), 0, None),
        ("redis://u:a@b@r:1", address("r", 1), login(Some("u"), Some("a@b")), 0, None),
        ("redis://u:a/b@r:1/4", address("r", 1), login(Some("u"), Some("a/b")), 4, None),
        ("rediss://r", address("r", 6379), login(None, None), 0, Some(TlsFiles::default())),
        (
            "rediss://r?ca=/a%20b.pem&cert=c.pem&key=k.pem",
            address("r", 6379),
            login(None, None),
            0,
            Some(TlsFiles {
                ca: Some("/a b.pem".into()),
                identity: Some(("c.pem".into(), "k.pem".into())),
            }),
        ),
    ] {
        let expected = Target { servers: Servers::One(at), login, db, tls };
        assert_eq!(url.parse::<Target>(), Ok(expected), "{url}");
    }
}

#[test]
fn sentinels_have_a_master_to_ask_for_and_a_login_of_their_own() {
    let url = "redis+sentinel://u:p@s1,s2:7,[::1]:8/mymaster/2?sentinel_user=a&sentinel_password=b";
    let target: Target = url.parse().unwrap();
    let servers = Servers::Sentinels {
        sentinels: vec![address("s1", 26379), address("s2", 7), address("::1", 8)],
        master: "mymaster".into(),
        login: login(Some("a"), Some("b")),
    };
    let login = login(Some("u"), Some("p"));
    assert_eq!(target, Target { servers, login, db: 2, tls: None });
    let tls = "rediss+sentinel://s/m?ca=x".parse::<Target>().unwrap().tls;
    assert_eq!(tls.unwrap().ca, Some("x".into()));
}

#[test]
fn what_is_wrong_is_named() {
    for (url, error) in [
        ("", TargetError::Scheme),
        ("localhost:6379", TargetError::Scheme),
        ("http://localhost", TargetError::Scheme),
        ("redis://", TargetError::Address(String::new())),
        ("redis://:6379", TargetError::Address(":6379".into())),
        ("redis://r:port", TargetError::Address("r:port".into())),
        ("redis://r:0", TargetError::Address("r:0".into())),
        ("redis://r:70000", TargetError::Address("r:70000".into())),
        ("redis://[::1", TargetError::Address("[::1".into())),
        ("redis://[::1]7", TargetError::Address("[::1]7".into())),
        ("redis://a,b", TargetError::SeveralServers),
        ("redis://r/x", TargetError::Db("x".into())),
        ("redis://r/-1", TargetError::Db("-1".into())),
        ("redis+sentinel://s", TargetError::Master),
        ("redis+sentinel://s/", TargetError::Master),
        ("redis+sentinel://s,/m", TargetError::Address(String::new())),
        ("redis://r?ca=x", TargetError::Option("ca".into())),
        ("redis://r?sentinel_user=x", TargetError::Option("sentinel_user".into())),
        ("rediss://r?insecure", TargetError::Option("insecure".into())),
        ("rediss://r?cert=c", TargetError::Identity),
        ("redis://:%ff@r", TargetError::Encoding),
    ] {
        assert_eq!(url.parse::<Target>(), Err(error), "{url}");
    }
}

#[test]
fn passwords_are_not_shown() {
    let url = "redis+sentinel://u:hidden1@s/m?sentinel_password=hidden2";
    let shown = format!("{:?}", url.parse::<Target>().unwrap());
    assert!(shown.contains("(secret)") && !shown.contains("hidden"), "{shown}");
}

#[test]
fn files_that_are_missing_or_hold_something_else_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "no certificate here").unwrap();
    for (file, expected) in [
        (empty, "empty.pem holds no certificate"),
        (directory.path().join("missing.pem"), "missing.pem could not be read as PEM"),
    ] {
        let url = format!("rediss://localhost?ca={}", file.display());
        let error = url.parse::<Target>().unwrap().check().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    "rediss://localhost".parse::<Target>().unwrap().check().unwrap();
}
