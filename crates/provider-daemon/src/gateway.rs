//! Where tenants connect: the gateway, on the engine's published status and the cluster.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_chain::query::{Connection, Query};
use akash_keys::SecretKey;
use akash_keys::certificate::KeyFilePassword;
use akash_net::Outbound;
use akash_types::{Address, with_causes};
use kube_access::KubeClient;
use provider_api::screening::ScreeningRequest;
use provider_api::status::{AkashVersion, COSMOS_SDK_VERSION, Readiness, VERSION, VersionDocument};
use provider_engine::cluster::port::Cluster;
use provider_engine::engine::Published;
use provider_engine::order::pricing::Quote;
use provider_engine::{Reply, TenantRequest};
use provider_gateway::auth::{Authenticator, Authorizer};
use provider_gateway::certs::acme::{AcmeIssuer, AcmeSettings, Challenge, RootsError};
use provider_gateway::certs::{AuthorityFiles, OwnCertificate, OwnCertificateError, Vault};
use provider_gateway::port::{Busy, Identity, Provider, Screening};
use provider_gateway::rpc::{Rpc, RpcError};
use provider_gateway::tls::{
    CertificateFileError, Protocol, Server, ServerCertificates, TlsError, certified, listen,
};
use provider_gateway::{Budget, Gateway, Settings};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::{Certificate, Config, Issuer, read_token};
use crate::descriptors::Shares;
use crate::engine_task::{self, Handle, ScreenRequest, Script};
use crate::gateway_figures::{GatewayCounters, GatewayFigures};
use crate::keeper::Errands;
use crate::run::Build;
use crate::start::Running;

/// How often the API server is asked for its version, and how soon again where it does not answer.
const VERSION_PERIOD: Duration = Duration::from_secs(300);
const VERSION_RETRY: Duration = Duration::from_secs(10);

