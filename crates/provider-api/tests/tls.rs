//! The client over TLS, against a server that shows what providers show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use akash_types::Address;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use provider_api::client::{Client, ClientCertificate, ClientError, Credentials, ServerTrust};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

fn pair(owner: u8) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let spec = CertificateSpec {
        owner: Address::from_bytes(&[owner; 20]).unwrap(),
        serial: 1,
        not_before: SystemTime::now(),
        valid_for: Duration::from_hours(1),
        domains: vec!["elsewhere.example.com".to_owned()],
    };
    let pair = KeyPair::generate(&spec, CertificateKey::generate().unwrap()).unwrap();
    let key = pair.key().to_pkcs8_der().unwrap().to_vec();
    (pair.certificate().der().to_vec().into(), PrivateKeyDer::try_from(key).unwrap())
}

/// Takes any certificate, or none.
#[derive(Debug)]
struct Anybody(rustls::crypto::CryptoProvider);

impl ClientCertVerifier for Anybody {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[rustls::DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: rustls::pki_types::UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A server that answers `/address` with the name it was called by, whether it was shown a
/// certificate, and the token it was shown.
async fn serve(shown: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> SocketAddr {
    let provider = rustls::crypto::ring::default_provider();
    let config = ServerConfig::builder_with_provider(Arc::new(provider.clone()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_client_cert_verifier(Arc::new(Anybody(provider)))
        .with_single_cert(vec![shown], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let Ok(tls) = acceptor.accept(tcp).await else { continue };
            let (_, session) = tls.get_ref();
            let name = session.server_name().unwrap_or("none").to_owned();
            let known = session.peer_certificates().is_some();
            let service = service_fn(move |request: Request<Incoming>| {
                let token = request.headers().get("authorization");
                let token = token.map_or("", |token| token.to_str().unwrap());
                let body = format!(r#"{{"address":"{name} {known} {token}"}}"#);
                async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(body)))) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tls), service));
        }
    });
    address
}

#[tokio::test]
async fn a_provider_is_known_by_what_it_published() {
    let (shown, key) = pair(1);
    let address = serve(shown.clone(), key).await;
    let uri = format!("https://localhost:{}", address.port());
    let trust = ServerTrust { published: vec![pair(1).0, shown], ..ServerTrust::default() };
    let ask = async |trust: &ServerTrust, credentials| {
        let client = Client::new(&uri, trust, credentials).unwrap();
        client.address().await.map(|document| document.address)
    };
    assert_eq!(ask(&trust, Credentials::None).await.unwrap(), "localhost false ");
    let bearer = Credentials::Bearer("token".to_owned());
    assert_eq!(ask(&trust, bearer).await.unwrap(), "localhost false Bearer token");
    let (certificate, key) = pair(2);
    let own = Credentials::Certificate(ClientCertificate { certificate, key });
    // A provider asks for a certificate only under this name.
    assert_eq!(ask(&trust, own).await.unwrap(), "mtls.localhost true ");

    for stranger in [
        ServerTrust::default(),
        ServerTrust { published: vec![pair(1).0], ..ServerTrust::default() },
    ] {
        let refused = ask(&stranger, Credentials::None).await.unwrap_err();
        assert!(matches!(refused, ClientError::Connect { .. }), "{refused:?}");
    }
}

#[test]
fn what_is_no_address_is_refused() {
    for uri in ["", "provider.example.com", "ftp://provider.example.com", "https://"] {
        let client = Client::new(uri, &ServerTrust::default(), Credentials::None);
        assert!(matches!(client, Err(ClientError::Uri(_))), "{uri}");
    }
}
