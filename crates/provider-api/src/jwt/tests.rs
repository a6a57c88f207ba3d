use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::{PublicKey, SecretKey};
use akash_types::Address;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Key, token and times of two tokens that an independent implementation verified.
const SECRET: &str = "2a899a0e2ca668355c6ed0869063b947dce53a44ef7e281834ed79db47c315cc";
const PUBLIC: &str = "02fe036a0896b7d682798942ee1511b84ecc3267f51c0109a9d9f4c6c4d5629822";
const ISSUER: &str = "akash10z3dccmx6ysj58tn4sgk95tv0xy84mwcj5ypkx";
const FULL: &str = "eyJhbGciOiJFUzI1NksiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJha2FzaDEwejNkY2NteDZ5c2o1OHRuNHNnazk1dHYweHk4NG13Y2o1eXBreCIsImlhdCI6MTc2NzIyNTYwMCwibmJmIjoxNzY3MjI1NjAwLCJleHAiOjQxMDI0NDQ4MDAsInZlcnNpb24iOiJ2MSIsImxlYXNlcyI6eyJhY2Nlc3MiOiJmdWxsIn19.I9igWy_N8AhGGuzhoC917YM_lLXFk69wGe53qUiqi5sYUgwJh2i8X-3Ph-vC-8yP1SZEv6J2Jd1-CX2jhIF3zA";
const SCOPED_ADR36: &str = "eyJhbGciOiJFUzI1NktBRFIzNiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJha2FzaDEwejNkY2NteDZ5c2o1OHRuNHNnazk1dHYweHk4NG13Y2o1eXBreCIsImlhdCI6MTc2NzIyNTYwMCwibmJmIjoxNzY3MjI1NjAwLCJleHAiOjQxMDI0NDQ4MDAsInZlcnNpb24iOiJ2MSIsImxlYXNlcyI6eyJhY2Nlc3MiOiJzY29wZWQiLCJzY29wZSI6WyJzdGF0dXMiLCJsb2dzIl19fQ.q9mAkXR5yUOsHGA3xYzJ-zElRxuJgprYS7Am8BbmfgxnVeI_flAbjo9hsgFOfbVwOyHkaM-2lWbN5TElfp4x7g";
const ISSUED: i64 = 1_767_225_600;
const EXPIRES: i64 = 4_102_444_800;
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
const OTHER_PROVIDER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";

fn secret() -> SecretKey {
    SecretKey::from_hex(SECRET).unwrap()
}

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn at(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap())
}

/// A token with any claims, well signed.
fn signed(claims: &Value) -> String {
    signed_text("{\"alg\":\"ES256K\"}", &claims.to_string())
}

