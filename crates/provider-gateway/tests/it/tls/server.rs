//! A server for a test, and the chain it asks.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_types::Address;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use provider_gateway::auth::{CertificateCheck, Certificates, LookupFailure};
use provider_gateway::tls::{Limits, Peer, Protocol, Server, ServerCertificates, Tally, certified};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::secured::support::{PROVIDER, pair};

pub(crate) const HOST: &str = "provider.example.com";

/// Requests to `/slow` of one server.
#[derive(Default)]
pub(crate) struct Slow {
    /// One arrived.
    pub(crate) arrived: Notify,
    /// One may be answered.
    pub(crate) ends: Notify,
}

/// Which certificates are published.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) published: Mutex<Vec<Vec<u8>>>,
    pub(crate) silent: AtomicBool,
}

impl Certificates for Chain {
    fn valid_certificate<'a>(
        &'a self,
        owner: Address,
        serial: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        let published = self.published.lock().unwrap();
        let found = published.iter().find(|pem| {
            let text = std::str::from_utf8(pem).unwrap();
            let known = akash_keys::certificate::Certificate::from_pem(text).unwrap();
            known.owner() == Ok(owner) && known.serial() == serial
        });
        let found = found.cloned();
        let silent = self.silent.load(Ordering::Relaxed);
        Box::pin(async move {
            if silent {
                std::future::pending::<()>().await;
            }
            Ok(found)
        })
    }
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) certificates: Arc<ServerCertificates>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) troubles: Arc<Mutex<Vec<String>>>,
    pub(crate) slow: Arc<Slow>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(protocol: Protocol, limits: Limits) -> Self {
        let own = certified(&pair(PROVIDER, 1, &["localhost"])).unwrap();
        let certificates = Arc::new(ServerCertificates::new(own));
        let chain = Arc::new(Chain::default());
        let check = Arc::new(CertificateCheck::new(chain.clone(), Arc::new(|_| false)));
        let host = Some(HOST.to_owned());
        let server = Server::new(protocol, certificates.clone(), host, check, limits).unwrap();
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let told = troubles.clone();
        let server = server.telling(move |_, trouble| told.lock().unwrap().push(chain_of(trouble)));
        let tally = server.tally();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let slow = Arc::new(Slow::default());
        let waiting = slow.clone();
        let service = service_fn(move |request| answer(request, waiting.clone()));
        let task = tokio::spawn(server.serve(listener, service, async {
            let _dropped = stopped.await;
        }));
        Self { address, certificates, chain, tally, troubles, slow, stop: Some(stop), task }
    }

    pub(crate) async fn http1() -> Self {
        Self::start(Protocol::Http1, Limits::default()).await
    }

    /// Stops, and waits until it has.
    pub(crate) async fn stop(&mut self) {
        drop(self.stop.take());
        (&mut self.task).await.unwrap();
    }

    /// Waits until the newest trouble has these words.
    pub(crate) async fn hears(&self, expected: &str) {
        let newest = || self.troubles.lock().unwrap().last().cloned().unwrap_or_default();
        let heard = async {
            while !newest().contains(expected) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(5), heard).await;
        assert!(heard.is_ok(), "{expected:?} was not heard, but {:?}", newest());
    }
}

fn chain_of(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Answers with whose certificate was shown.
async fn answer(
    request: Request<Incoming>,
    slow: Arc<Slow>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let peer = request.extensions().get::<Arc<Peer>>().unwrap();
    let owner = peer.certificate.as_ref().map(|certificate| certificate.owner().to_string());
    if request.uri().path() == "/slow" {
        slow.arrived.notify_one();
        slow.ends.notified().await;
    }
    Ok(Response::new(Full::from(owner.unwrap_or_else(|| "nobody".to_owned()))))
}
