//! The way to the API server: where it is, who we are there, and single calls.
//!
//! Two clients lead there. Calls have limits; streams (watches, logs, commands) go on for as long
//! as they have something to say, and notice by themselves when they have not.
//!
//! Knows nothing of leases.

mod calls;
mod failure;
mod kind;
#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

pub use calls::{Calls, Counter, Exactly, Listed, Selector};
pub use failure::{Failure, of_status};
pub use kind::Kind;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The file that says where the API server is cannot be used.
    #[error("cannot use the kubeconfig {}: set kubeconfig to a file that kubectl can use", path.display())]
    Kubeconfig {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: Box<KubeconfigError>,
    },
    /// There is no such file, and this is no pod either.
    #[error(
        "there is no kubeconfig {}, and this is no pod of a cluster: set kubeconfig",
        path.display()
    )]
    Nowhere {
        /// Which file was looked for.
        path: PathBuf,
        /// Why this is no pod.
        source: Box<InClusterError>,
    },
    /// No client can be made of what they say.
    #[error("cannot make connections to {url}")]
    Client {
        /// Where to.
        url: String,
        /// Why not.
        source: Box<kube::Error>,
    },
}

/// Where the API server is, and who we are there.
#[derive(Clone, Debug)]
pub struct Access {
    config: Config,
}

impl Access {
    /// As the file says; without such a file, as a pod of the cluster.
    ///
    /// # Errors
    ///
    /// When neither says it.
    pub async fn find(kubeconfig: &Path) -> Result<Self, AccessError> {
        let path = kubeconfig.to_owned();
        let mut config = if kubeconfig.is_file() {
            let wrong = |source| AccessError::Kubeconfig { path, source: Box::new(source) };
            let read = Kubeconfig::read_from(kubeconfig).map_err(wrong.clone())?;
            Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
                .await
                .map_err(wrong)?
        } else {
            Config::incluster()
                .map_err(|source| AccessError::Nowhere { path, source: Box::new(source) })?
        };
        config.connect_timeout = Some(CONNECT);
        // Repeating is decided where it is known what is repeated.
        config.default_retry = false;
        Ok(Self { config })
    }

    /// Whether a file, or else a pod, says where the API server is. Nobody is asked.
    ///
    /// # Errors
    ///
    /// When neither says it.
    pub fn check(kubeconfig: &Path) -> Result<(), AccessError> {
        let path = kubeconfig.to_owned();
        if kubeconfig.is_file() {
            let wrong = |source| AccessError::Kubeconfig { path, source: Box::new(source) };
            Kubeconfig::read_from(kubeconfig).map(drop).map_err(wrong)
        } else {
            let wrong = |source| AccessError::Nowhere { path, source: Box::new(source) };
            Config::incluster().map(drop).map_err(wrong)
        }
    }

    /// The address of the API server.
    #[must_use]
    pub fn url(&self) -> String {
        self.config.cluster_url.to_string()
    }

    /// The same identity at another address, such as that of a proxy.
    #[must_use]
    pub fn at(mut self, url: http::Uri) -> Self {
        // The certificate is still that of the API server.
        let name = self.config.cluster_url.host().map(str::to_owned);
        self.config.tls_server_name = self.config.tls_server_name.or(name);
        self.config.cluster_url = url;
        self
    }

    /// A client.
    ///
    /// # Errors
    ///
    /// When none can be made of what was found.
    pub fn client(&self) -> Result<Client, AccessError> {
        Client::try_from(self.config.clone())
            .map_err(|source| AccessError::Client { url: self.url(), source: Box::new(source) })
    }
}
