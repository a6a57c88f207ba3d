//! How the TLS library is set up.

use std::sync::Arc;

use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, version};

use super::certificates::ServerCertificates;
use super::choose::Shown;
use super::verifier::AnyClient;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, for REST and WebSocket. ALPN is not answered: offering `h2` would change what
    /// WebSocket clients do.
    Http1,
    /// HTTP/2, for gRPC. Clients must ask for it by ALPN.
    Http2,
}

impl Protocol {
    pub(super) const H2: &[u8] = b"h2";

    fn alpn(self) -> Vec<Vec<u8>> {
        match self {
            Self::Http1 => vec![],
            Self::Http2 => vec![Self::H2.to_vec()],
        }
    }
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up")]
pub struct TlsError(#[from] rustls::Error);

/// One way to do a handshake for each certificate that can be shown.
#[derive(Clone, Debug)]
pub(super) struct Configs {
    own: Arc<ServerConfig>,
    public: Arc<ServerConfig>,
}

impl Configs {
    pub(super) fn new(
        certificates: &Arc<ServerCertificates>,
        protocol: Protocol,
    ) -> Result<Self, TlsError> {
        let config = |shown| config(certificates, protocol, shown).map(Arc::new);
        Ok(Self { own: config(Shown::Own)?, public: config(Shown::Public)? })
    }

    pub(super) fn of(&self, shown: Shown) -> Arc<ServerConfig> {
        match shown {
            Shown::Own => self.own.clone(),
            Shown::Public => self.public.clone(),
        }
    }
}

fn config(
    certificates: &Arc<ServerCertificates>,
    protocol: Protocol,
    shown: Shown,
) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&version::TLS13])?;
    let builder = match shown {
        Shown::Own => builder.with_client_cert_verifier(Arc::new(AnyClient(provider))),
        Shown::Public => builder.with_no_client_auth(),
    };
    let resolver = Resolver { certificates: certificates.clone(), shown };
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = protocol.alpn();
    // What a session was is kept by the client, encrypted, so that none has to be kept here.
    config.ticketer = Ticketer::new()?;
    // For the one alert that is sent after the handshake, see `refuse`.
    config.enable_secret_extraction = shown == Shown::Own;
    Ok(config)
}

#[derive(Debug)]
struct Resolver {
    certificates: Arc<ServerCertificates>,
    shown: Shown,
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(match self.shown {
            Shown::Own => self.certificates.own(),
            Shown::Public => self.certificates.public(),
        })
    }
}
