//! How connections of this process go out.

use std::sync::Arc;

use crate::proxy::{Proxies, ProxyError};
use crate::tls::{Tls, TlsError, TlsFiles};
use crate::trust::{Trust, TrustError};

/// Variables of the environment that say how connections go out.
pub const VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// How connections go out. Cheap to clone. By default no proxy is used and the system's authorities
/// are trusted.
#[derive(Clone, Debug)]
pub struct Outbound {
    proxies: Arc<Proxies>,
    tls: Arc<Tls>,
}

/// Why the environment does not say how connections go out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl Default for Outbound {
    fn default() -> Self {
        Self::of(Proxies::default(), Trust::default())
    }
}

impl Outbound {
    /// As the environment says, of which `variable` gives the [`VARIABLES`].
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self, OutboundError> {
        Ok(Self::of(Proxies::new(&variable)?, Trust::new(&variable)?))
    }

    fn of(proxies: Proxies, trust: Trust) -> Self {
        let tls = Arc::new(Tls::new(trust, TlsFiles::default()));
        Self { proxies: Arc::new(proxies), tls }
    }

    /// The same with TLS by these files, which are read again when they change.
    pub fn with_files(&self, files: TlsFiles) -> Self {
        let tls = Arc::new(Tls::new(self.trust().clone(), files));
        Self { proxies: Arc::clone(&self.proxies), tls }
    }

    /// Reads the files of TLS, so that a mistake is found at start.
    pub fn check(&self) -> Result<(), TlsError> {
        self.tls.current().map(drop)
    }

    pub fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    pub fn trust(&self) -> &Trust {
        self.tls.trust()
    }

    pub(crate) fn tls(&self) -> &Arc<Tls> {
        &self.tls
    }
}
