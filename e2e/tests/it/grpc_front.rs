//! gRPC in front of a node, which keeps answers back or changes them.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use akash_proto::cosmos::bank::v1beta1::QuerySpendableBalancesResponse;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2 as client;
use hyper::server::conn::http2 as server;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::{TcpListener, TcpStream};

type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// What is done about questions for what an account can spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spendable {
    #[default]
    Told,
    /// It says that it cannot answer.
    Withheld,
    /// It says that nothing can be spent.
    Nothing,
}

pub(crate) struct Front {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: usize,
    /// Whether the next question for an order gets no answer.
    holds: bool,
    /// How long the client waited for the answer that never came.
    waited: Option<Duration>,
    spendable: Spendable,
    /// Questions for what an account can spend.
    balances: usize,
}

/// A call without an answer. It is dropped when its client gives up.
struct Held(Instant, Arc<Mutex<State>>);

impl Drop for Held {
    fn drop(&mut self) {
        self.1.lock().unwrap().waited = Some(self.0.elapsed());
    }
}

impl Front {
    pub(crate) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let service = service_fn(move |request| call(request, to, Arc::clone(&state)));
                let server = server::Builder::new(TokioExecutor::new());
                tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn calls(&self) -> usize {
        self.state.lock().unwrap().calls
    }

    /// Gives no answer to the next question for an order.
    pub(crate) fn hold(&self) {
        self.state.lock().unwrap().holds = true;
    }

    /// How long the client waited for the answer that never came, once it has given up.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.state.lock().unwrap().waited
    }

    pub(crate) fn spendable(&self, spendable: Spendable) {
        self.state.lock().unwrap().spendable = spendable;
    }

    /// How often it was asked what an account can spend.
    pub(crate) fn balances(&self) -> usize {
        self.state.lock().unwrap().balances
    }
}

async fn call(
    request: Request<Incoming>,
    to: SocketAddr,
    state: Arc<Mutex<State>>,
) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    let (is_held, spendable) = {
        let mut state = state.lock().unwrap();
        state.calls += 1;
        let is_held = state.holds && path.ends_with("market.v1beta5.Query/Order");
        state.holds &= !is_held;
        let is_balance = path.ends_with("bank.v1beta1.Query/SpendableBalances");
        state.balances += usize::from(is_balance);
        (is_held, if is_balance { state.spendable } else { Spendable::Told })
    };
    if is_held {
        let _held = Held(Instant::now(), state);
        std::future::pending::<()>().await;
    }
    Ok(match spendable {
        Spendable::Told => forward(request, to).await.map(|body| body.boxed_unsync()),
        Spendable::Withheld => {
            let mut refused = Response::new(Empty::new().map_err(|it| match it {}).boxed_unsync());
            let headers = refused.headers_mut();
            headers.insert("content-type", HeaderValue::from_static("application/grpc"));
            headers.insert("grpc-status", HeaderValue::from_static("14"));
            refused
        }
        Spendable::Nothing => nothing(forward(request, to).await).await,
    })
}

async fn forward(request: Request<Incoming>, to: SocketAddr) -> Response<Incoming> {
    let stream = TcpStream::connect(to).await.unwrap();
    let (mut sender, connection) =
        client::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().unwrap().as_str();
    head.uri = format!("http://{to}{path}").parse::<Uri>().unwrap();
    sender.send_request(Request::from_parts(head, body)).await.unwrap()
}

/// The same answer with the balances left out.
async fn nothing(answer: Response<Incoming>) -> Response<Body> {
    let (mut head, body) = answer.into_parts();
    head.headers.remove("content-length");
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned();
    let mut message = QuerySpendableBalancesResponse::decode(&body.to_bytes()[5..]).unwrap();
    assert!(!message.balances.is_empty(), "there is something to leave out");
    message.balances.clear();
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap();
    let framed = [&[0], &length.to_be_bytes()[..], &message].concat();
    let body = Full::new(Bytes::from(framed)).map_err(|it| match it {});
    let body = body.with_trailers(async move { trailers.map(Ok) });
    Response::from_parts(head, body.boxed_unsync())
}
