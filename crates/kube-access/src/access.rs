//! Where the API server is and which identity is used there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use akash_net::{Outbound, Proxy, Route};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// Why the API server cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("cannot use the kubeconfig {}: set kubeconfig to a file that kubectl can use", path.display())]
    Kubeconfig { path: PathBuf, source: Box<KubeconfigError> },
    #[error("proxy-url in the kubeconfig {} {wrong}", path.display())]
    Proxy { path: PathBuf, wrong: String },
    #[error(
        "there is no kubeconfig {}, and this is no pod of a cluster: set kubeconfig",
        path.display()
    )]
    Nowhere { path: PathBuf, source: Box<InClusterError> },
    #[error("cannot make connections to {url}")]
    Client { url: String, source: Box<kube::Error> },
}

/// Address of the API server, and the identity to use there.
#[derive(Clone, Debug)]
pub struct Access {
    config: Config,
    outbound: Outbound,
    /// The proxy that the kubeconfig names, whatever the environment says.
    proxy: Option<Proxy>,
}

impl Access {
    /// From the kubeconfig; without such a file, from the pod that this process runs in.
    pub async fn find(kubeconfig: &Path, outbound: &Outbound) -> Result<Self, AccessError> {
        let path = kubeconfig.to_owned();
        let mut proxy = None;
        let mut config = if kubeconfig.is_file() {
            let named = path.clone();
            let wrong = |source| AccessError::Kubeconfig { path, source: Box::new(source) };
            let mut read = Kubeconfig::read_from(kubeconfig).map_err(wrong.clone())?;
            if let Some(text) = take_proxy(&mut read) {
                let wrong = |wrong| AccessError::Proxy { path: named, wrong };
                proxy = Some(Proxy::parse(&text).map_err(wrong)?);
            }
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
        // The client would take it from the environment by itself, and compares NO_PROXY with the
        // proxy's address instead of the API server's.
        config.proxy_url = None;
        Ok(Self { config, outbound: outbound.clone(), proxy })
    }

    /// Whether [`find`](Self::find) would succeed, without contact to the API server.
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

    pub fn url(&self) -> String {
        self.config.cluster_url.to_string()
    }

    /// The same identity at another address, such as that of a proxy.
    pub fn at(mut self, url: http::Uri) -> Self {
        // The certificate is still that of the API server.
        let name = self.config.cluster_url.host().map(str::to_owned);
        self.config.tls_server_name = self.config.tls_server_name.or(name);
        self.config.cluster_url = url;
        self
    }

    pub fn client(&self) -> Result<Client, AccessError> {
        let wrong = |source| AccessError::Client { url: self.url(), source: Box::new(source) };
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        match self.route() {
            Route::Direct => Client::try_from(self.config.clone()).map_err(wrong),
            Route::Via(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                if let Some(value) = proxy.authorization() {
                    tunnel = tunnel.with_auth(value.clone());
                }
                self.through(tunnel).map_err(wrong)
            }
        }
    }

    pub fn route(&self) -> Route {
        if let Some(proxy) = &self.proxy {
            return Route::Via(proxy.clone());
        }
        let url = &self.config.cluster_url;
        let is_tls = url.scheme_str() == Some("https");
        let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        self.outbound.proxies().route(is_tls, url.host().unwrap_or_default(), port)
    }

    /// A client whose connections go through a tunnel; all else is as the library does it.
    fn through(&self, tunnel: Tunnel<HttpConnector>) -> kube::Result<Client> {
        let tls = self.config.rustls_https_connector_with_connector(tunnel)?;
        let mut connector = TimeoutConnector::new(tls);
        connector.set_connect_timeout(self.config.connect_timeout);
        connector.set_read_timeout(self.config.read_timeout);
        connector.set_write_timeout(self.config.write_timeout);
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
        let service = ServiceBuilder::new()
            .layer(self.config.base_uri_layer())
            .option_layer(self.config.auth_layer()?)
            .layer(self.config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(client.build::<_, Body>(connector));
        Ok(ClientBuilder::new(service, self.config.default_namespace.clone()).build())
    }
}

/// Takes the proxy of the cluster in use out of a kubeconfig.
fn take_proxy(kubeconfig: &mut Kubeconfig) -> Option<String> {
    let current = kubeconfig.current_context.as_ref()?;
    let contexts = kubeconfig.contexts.iter();
    let context =
        contexts.into_iter().find(|context| context.name == *current)?.context.as_ref()?;
    let name = context.cluster.clone();
    let cluster = kubeconfig.clusters.iter_mut().find(|cluster| cluster.name == name)?;
    cluster.cluster.as_mut()?.proxy_url.take().filter(|proxy| !proxy.is_empty())
}
