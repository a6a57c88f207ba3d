//! The whole gateway: TLS, certificates and tokens as in a running provider, before a simulated
//! cluster and a chain that knows three accounts.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod support;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use akash_keys::certificate::{Certificate, KeyPair};
use akash_keys::mnemonic::Mnemonic;
use akash_keys::{HdPath, PublicKey, SecretKey};
use akash_types::Address;
use futures_util::future::BoxFuture;
use hyper::service::service_fn;
use provider_api::jwt::{Access, Algorithm, Claims, issue};
use provider_engine::cluster::port::Cluster;
use provider_gateway::auth::{
    Authenticator, Certificates, KeyAnswer, LookupFailure, NoKey, PublicKeys,
};
use provider_gateway::rpc::Rpc;
use provider_gateway::tls::{Limits, Protocol, Server, ServerCertificates, Tally, certified};
use provider_gateway::{Doorkeeper, Gateway, Settings};
use provider_sim::driver::SimDriver;
use tokio::net::TcpListener;

use crate::common::provider::TestProvider;
use crate::common::{PROVIDER, World, fixture, simulated};

/// The key of an account of the recorded chain.
pub(crate) fn account(name: &str) -> SecretKey {
    let known: serde_json::Value =
        serde_json::from_str(&fixture("chain/throwaway-keys.json")).unwrap();
    let words = Mnemonic::parse(known[name]["mnemonic"].as_str().unwrap()).unwrap();
    words.derive("", &HdPath::default()).unwrap()
}

/// A token that is valid now.
pub(crate) fn token(key: &SecretKey, access: Access) -> String {
    let now = std::time::SystemTime::now();
    let claims = Claims::new(key.public_key().address(), access, now, Claims::LIFETIME);
    issue(&claims, Algorithm::Es256k, key).unwrap()
}

/// Accounts, and the certificates that are published and not revoked.
#[derive(Default)]
pub(crate) struct Chain {
    keys: Vec<PublicKey>,
    published: Mutex<Vec<Vec<u8>>>,
}

impl Chain {
    pub(crate) fn publish(&self, pair: &KeyPair) {
        self.published.lock().unwrap().push(pair.certificate().to_pem().into_bytes());
    }

    pub(crate) fn revoke(&self, pair: &KeyPair) {
        let pem = pair.certificate().to_pem().into_bytes();
        self.published.lock().unwrap().retain(|known| *known != pem);
    }
}

impl PublicKeys for Chain {
    fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
        let found = self.keys.iter().find(|key| key.address() == account);
        let answer = found.map_or(KeyAnswer::None(NoKey::NoAccount), |key| KeyAnswer::Key(*key));
        Box::pin(async move { Ok(answer) })
    }
}

impl Certificates for Chain {
    fn valid_certificate<'a>(
        &'a self,
        owner: Address,
        serial: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        let published = self.published.lock().unwrap();
        let found = published.iter().find(|pem| {
            let known = Certificate::from_pem(std::str::from_utf8(pem).unwrap()).unwrap();
            known.owner() == Ok(owner) && known.serial() == serial
        });
        let found = found.cloned();
        Box::pin(async move { Ok(found) })
    }
}

/// A gateway as it runs.
pub(crate) struct Secured<C = SimDriver> {
    /// Provider and cluster; its own sockets are not used.
    pub(crate) world: World<C>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) gateway: Gateway<TestProvider, C, Doorkeeper>,
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
        let keys = ["tenant1", "main", "provider"].map(|name| account(name).public_key());
        let chain = Arc::new(Chain { keys: keys.into(), published: Mutex::default() });
        let authenticator =
            Arc::new(Authenticator::new(chain.clone(), chain.clone(), Arc::new(|_| false)));
        let clients = authenticator.certificates();
        let gate = Doorkeeper::new(PROVIDER.parse().unwrap(), authenticator);
        let budget = settings.strangers.clone();
        let gateway = Gateway::new(world.provider.clone(), seen, gate, settings);

        let own = certified(&support::pair(PROVIDER, 1, &["localhost"])).unwrap();
        let shown = Arc::new(ServerCertificates::new(own));
        let server = |protocol| {
            let host = Some("localhost".to_owned());
            let server = Server::new(protocol, shown.clone(), host, clients.clone(), limits);
            server.unwrap().within(budget.clone())
        };
        let (rest_server, rpc_server) = (server(Protocol::Http1), server(Protocol::Http2));
        let tally = rest_server.tally();
        let (rest_listener, rest) = listen().await;
        let serving = gateway.clone();
        let service = service_fn(move |request| {
            let gateway = serving.clone();
            async move { Ok::<_, Infallible>(gateway.rest(request).await) }
        });
        tokio::spawn(rest_server.serve(rest_listener, service, std::future::pending()));
        let (rpc_listener, rpc) = listen().await;
        let serving = Rpc::new(gateway.clone()).unwrap();
        let service = service_fn(move |request| {
            let rpc = serving.clone();
            async move { Ok::<_, Infallible>(rpc.call(request).await) }
        });
        tokio::spawn(rpc_server.serve(rpc_listener, service, std::future::pending()));
        Self { world, chain, gateway, rest, rpc, tally }
    }
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}
