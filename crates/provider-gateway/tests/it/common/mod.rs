//! A gateway on a real socket, before a simulated cluster and a small provider.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod provider;
pub(crate) mod raw;
pub(crate) mod tokens;
pub(crate) mod ws;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::{Manifest, Sdl};
use akash_types::LeaseId;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use provider_api::client::{Client, Credentials, ServerTrust};
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Cluster, Execute, Inspect};
use provider_engine::cluster::view::IgnoredOptions;
use provider_gateway::rpc::Rpc;
use provider_gateway::{Gateway, Settings};
use provider_sim::core::{ClusterSpec, Delays, SimCluster};
use provider_sim::driver::SimDriver;
use tokio::net::TcpListener;

use provider::TestProvider;
use tokens::{Chain, Tokens, authenticator, authorizer};

pub(crate) const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
pub(crate) const OTHER: &str = "akash1mggx7zspa0z8zhm5hzxa87p3lh3wpz6ath2en8";
pub(crate) const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

pub(crate) fn fixture(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn lease(dseq: u64) -> LeaseId {
    format!("{OWNER}/{dseq}/1/1/{PROVIDER}").parse().unwrap()
}

/// A recorded deployment: its manifest and SDL.
pub(crate) fn case(name: &str) -> (Manifest, Sdl) {
    let json = fixture(&format!("kubernetes/{name}/manifest.json"));
    let sdl = fixture(&format!("kubernetes/{name}/sdl.yaml"));
    (Manifest::from_json(json.as_bytes()).unwrap().manifest, Sdl::read(&sdl).unwrap())
}

/// Everything that a test needs.
pub(crate) struct World<C = SimDriver> {
    pub(crate) cluster: SimDriver,
    pub(crate) provider: TestProvider,
    pub(crate) gateway: Gateway<TestProvider, C>,
    pub(crate) address: SocketAddr,
    pub(crate) rpc_address: SocketAddr,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let cluster = simulated();
        World::over(cluster.clone(), cluster, settings).await
    }
}

pub(crate) fn simulated() -> SimDriver {
    let settings = provider_sim::core::Settings {
        delays: Delays::default().faster(40),
        domain: Some("localhost".to_owned()),
        ..provider_sim::core::Settings::default()
    };
    SimDriver::start(SimCluster::new(ClusterSpec::small(), settings, 7))
}

impl<C: Cluster> World<C> {
    /// A gateway that sees `cluster` as `seen`.
    pub(crate) async fn over(cluster: SimDriver, seen: C, settings: Settings) -> Self {
        let provider = TestProvider::new(cluster.clone());
        let authorizer = authorizer(authenticator(&Arc::new(Chain::recorded())), &provider);
        let gateway = Gateway::new(provider.clone(), seen, authorizer, settings);
        let address = serve_rest(gateway.clone()).await;
        let rpc_address = serve_rpc(Rpc::new(gateway.clone()).unwrap()).await;
        Self { cluster, provider, gateway, address, rpc_address }
    }

    /// Makes a lease of a recorded deployment, and waits until it runs as far as it will.
    pub(crate) async fn run_case(&self, name: &str, dseq: u64) {
        let (manifest, sdl) = case(name);
        self.provider.lease(lease(dseq), &manifest, sdl.groups());
        self.deploy(dseq, &manifest).await;
        self.settled(dseq).await;
    }

    pub(crate) async fn deploy(&self, dseq: u64, manifest: &Manifest) {
        self.deploy_ignoring(dseq, manifest, BTreeMap::new()).await;
    }

    /// Deploys a manifest in which options of services are not known here.
    pub(crate) async fn deploy_ignoring(
        &self,
        dseq: u64,
        manifest: &Manifest,
        ignored: IgnoredOptions,
    ) {
        let workload = Workload {
            lease: lease(dseq),
            version: Some(manifest.version()),
            group: Arc::new(manifest.groups[0].clone()),
            cards: BTreeMap::new(),
            withheld: vec![],
            endpoints_to_take: vec![],
            ignored,
        };
        self.cluster.execute(Operation::Deploy(Arc::new(workload))).await.unwrap();
    }

    /// Waits until every replica that can be ready is.
    pub(crate) async fn settled(&self, dseq: u64) {
        for _ in 0..400 {
            let status = self.cluster.status(lease(dseq)).await.unwrap();
            let ready = |service: &provider_engine::cluster::port::ServiceStatus| {
                service.counts.ready >= service.counts.wanted
            };
            if status.services.iter().all(ready) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("lease {dseq} does not get ready");
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        let credentials = match token {
            "" => Credentials::None,
            token => Credentials::Bearer(token.to_owned()),
        };
        let uri = format!("http://{}", self.address);
        Client::new(&uri, &ServerTrust::default(), credentials).unwrap()
    }
}

async fn serve_rest<C: Cluster>(gateway: Gateway<TestProvider, C>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tokens = Tokens::recorded();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let (gateway, tokens) = (gateway.clone(), tokens.clone());
            let service = service_fn(move |mut request: Request<Incoming>| {
                tokens.sign(request.headers_mut());
                let gateway = gateway.clone();
                async move { Ok::<_, Infallible>(gateway.rest(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(tcp), service);
            tokio::spawn(connection.with_upgrades());
        }
    });
    address
}

async fn serve_rpc<C: Cluster>(rpc: Rpc<TestProvider, C>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tokens = Tokens::recorded();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let (rpc, tokens) = (rpc.clone(), tokens.clone());
            let service = service_fn(move |mut request: Request<Incoming>| {
                tokens.sign(request.headers_mut());
                let rpc = rpc.clone();
                async move { Ok::<_, Infallible>(rpc.call(request).await) }
            });
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(tcp), service).await;
            });
        }
    });
    address
}