/// Why tenants cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error("cannot listen on {address}: is another program there?")]
    Listen {
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    #[error("cannot use the token for metrics in {path}: {wrong}; {remedy}")]
    MetricsToken { path: PathBuf, wrong: String, remedy: &'static str },
    #[error(transparent)]
    Certificate(#[from] OwnCertificateError),
    #[error("cannot show the provider's certificate")]
    Show(#[from] CertificateFileError),
    #[error("cannot ask for a certificate: look at --cert-issuer-ca-root")]
    Issuer(#[from] RootsError),
    #[error("cannot set up TLS")]
    Tls(#[from] TlsError),
    #[error("cannot set up gRPC")]
    Rpc(#[from] RpcError),
}

/// The engine, as the gateway sees it.
#[derive(Clone, Debug)]
struct Port<S> {
    handle: Handle,
    readiness: watch::Receiver<Arc<Readiness>>,
    identity: watch::Receiver<Arc<Identity>>,
    script: S,
}

impl<S: Script> Provider for Port<S> {
    fn published(&self) -> Arc<Published> {
        self.handle.published()
    }

    fn changes(&self) -> watch::Receiver<Arc<Published>> {
        self.handle.changes()
    }

    fn readiness(&self) -> watch::Receiver<Arc<Readiness>> {
        self.readiness.clone()
    }

    fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.identity.borrow())
    }

    async fn tenant(&self, request: TenantRequest) -> Result<Reply, Busy> {
        if !self.handle.published().status.ready {
            return Err(Busy::NotReady);
        }
        self.handle.tenant(request).await.map_err(no_answer)
    }

    async fn screen(&self, request: ScreeningRequest) -> Result<Screening, Busy> {
        let ScreeningRequest { group: spec, hostnames } = request;
        let asked = ScreenRequest {
            spec: spec.clone(),
            hostnames,
            owner: None,
            reclamation_min_window: None,
        };
        let bid = match self.handle.screen(asked).await.map_err(no_answer)? {
            engine_task::Screening::Yes(bid) => bid,
            engine_task::Screening::No(reasons) => return Ok(Screening::Declined(reasons)),
            engine_task::Screening::NotReady(why) => return Ok(Screening::NotReady(why)),
        };
        let price = match &bid.quote {
            Quote::Price(price) => Ok(price.clone()),
            Quote::Ask(request) => {
                let said = self.script.screen(request.clone()).await.ok_or(Busy::Full)?;
                bid.script_price(&spec, said)
            }
        };
        Ok(match price {
            Ok(price) => Screening::Passed { offers: bid.offer, price },
            Err(why) => Screening::Declined(vec![why.to_string()]),
        })
    }
}

pub(crate) const fn no_answer(busy: engine_task::Busy) -> Busy {
    match busy {
        engine_task::Busy::Full => Busy::Full,
        engine_task::Busy::Stopping => Busy::Stopping,
        engine_task::Busy::TimedOut => Busy::TimedOut,
    }
}

/// What the gateway takes besides settings.
#[derive(Default)]
pub(crate) struct Context {
    /// The program, as tenants are told.
    pub(crate) build: Build,
    /// Where the provider's own certificate is kept too.
    pub(crate) vault: Option<Arc<dyn Vault>>,
    /// The API server, whose version tenants are told.
    pub(crate) api_server: Option<KubeClient>,
}

/// What tenants are told of the provider, which changes while it runs.
pub(crate) type IdentitySender = Arc<watch::Sender<Arc<Identity>>>;

/// What the rest of the program needs of the gateway while it is served.
pub(crate) struct Served {
    /// Counts of connections and of limits that were hit.
    pub(crate) counters: GatewayCounters,
    pub(crate) identity: IdentitySender,
}

/// Opens both ports and serves them with the other parts of `running`.
pub(crate) async fn serve<C: Cluster>(
    running: &mut Running,
    config: &Config,
    key: &SecretKey,
    cluster: C,
    script: impl Script,
    metrics: provider_gateway::Metrics,
    Context { build, vault, api_server }: Context,
) -> Result<Served, GatewayError> {
    let (rest_listener, rest) = bind(config.gateway.rest)?;
    let (rpc_listener, grpc) = bind(config.gateway.grpc)?;
    let hostname = config.gateway.public_hostname.clone();
    let password = KeyFilePassword::of(key);
    // A certificate without a name is one of a client. Who has no public name is reached here.
    let domains = vec![hostname.clone().unwrap_or_else(|| "localhost".to_owned())];
    let (home, account) = (config.home.clone(), config.provider);
    let own = match vault {
        None => OwnCertificate::open(home, account, password, domains).await?,
        Some(vault) => OwnCertificate::open_kept(home, account, password, domains, vault).await?,
    };
    let shown = Arc::new(ServerCertificates::new(certified(own.current())?));

    let query: Arc<Query<Connection>> = Arc::new(running.query());
    let handle = running.handle();
    let is_tenant = move |account: &Address| {
        let published = handle.published();
        published.leases.iter().any(|lease| lease.alive && lease.id.owner() == *account)
    };
    let is_tenant = Arc::new(is_tenant);
    let authenticator = Arc::new(Authenticator::new(query.clone(), query.clone(), is_tenant));
    let ahead = Arc::clone(&authenticator);
    let changes = running.handle().changes();
    running.spawn("keys of tenants", async move { ahead.keys().read_ahead(changes).await });
    let identity = identity(config.provider, hostname.as_deref(), config, build);
    let (identity, identities) = watch::channel(Arc::new(identity));
    let identity = Arc::new(identity);
    if let Some(client) = api_server {
        let _ = read_kube_version(&client, &identity).await;
        running.spawn("cluster version", keep_kube_version(client, Arc::clone(&identity)));
    }
    let (handle, readiness) = (running.handle(), running.readiness());
    let changes = handle.changes();
    let authorizer = Authorizer::new(config.provider, Arc::clone(&authenticator), changes);
    let port = Port { handle, readiness, identity: identities, script };
    let metrics_token = match &config.gateway.metrics_token {
        None => None,
        Some(path) => Some(read_token(path).map_err(|(wrong, remedy)| {
            let path = path.clone();
            GatewayError::MetricsToken { path, wrong, remedy }
        })?),
    };
    let (budget, shares) = (Budget::default(), Shares::of_process());
    let settings = Settings {
        streams: shares.streams,
        metrics: Some(metrics),
        metrics_token,
        strangers: budget.clone(),
        ..Settings::default()
    };
    let gateway = Gateway::new(port, cluster, authorizer, settings);
    let rpc = Rpc::new(gateway.clone())?;

    let server = |protocol, name| {
        let shown = Arc::clone(&shown);
        Server::new(protocol, shown, name, authenticator.certificates(), shares.limits())
    };
    let rest_server = server(Protocol::Http1, hostname.clone())?.within(budget.clone());
    // Who speaks gRPC knows the chain, and expects the certificate that is published there.
    let rpc_server = server(Protocol::Http2, None)?.within(budget);
    let (rest_tally, rpc_tally, counted) =
        (rest_server.tally(), rpc_server.tally(), gateway.clone());
    let counters = GatewayCounters::new(move || GatewayFigures {
        listeners: vec![("rest", rest_tally.snapshot()), ("grpc", rpc_tally.snapshot())],
        shared_limits: counted.limit_hits().to_vec(),
    });
    let mut stop = running.stop_signal();
    let streams = gateway.clone();
    running.spawn("gateway REST", async move {
        let service = hyper::service::service_fn(move |request| {
            let gateway = gateway.clone();
            async move { Ok::<_, Infallible>(gateway.rest(request).await) }
        });
        rest_server.serve(rest_listener, service, async move { stop.stopped().await }).await;
        streams.stop().await;
    });
    let mut stop = running.stop_signal();
    running.spawn("gateway gRPC", async move {
        let service = hyper::service::service_fn(move |request| {
            let rpc = rpc.clone();
            async move { Ok::<_, Infallible>(rpc.call(request).await) }
        });
        rpc_server.serve(rpc_listener, service, async move { stop.stopped().await }).await;
    });
    if let Some(certificate) = &config.gateway.certificate {
        keep_authority(running, certificate, &config.outbound, Arc::clone(&shown))?;
    }
    let errands: Errands = running.errands();
    running.spawn("certificate", async move {
        own.keep(query, Arc::new(errands), shown, |done| match done {
            Ok(plan) => tracing::debug!(?plan, "the provider's certificate"),
            Err(error) => {
                tracing::warn!(%error, "the provider's certificate is not as it should be");
            }
        })
        .await;
    });
    tracing::info!(%rest, %grpc, "tenants can connect");
    Ok(Served { counters, identity })
}

/// Shows the certificate of an authority, as long as there is a good one.
fn keep_authority(
    running: &mut Running,
    certificate: &Certificate,
    outbound: &Outbound,
    shown: Arc<ServerCertificates>,
) -> Result<(), GatewayError> {
    match certificate {
        Certificate::Files { certificate, key } => {
            let files = AuthorityFiles::new(certificate.clone(), key.clone());
            let keep = files.keep(shown, |done| match done {
                Ok(()) => tracing::info!("the certificate of the authority is shown"),
                Err(error) => {
                    let why = with_causes(error);
                    tracing::warn!(why, "the certificate of the authority is not used");
                }
            });
            running.spawn("certificate files", keep);
        }
        Certificate::Issuer(issuer) => {
            let issuer = AcmeIssuer::new(acme(issuer, outbound))?;
            let keep = issuer.keep(shown, |done| match done {
                Ok(replace) => {
                    let days = replace.duration_since(SystemTime::now()).unwrap_or_default();
                    let days = days.as_secs() / 86_400;
                    tracing::info!(days, "the certificate of the authority is shown");
                }
                Err(error) => {
                    let why = with_causes(error);
                    tracing::warn!(why, "no certificate was issued; another try follows");
                }
            });
            running.spawn("certificate issuer", keep);
        }
    }
    Ok(())
}

fn acme(issuer: &Issuer, outbound: &Outbound) -> AcmeSettings {
    let everywhere = |port| SocketAddr::from(([0, 0, 0, 0], port));
    let http = issuer.http_port.map(|port| Challenge::Http(everywhere(port)));
    let tls = issuer.tls_port.map(|port| Challenge::TlsAlpn(everywhere(port)));
    AcmeSettings {
        directory: issuer.directory_url.clone(),
        email: issuer.email.clone(),
        domain: issuer.domain.clone(),
        challenges: http.into_iter().chain(tls).collect(),
        directory_path: issuer.storage.clone(),
        external_account: issuer.external_account.clone(),
        root: issuer.root.clone(),
        outbound: outbound.clone(),
    }
}

/// Listens; also where, as port 0 takes a free one.
fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), GatewayError> {
    let listener = listen(address).and_then(|listener| {
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    });
    listener.map_err(|source| GatewayError::Listen { address, source })
}

fn identity(address: Address, hostname: Option<&str>, config: &Config, build: Build) -> Identity {
    let akash = AkashVersion {
        name: "provider-services".to_owned(),
        server_name: "provider-services".to_owned(),
        version: VERSION.to_owned(),
        commit: build.commit.to_owned(),
        go: build.compiler.to_owned(),
        cosmos_sdk_version: COSMOS_SDK_VERSION.to_owned(),
        ..AkashVersion::default()
    };
    Identity {
        address,
        public_hostname: hostname.unwrap_or_default().to_owned(),
        reclamation_window: config.engine.reclamation_window,
        version: VersionDocument { akash, kube: None },
    }
}

/// Tells tenants of another reclamation window.
pub(crate) fn offer_window(identity: &watch::Sender<Arc<Identity>>, window: Option<Duration>) {
    identity.send_if_modified(|identity| {
        let is_new = identity.reclamation_window != window;
        if is_new {
            Arc::make_mut(identity).reclamation_window = window;
        }
        is_new
    });
}

/// Keeps the version of the API server that tenants are told: it may be upgraded meanwhile.
async fn keep_kube_version(client: KubeClient, identity: IdentitySender) {
    loop {
        let pause = match read_kube_version(&client, &identity).await {
            Ok(()) => VERSION_PERIOD,
            Err(_) => VERSION_RETRY,
        };
        tokio::time::sleep(pause).await;
    }
}

/// A failure leaves the version that was read before: nothing says that it is another.
async fn read_kube_version(
    client: &KubeClient,
    identity: &watch::Sender<Arc<Identity>>,
) -> Result<(), kube_access::Failure> {
    let kube = Some(client.version().await?);
    identity.send_if_modified(|identity| {
        let is_new = identity.version.kube != kube;
        if is_new {
            Arc::make_mut(identity).version.kube = kube;
        }
        is_new
    });
    Ok(())
}