fn signed_text(header: &str, claims: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let text = format!("{}.{}", encode(header), encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(secret().sign(text.as_bytes()));
    format!("{text}.{signature}")
}

/// Valid claims with these leases.
fn claims(leases: &Value) -> Value {
    let (iat, exp) = (ISSUED, EXPIRES);
    json!({"iss": ISSUER, "iat": iat, "nbf": iat, "exp": exp, "version": "v1", "leases": leases})
}

fn verify(token: &str, now: i64) -> Result<Claims, VerifyError> {
    Token::parse(token).unwrap().verify(&secret().public_key(), at(now))
}

fn refused(claims: &Value) -> ClaimsError {
    match verify(&signed(claims), ISSUED) {
        Err(VerifyError::Claims(error)) => error,
        other => panic!("{claims}: {other:?}"),
    }
}

#[test]
fn recorded_tokens_verify_and_are_made_again_byte_for_byte() {
    assert_eq!(hex(&secret().public_key()), PUBLIC);
    let full = Claims {
        issuer: address(ISSUER),
        issued_at: ISSUED,
        not_before: ISSUED,
        expires_at: EXPIRES,
        access: Access::Full,
    };
    let scoped = Claims { access: Access::Scoped(vec![Scope::Status, Scope::Logs]), ..full };
    for (text, algorithm, expected) in
        [(FULL, Algorithm::Es256k, full), (SCOPED_ADR36, Algorithm::Es256kAdr36, scoped)]
    {
        let token = Token::parse(text).unwrap();
        assert_eq!((token.issuer(), token.algorithm()), (address(ISSUER), algorithm));
        assert_eq!(verify(text, ISSUED).as_ref(), Ok(&expected));
        assert_eq!(issue(&expected, algorithm, &secret()).unwrap(), text);
    }
}

fn hex(key: &PublicKey) -> String {
    key.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_token_is_valid_from_its_first_second_to_the_one_before_its_last() {
    assert_eq!(
        verify(FULL, ISSUED - 1),
        Err(VerifyError::Claims(ClaimsError::NotYetValid { seconds: 1 }))
    );
    assert!(verify(FULL, ISSUED).is_ok());
    assert!(verify(FULL, EXPIRES - 1).is_ok());
    assert_eq!(
        verify(FULL, EXPIRES),
        Err(VerifyError::Claims(ClaimsError::Expired { seconds: 0 }))
    );
}

#[test]
fn a_forged_token_is_forged_even_if_it_is_expired_too() {
    let (text, signature) = FULL.rsplit_once('.').unwrap();
    let other = SecretKey::from_bytes(&[9; 32]).unwrap();
    let forged = format!("{text}.{}", URL_SAFE_NO_PAD.encode(other.sign(text.as_bytes())));
    assert_eq!(verify(&forged, EXPIRES + 1), Err(VerifyError::Signature));
    // The signature of one algorithm is none of the other, and not of other claims.
    let (adr_text, adr_signature) = SCOPED_ADR36.rsplit_once('.').unwrap();
    for token in [format!("{text}.{adr_signature}"), format!("{adr_text}.{signature}")] {
        assert_eq!(verify(&token, ISSUED), Err(VerifyError::Signature));
    }
    for signature in ["", "AAAA", &signature[..84]] {
        assert_eq!(verify(&format!("{text}.{signature}"), ISSUED), Err(VerifyError::Signature));
    }
}

#[test]
fn the_other_signature_of_the_pair_is_refused() {
    let (text, signature) = FULL.rsplit_once('.').unwrap();
    let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let mut borrow = 0i32;
    for at in (0..32).rev() {
        let digit = i32::from_str_radix(&order[2 * at..2 * at + 2], 16).unwrap();
        let value = digit - i32::from(bytes[32 + at]) - borrow;
        borrow = i32::from(value < 0);
        bytes[32 + at] = u8::try_from(value.rem_euclid(256)).unwrap();
    }
    let high = format!("{text}.{}", URL_SAFE_NO_PAD.encode(bytes));
    assert_eq!(verify(&high, ISSUED), Err(VerifyError::Signature));
}

#[test]
fn what_is_no_token_is_refused_before_any_key_is_asked_for() {
    let header = "{\"alg\":\"ES256K\"}";
    let good = claims(&json!({"access": "full"}));
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        signed(&claims)
    };
    let none = signed_text("{\"alg\":\"none\"}", &good.to_string());
    let permission = json!({"provider": "akash1nonsense", "access": "full"});
    let dseq = json!({"provider": PROVIDER, "access": "granular",
        "deployments": [{"dseq": "1", "scope": ["logs"], "services": ["web"]}]});
    for (token, part) in [
        (String::new(), "three parts"),
        ("a.b".to_owned(), "three parts"),
        ("a.b.c.d".to_owned(), "three parts"),
        ("garbage".to_owned(), "three parts"),
        ("!.e30.AA".to_owned(), "header"),
        ("e30.!.AA".to_owned(), "claims"),
        (FULL.replace('.', "=."), "base64url"),
        (signed_text("[]", "{}"), "header"),
        (signed_text("{}", "{}"), "ES256K"),
        (none, "ES256K"),
        (signed_text(r#"{"alg":"ES256K","crit":["b64"]}"#, &good.to_string()), "crit"),
        (signed_text("{\"alg\":\"es256k\"}", &good.to_string()), "ES256K"),
        (signed_text(header, "{}"), "issuer"),
        (signed_text(header, "nothing"), "claims"),
        (with("iss", json!("cosmos1abc")), "issuer"),
        (with("iss", json!(7)), "claims"),
        (with("exp", json!("soon")), "claims"),
        (with("version", json!(1)), "claims"),
        (with("leases", json!([])), "claims"),
        (with("leases", json!({"access": "granular", "permissions": [permission]})), "provider"),
        (with("leases", json!({"access": "granular", "permissions": [dseq]})), "claims"),
        (with("leases", json!({"access": "scoped", "scope": [1]})), "claims"),
        (with("leases", json!({"access": "scoped", "scope": "logs"})), "claims"),
    ] {
        let error = Token::parse(&token).unwrap_err();
        assert!(error.to_string().contains(part), "{token}: {error}");
    }
}

#[test]
fn times_may_be_fractional_or_quoted_and_unknown_claims_are_ignored() {
    for (iat, exp) in [
        (json!(1_767_225_600.9), json!(4_102_444_800.1)),
        (json!("1767225600"), json!("4102444800.5")),
        (json!(0), json!(1e30)),
        (json!(-1), json!("9e18")),
    ] {
        let mut claims = claims(&json!({"access": "full", "other": {}}));
        claims["iat"] = iat.clone();
        claims["nbf"] = iat;
        claims["exp"] = exp;
        claims["jti"] = json!("7f");
        claims["aud"] = json!(["x"]);
        claims["sub"] = json!(null);
        let claims = verify(&signed(&claims), ISSUED).unwrap();
        assert!(claims.expires_at >= EXPIRES);
    }
}

#[test]
fn every_claim_that_is_required_is_required() {
    let good = claims(&json!({"access": "full"}));
    for claim in ["iat", "nbf", "exp", "leases"] {
        for value in [None, Some(Value::Null)] {
            let mut changed = good.clone();
            match value {
                Some(value) => changed[claim] = value,
                None => drop(changed.as_object_mut().unwrap().remove(claim)),
            }
            assert_eq!(refused(&changed), ClaimsError::Missing { claim }, "{claim}");
        }
    }
    for version in [json!(null), json!(""), json!("v2")] {
        let mut changed = good.clone();
        changed["version"] = version;
        assert_eq!(refused(&changed), ClaimsError::Version);
    }
}

#[test]
fn the_rules_of_access_hold() {
    let one = |permission: Value| json!({"access": "granular", "permissions": [permission]});
    let grant = |deployment: Value| {
        one(json!({"provider": PROVIDER, "access": "granular", "deployments": [deployment]}))
    };
    let missing = |claim| ClaimsError::Missing { claim };
    let not_allowed = |claim| ClaimsError::NotAllowed { claim };
    let empty = ClaimsError::Scope(ScopeError::Empty);
    let unknown = ClaimsError::Scope(ScopeError::Unknown { name: "bogus".to_owned() });
    let twice = ClaimsError::Scope(ScopeError::Twice { scope: Scope::Logs });
    let full = json!({"provider": PROVIDER, "access": "full"});
    for (leases, expected) in [
        (json!({}), ClaimsError::Access),
        (json!({"access": "none"}), ClaimsError::Access),
        (json!({"access": "Full"}), ClaimsError::Access),
        (json!({"access": "full", "permissions": [full]}), not_allowed("permissions")),
        (json!({"access": "full", "scope": ["logs"]}), not_allowed("scope")),
        (json!({"access": "scoped"}), empty.clone()),
        (json!({"access": "scoped", "scope": []}), empty.clone()),
        (json!({"access": "scoped", "scope": ["bogus"]}), unknown.clone()),
        (json!({"access": "scoped", "scope": ["logs", "logs"]}), twice.clone()),
        (
            json!({"access": "scoped", "scope": ["logs"], "permissions": []}),
            not_allowed("permissions"),
        ),
        (json!({"access": "granular"}), missing("permissions")),
        (json!({"access": "granular", "permissions": []}), missing("permissions")),
        (one(json!({"access": "full"})), missing("provider")),
        (one(json!({"provider": "", "access": "full"})), missing("provider")),
        (one(json!({"provider": PROVIDER})), ClaimsError::Access),
        (
            json!({"access": "granular", "permissions": [full, full]}),
            ClaimsError::ProviderTwice { provider: address(PROVIDER) },
        ),
        (
            one(json!({"provider": PROVIDER, "access": "full", "scope": ["logs"]})),
            not_allowed("scope"),
        ),
        (
            one(json!({"provider": PROVIDER, "access": "full", "deployments": [{"dseq": 1}]})),
            not_allowed("deployments"),
        ),
        (one(json!({"provider": PROVIDER, "access": "scoped"})), empty.clone()),
        (
            one(json!({"provider": PROVIDER, "access": "scoped", "scope": ["logs"],
                "deployments": []})),
            not_allowed("deployments"),
        ),
        (
            one(json!({"provider": PROVIDER, "access": "granular", "scope": []})),
            not_allowed("scope"),
        ),
        (one(json!({"provider": PROVIDER, "access": "granular"})), missing("deployments")),
        (
            one(json!({"provider": PROVIDER, "access": "granular", "deployments": []})),
            missing("deployments"),
        ),
        (grant(json!({"scope": ["logs"], "services": ["web"]})), missing("dseq")),
        (grant(json!({"dseq": 0, "scope": ["logs"], "services": ["web"]})), missing("dseq")),
        (grant(json!({"dseq": 1, "services": ["web"]})), empty),
        (grant(json!({"dseq": 1, "scope": ["bogus"], "services": ["web"]})), unknown),
        (grant(json!({"dseq": 1, "scope": ["logs", "logs"], "services": ["web"]})), twice),
        (
            grant(json!({"dseq": 1, "oseq": 1, "scope": ["logs"], "services": ["web"]})),
            missing("gseq"),
        ),
        (grant(json!({"dseq": 1, "scope": ["logs"]})), missing("services")),
        (grant(json!({"dseq": 1, "scope": ["logs"], "services": []})), missing("services")),
        (
            grant(json!({"dseq": 1, "scope": ["logs"], "services": ["web", "web"]})),
            ClaimsError::ServiceTwice { service: "web".to_owned() },
        ),
    ] {
        assert_eq!(refused(&claims(&leases)), expected, "{leases}");
    }
}

#[test]
fn every_kind_of_access_is_read() {
    let leases = json!({"access": "granular", "scope": ["not looked at"], "permissions": [
        {"provider": PROVIDER, "access": "granular", "deployments": [
            {"dseq": 5, "gseq": 0, "oseq": 0, "scope": ["logs"], "services": ["web", "db"]},
            {"dseq": 6, "gseq": 1, "oseq": 2, "scope": ["status"], "services": ["web"]}]},
        {"provider": OTHER_PROVIDER, "access": "scoped", "scope": ["shell"]},
        {"provider": ISSUER, "access": "full", "scope": null, "deployments": []}]});
    let grant = |dseq, gseq, oseq, scope, services: &[&str]| DeploymentGrant {
        dseq,
        gseq,
        oseq,
        scope: vec![scope],
        services: services.iter().map(|service| (*service).to_owned()).collect(),
    };
    let expected = Access::Granular(vec![
        Permission {
            provider: address(PROVIDER),
            access: ProviderAccess::Granular(vec![
                grant(5, None, None, Scope::Logs, &["web", "db"]),
                grant(6, Some(1), Some(2), Scope::Status, &["web"]),
            ]),
        },
        Permission {
            provider: address(OTHER_PROVIDER),
            access: ProviderAccess::Scoped(vec![Scope::Shell]),
        },
        Permission { provider: address(ISSUER), access: ProviderAccess::Full },
    ]);
    let read = verify(&signed(&claims(&leases)), ISSUED).unwrap();
    assert_eq!(read.access, expected);
    let again = issue(&read, Algorithm::Es256kAdr36, &secret()).unwrap();
    assert_eq!(verify(&again, ISSUED), Ok(read));
}

#[test]
fn every_scope_has_one_name() {
    for scope in Scope::ALL {
        assert_eq!(Scope::named(scope.name()), Some(scope));
        let leases = json!({"access": "scoped", "scope": [scope.name()]});
        let read = verify(&signed(&claims(&leases)), ISSUED).unwrap();
        assert_eq!(read.access, Access::Scoped(vec![scope]));
    }
}

#[test]
fn no_token_is_made_that_a_provider_would_refuse() {
    let claims = Claims::new(address(ISSUER), Access::Full, at(ISSUED), Claims::LIFETIME);
    assert_eq!((claims.not_before, claims.expires_at), (ISSUED, ISSUED + 900));
    assert!(issue(&claims, Algorithm::Es256k, &secret()).is_ok());
    let other = SecretKey::from_bytes(&[9; 32]).unwrap();
    assert!(matches!(issue(&claims, Algorithm::Es256k, &other), Err(IssueError::OtherKey)));
    let empty = Claims { access: Access::Scoped(vec![]), ..claims };
    let error = issue(&empty, Algorithm::Es256k, &secret());
    assert!(matches!(error, Err(IssueError::Claims(ClaimsError::Scope(ScopeError::Empty)))));
    let dead = Claims { expires_at: ISSUED, ..claims };
    let error = issue(&dead, Algorithm::Es256k, &secret());
    assert!(matches!(error, Err(IssueError::Claims(ClaimsError::Expired { .. }))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_change_of_a_signed_token_survives(at in any::<prop::sample::Index>(), to in "[A-Za-z0-9_.-]") {
        for token in [FULL, SCOPED_ADR36] {
            let at = at.index(token.len());
            let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
            if changed == token {
                continue;
            }
            let verified = Token::parse(&changed)
                .ok()
                .and_then(|token| token.verify(&secret().public_key(), self::at(ISSUED)).ok());
            prop_assert_eq!(verified, None, "{}", changed);
        }
    }

    #[test]
    fn no_text_panics(token in "[A-Za-z0-9_=-]{0,40}[.]{0,2}[A-Za-z0-9_=-]{0,40}[.]{0,2}\\PC{0,40}") {
        let _ = Token::parse(&token);
    }
}
