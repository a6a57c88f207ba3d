//! A certificate asked for at a real ACME server: Pebble, which Go builds once into a cache.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use base64::Engine as _;
use provider_gateway::certs::acme::{AcmeIssuer, AcmeSettings, Challenge};
use provider_gateway::tls::{ServerCertificates, certified};

const DOMAIN: &str = "provider.example.com";

/// A running Pebble.
struct Authority {
    process: Child,
    directory: String,
    root: PathBuf,
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _gone = self.process.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Authority {
    /// Asks for answers on these ports of the domain.
    async fn start(program: &Path, home: &Path, http_port: u16, tls_port: u16) -> Self {
        let (root, key) = (home.join("pebble.pem"), home.join("pebble.key"));
        let spec = CertificateSpec {
            owner: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap(),
            serial: 1,
            not_before: SystemTime::now() - Duration::from_mins(1),
            valid_for: Duration::from_hours(1),
            domains: vec!["localhost".into()],
        };
        let pair = KeyPair::generate(&spec, CertificateKey::generate().unwrap()).unwrap();
        std::fs::write(&root, pair.certificate().to_pem()).unwrap();
        let der = pair.key().to_pkcs8_der().unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der.as_slice());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        std::fs::write(&key, pem).unwrap();
        let port = free_port();
        let config = home.join("pebble.json");
        let settings = serde_json::json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{}", free_port()),
            "certificate": root, "privateKey": key,
            "httpPort": http_port, "tlsPort": tls_port,
            "ocspResponderURL": "", "externalAccountBindingRequired": false,
        }});
        std::fs::write(&config, settings.to_string()).unwrap();
        let names = name_server();
        let process = Command::new(program)
            .arg("-config")
            .arg(&config)
            .args(["-dnsserver", &names.to_string()])
            .envs([("PEBBLE_VA_NOSLEEP", "1"), ("PEBBLE_WFE_NONCEREJECT", "20")])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self { process, directory: format!("https://localhost:{port}/dir"), root }
    }
}

/// Says of every name that it is 127.0.0.1, and knows nothing else. Over TCP, as Pebble asks.
fn name_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for asking in listener.incoming() {
            std::thread::spawn(move || {
                let mut asking = asking.unwrap();
                let mut length = [0; 2];
                while asking.read_exact(&mut length).is_ok() {
                    let mut question = vec![0; u16::from_be_bytes(length).into()];
                    asking.read_exact(&mut question).unwrap();
                    let answer = resolve(&question);
                    let length = u16::try_from(answer.len()).unwrap().to_be_bytes();
                    asking.write_all(&[&length[..], &answer].concat()).unwrap();
                }
            });
        }
    });
    address
}

/// A question is 12 bytes of head, a name that ends with 0, type and class.
fn resolve(question: &[u8]) -> Vec<u8> {
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
    let is_a = question[end - 4..end - 2] == [0, 1];
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend(&question[12..end]);
    if is_a {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
    }
    answer
}

fn shown() -> Arc<ServerCertificates> {
    let spec = CertificateSpec {
        owner: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap(),
        serial: 2,
        not_before: SystemTime::now(),
        valid_for: Duration::from_hours(1),
        domains: vec![],
    };
    let own = KeyPair::generate(&spec, CertificateKey::generate().unwrap()).unwrap();
    Arc::new(ServerCertificates::new(certified(&own).unwrap()))
}

/// What the issuer says first: when it will replace the certificate, or why there is none.
async fn first_word(
    settings: &AcmeSettings,
    shown: &Arc<ServerCertificates>,
) -> Result<SystemTime, String> {
    let issuer = AcmeIssuer::new(settings.clone()).unwrap();
    let (said, mut word) = tokio::sync::mpsc::unbounded_channel();
    let told = move |result: Result<SystemTime, &provider_gateway::certs::acme::AcmeError>| {
        let words = |error: &dyn std::error::Error| {
            let causes = std::iter::successors(Some(error), |error| error.source());
            causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        };
        said.send(result.map_err(|error| words(error))).unwrap();
    };
    tokio::select! {
        () = issuer.keep(shown.clone(), told) => panic!("it never ends"),
        word = word.recv() => word.unwrap(),
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("nothing happened"),
    }
}

#[tokio::test]
async fn a_certificate_is_obtained_kept_and_used_again() {
    let program = components::provide("pebble").unwrap();
    let home = tempfile::tempdir().unwrap();
    let http_port = free_port();
    let authority = Authority::start(&program, home.path(), http_port, free_port()).await;
    let here = |port| Challenge::Http(SocketAddr::from(([127, 0, 0, 1], port)));
    let settings = AcmeSettings {
        directory: authority.directory.clone(),
        email: "operator@example.com".into(),
        domain: DOMAIN.into(),
        challenges: vec![here(http_port)],
        directory_path: home.path().join("issuer"),
        external_account: None,
        root: Some(authority.root.clone()),
        outbound: akash_net::Outbound::default(),
    };
    // Somebody else answers the authority: it is not convinced, and nothing is shown.
    let lost = AcmeSettings { challenges: vec![here(free_port())], ..settings.clone() };
    let certificates = shown();
    let error = first_word(&lost, &certificates).await.unwrap_err();
    assert!(error.contains("port 80"), "{error}");
    assert!(!certificates.has_public());

    let replace = first_word(&settings, &certificates).await.unwrap();
    assert!(replace > SystemTime::now() + Duration::from_hours(24), "{replace:?}");
    assert!(certificates.has_public());
    let file = settings.directory_path.join(format!("certificates/{DOMAIN}.crt"));
    let chain = std::fs::read_to_string(&file).unwrap();
    assert!(chain.matches("BEGIN CERTIFICATE").count() >= 2, "{chain}");

    // After a restart it is used as it is, and the authority is not asked.
    drop(authority);
    let certificates = shown();
    assert_eq!(first_word(&settings, &certificates).await, Ok(replace));
    assert!(certificates.has_public());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), chain);
}

#[tokio::test]
async fn a_certificate_is_obtained_by_tls_alone() {
    let program = components::provide("pebble").unwrap();
    let home = tempfile::tempdir().unwrap();
    let tls_port = free_port();
    let authority = Authority::start(&program, home.path(), free_port(), tls_port).await;
    let settings = AcmeSettings {
        directory: authority.directory.clone(),
        email: "operator@example.com".into(),
        domain: DOMAIN.into(),
        challenges: vec![Challenge::TlsAlpn(SocketAddr::from(([127, 0, 0, 1], tls_port)))],
        directory_path: home.path().join("issuer"),
        external_account: None,
        root: Some(authority.root.clone()),
        outbound: akash_net::Outbound::default(),
    };
    let certificates = shown();
    let replace = first_word(&settings, &certificates).await.unwrap();
    assert!(replace > SystemTime::now() + Duration::from_hours(24), "{replace:?}");
    assert!(certificates.has_public());
    // The port is free again once the authority has seen the answer.
    TcpListener::bind(("127.0.0.1", tls_port)).unwrap();
}
