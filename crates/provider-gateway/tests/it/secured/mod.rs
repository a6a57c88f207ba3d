//! The whole gateway: TLS, certificates and tokens as in a running provider, before a simulated
//! cluster and a chain that knows three accounts.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod support;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::service::service_fn;
use provider_engine::cluster::port::Cluster;
use provider_gateway::rpc::Rpc;
use provider_gateway::tls::{
    Limits, Protocol, Server, ServerCertificates, Tally, certified, listen,
};
use provider_gateway::{Gateway, Settings};
use provider_sim::driver::SimDriver;
use tokio::net::TcpListener;

use crate::common::provider::TestProvider;
pub(crate) use crate::common::tokens::{Chain, account, token};
use crate::common::tokens::{authenticator, authorizer};
use crate::common::{PROVIDER, World, simulated};

/// A gateway as it runs.
pub(crate) struct Secured<C = SimDriver> {
    /// Provider and cluster; its own sockets are not used.
    pub(crate) world: World<C>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) gateway: Gateway<TestProvider, C>,
    pub(crate) rest: SocketAddr,
    pub(crate) rpc: SocketAddr,
    pub(crate) tally: Arc<Tally>,
}

impl Secured {
    pub(crate) async fn start(settings: Settings, limits: Limits) -> Self {
        let cluster = simulated();
        Secured::over(cluster.clone(), cluster, settings, limits).await
    }
}

impl<C: Cluster> Secured<C> {
    pub(crate) async fn over(
        cluster: SimDriver,
        seen: C,
        settings: Settings,
        limits: Limits,
    ) -> Self {
        let world = World::over(cluster, seen.clone(), Settings::default()).await;
        let chain = Arc::new(Chain::recorded());
        let authenticator = authenticator(&chain);
        let clients = authenticator.certificates();
        let budget = settings.strangers.clone();
        let authorizer = authorizer(authenticator, &world.provider);
        let gateway = Gateway::new(world.provider.clone(), seen, authorizer, settings);

        let own = certified(&support::pair(PROVIDER, 1, &["localhost"])).unwrap();
        let shown = Arc::new(ServerCertificates::new(own));
        let server = |protocol| {
            let host = Some("localhost".to_owned());
            let server = Server::new(protocol, shown.clone(), host, clients.clone(), limits);
            server.unwrap().within(budget.clone())
        };
        let (rest_server, rpc_server) = (server(Protocol::Http1), server(Protocol::Http2));
        let tally = rest_server.tally();
        let (rest_listener, rest) = listener();
        let serving = gateway.clone();
        let service = service_fn(move |request| {
            let gateway = serving.clone();
            async move { Ok::<_, Infallible>(gateway.rest(request).await) }
        });
        tokio::spawn(rest_server.serve(rest_listener, service, std::future::pending()));
        let (rpc_listener, rpc) = listener();
        let serving = Rpc::new(gateway.clone()).unwrap();
        let service = service_fn(move |request| {
            let rpc = serving.clone();
            async move { Ok::<_, Infallible>(rpc.call(request).await) }
        });
        tokio::spawn(rpc_server.serve(rpc_listener, service, std::future::pending()));
        Self { world, chain, gateway, rest, rpc, tally }
    }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}
