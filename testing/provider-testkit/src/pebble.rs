//! A real ACME authority: Pebble, which Go builds once into a cache.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Whom its own certificate names, which nobody reads.
const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

/// A running Pebble. To it, every name leads to this machine. Dropping it ends it.
#[derive(Debug)]
pub struct Pebble {
    process: Child,
    /// Where it listens on this machine.
    pub address: SocketAddr,
    /// URL of its directory, by the name that its certificate is for.
    pub directory: String,
    /// PEM file with its certificate.
    pub root: PathBuf,
}

impl Drop for Pebble {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that was free a moment ago.
///
/// # Errors
///
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl Pebble {
    /// Starts one under a name, with its files in `home`. It asks for answers to its challenges on
    /// these ports.
    ///
    /// # Errors
    ///
    /// When it is missing and cannot be built, or does not start.
    pub fn start(home: &Path, name: &str, http_port: u16, tls_port: u16) -> io::Result<Self> {
        let program = components::provide("pebble").map_err(io::Error::other)?;
        let (root, key) = (home.join("pebble.pem"), home.join("pebble.key"));
        certify(name, &root, &key)?;
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let config = home.join("pebble.json");
        let settings = serde_json::json!({"pebble": {
            "listenAddress": address.to_string(),
            "managementListenAddress": format!("127.0.0.1:{}", free_port()?),
            "certificate": root, "privateKey": key,
            "httpPort": http_port, "tlsPort": tls_port,
            "ocspResponderURL": "", "externalAccountBindingRequired": false,
        }});
        std::fs::write(&config, settings.to_string())?;
        let process = Command::new(program)
            .arg("-config")
            .arg(&config)
            .args(["-dnsserver", &serve_names()?.to_string()])
            .envs([("PEBBLE_VA_NOSLEEP", "1"), ("PEBBLE_WFE_NONCEREJECT", "20")])
            .stdout(Stdio::null())
            .spawn()?;
        let directory = format!("https://{name}:{}/dir", address.port());
        let mut pebble = Self { process, address, directory, root };
        while TcpStream::connect(address).is_err() {
            if let Some(status) = pebble.process.try_wait()? {
                return Err(io::Error::other(format!("pebble ended: {status}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(pebble)
    }
}

/// Writes a certificate for a name, and its key.
fn certify(name: &str, certificate: &Path, key: &Path) -> io::Result<()> {
    let spec = CertificateSpec {
        owner: OWNER.parse().map_err(io::Error::other)?,
        serial: 1,
        not_before: SystemTime::now() - Duration::from_mins(1),
        valid_for: Duration::from_hours(1),
        domains: vec![name.to_owned()],
    };
    let secret = CertificateKey::generate().map_err(io::Error::other)?;
    let pair = KeyPair::generate(&spec, secret).map_err(io::Error::other)?;
    std::fs::write(certificate, pair.certificate().to_pem())?;
    let der = pair.key().to_pkcs8_der().map_err(io::Error::other)?;
    let text = STANDARD.encode(der.as_slice());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
    std::fs::write(key, pem)
}

/// Says of every name that it is 127.0.0.1, and knows nothing else. Over TCP, as Pebble asks.
fn serve_names() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for asking in listener.incoming() {
            std::thread::spawn(move || asking.and_then(answer));
        }
    });
    Ok(address)
}

fn answer(mut asking: TcpStream) -> io::Result<()> {
    let mut length = [0; 2];
    loop {
        asking.read_exact(&mut length)?;
        let mut question = vec![0; u16::from_be_bytes(length).into()];
        asking.read_exact(&mut question)?;
        let answer = resolve(&question).ok_or(io::ErrorKind::InvalidData)?;
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?.to_be_bytes();
        asking.write_all(&[&length[..], &answer].concat())?;
    }
}

/// A question is 12 bytes of head, a name that ends with 0, type and class.
fn resolve(question: &[u8]) -> Option<Vec<u8>> {
    let (id, asked) = (question.get(..2)?, question.get(12..)?);
    let end = asked.iter().position(|byte| *byte == 0)? + 5;
    let asked = asked.get(..end)?;
    let is_a = asked.get(end - 4..end - 2)? == [0, 1];
    let mut answer = id.to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend(asked);
    if is_a {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
    }
    Some(answer)
}
