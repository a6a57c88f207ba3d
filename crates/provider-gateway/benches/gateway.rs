//! How many requests come through: TLS, keep-alive connections, a small answer. Client and server
//! share the machine's cores.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use akash_chain::keys::SecretKey;
use akash_chain::keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use akash_types::Address;
use bytes::Bytes;
use figures::{micros, print, time};
use futures_util::future::BoxFuture;
use http::Response;
use http_body_util::Full;
use hyper::service::service_fn;
use provider_gateway::auth::jwt::{Access, Algorithm, Claims, Token, issue};
use provider_gateway::auth::{CertificateCheck, Certificates, LookupFailure};
use provider_gateway::tls::{Limits, Protocol, Server, ServerCertificates, certified};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const CONNECTIONS: usize = 8;
const MEASURE: Duration = Duration::from_secs(3);
/// The size of a status document with few leases.
const BODY: &[u8] = &[b'x'; 700];

fn main() {
    let key = SecretKey::from_bytes(&[7; 32]).unwrap();
    let now = SystemTime::now();
    let claims = Claims::new(key.public_key().address(), Access::Full, now, Claims::LIFETIME);
    for (name, algorithm) in
        [("jwt_es256k_us", Algorithm::Es256k), ("jwt_adr36_us", Algorithm::Es256kAdr36)]
    {
        let token = issue(&claims, algorithm, &key).unwrap();
        let public = key.public_key();
        let verify = || Token::parse(&token).unwrap().verify(&public, now).unwrap();
        print(name, micros(time(Duration::from_secs(1), verify)), "us");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(connections());
}

struct Nothing;

impl Certificates for Nothing {
    fn valid_certificate<'a>(
        &'a self,
        _: Address,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        Box::pin(async { Ok(None) })
    }
}

async fn connections() {
    let spec = CertificateSpec {
        owner: Address::from_bytes(&[1; 20]).unwrap(),
        serial: 1,
        not_before: SystemTime::now(),
        valid_for: Duration::from_hours(1),
        domains: vec!["localhost".to_owned()],
    };
    let pair = KeyPair::generate(&spec, CertificateKey::generate().unwrap()).unwrap();
    let certificates = Arc::new(ServerCertificates::new(certified(&pair).unwrap()));
    let clients = Arc::new(CertificateCheck::new(Arc::new(Nothing)));
    let limits = Limits::default();
    let server = Server::new(Protocol::Http1, certificates, None, clients, limits).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = service_fn(|_| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(BODY))))
    });
    tokio::spawn(server.serve(listener, answer, std::future::pending()));

    let mut config = client();
    let mut tasks = Vec::new();
    for _ in 0..CONNECTIONS {
        tasks.push(tokio::spawn(keep_asking(connect(&config, address).await)));
    }
    let mut requests = 0;
    for task in tasks {
        requests += task.await.unwrap();
    }
    print("requests_per_second", requests / MEASURE.as_secs(), "requests/s");

    // Client and server together: a client takes about as long as a server.
    config.resumption = rustls::client::Resumption::disabled();
    let (begun, mut shakes) = (Instant::now(), 0u32);
    while begun.elapsed() < MEASURE {
        connect(&config, address).await;
        shakes += 1;
    }
    print("handshake_both_sides_us", micros(begun.elapsed() / shakes), "us");
}

fn client() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(believe::Anyone))
        .with_no_client_auth()
}

async fn connect(config: &ClientConfig, address: SocketAddr) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(address).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    let connector = TlsConnector::from(Arc::new(config.clone()));
    connector.connect(ServerName::try_from("localhost").unwrap(), tcp).await.unwrap()
}

/// Asks for as long as it is measured; how often it was answered.
async fn keep_asking(mut stream: TlsStream<TcpStream>) -> u64 {
    let (begun, mut answered) = (Instant::now(), 0);
    let mut buffer = vec![0; 16 * 1024];
    while begun.elapsed() < MEASURE {
        stream.write_all(b"GET /status HTTP/1.1\r\nHost: localhost:8443\r\n\r\n").await.unwrap();
        let mut got = 0;
        loop {
            got += stream.read(buffer.get_mut(got..).unwrap()).await.unwrap();
            let head = buffer.get(..got).unwrap().windows(4).position(|end| end == b"\r\n\r\n");
            if head.is_some_and(|head| got >= head + 4 + BODY.len()) {
                break;
            }
        }
        answered += 1;
    }
    answered
}

mod believe {
    //! A client that looks at no certificate, as `wrk` does.
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};

    #[derive(Debug)]
    pub(super) struct Anyone;

    impl ServerCertVerifier for Anyone {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            default_provider().signature_verification_algorithms.supported_schemes()
        }
    }
}
