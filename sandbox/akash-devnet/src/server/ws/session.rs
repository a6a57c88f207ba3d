//! One WebSocket connection.
//!
//! Three loops run side by side until one ends: reading requests, hearing of blocks, and writing. A
//! request that takes long holds up the next request, but neither events nor pings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval_at, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::node::{App, Block};
use crate::server::context::Context;
use crate::server::faults::Frame;
use crate::server::rpc::{Calling, NO_ID, Request, Response, RpcError, call_json, read_request};

use super::frames::frames;
use super::subscriptions::{SubscribeError, Subscriptions};

/// Frames that may wait to be written.
const QUEUE: usize = 100;
/// A client that takes nothing for so long is dropped; so is one that is silent.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const PING_PERIOD: Duration = Duration::from_secs(27);

type Shared = Mutex<Subscriptions>;

/// Serves a connection until it or the node ends.
pub(super) async fn run<A, S>(context: Arc<Context<A>>, socket: WebSocketStream<S>)
where
    A: App,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let subscriptions = Mutex::new(Subscriptions::new(context.clients.clone()));
    let blocks = context.blocks.subscribe();
    let mut alive = context.alive.clone();
    let (sink, stream) = socket.split();
    let (queue, written) = mpsc::channel(QUEUE);
    tokio::select! {
        () = read(&context, stream, &subscriptions, &queue) => {}
        () = hear(&context, blocks, &subscriptions, &queue) => {}
        () = write(sink, written) => {}
        // Never changes; only closes.
        _ = alive.changed() => {}
    }
}

async fn read<A, S>(
    context: &Context<A>,
    mut stream: SplitStream<WebSocketStream<S>>,
    subscriptions: &Shared,
    queue: &mpsc::Sender<String>,
) where
    A: App,
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Ok(Some(Ok(message))) = timeout(READ_TIMEOUT, stream.next()).await {
        let body = match message {
            Message::Text(text) => text.as_bytes().to_vec(),
            Message::Binary(bytes) => bytes.to_vec(),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            Message::Close(_) => return,
        };
        let answer = match read_request(&body) {
            Ok(Some(request)) => respond(context, request, subscriptions).await,
            Ok(None) => continue,
            Err(why) => {
                let error = RpcError::parse(format!("error unmarshaling request: {why}"));
                Response::error(None, error)
            }
        };
        if queue.send(answer.to_json()).await.is_err() {
            return;
        }
    }
}

async fn respond<A: App>(
    context: &Context<A>,
    request: Request,
    subscriptions: &Shared,
) -> Response {
    let id = request.id.clone();
    let changed = match request.method.as_str() {
        "subscribe" => query(&request).map(|query| lock(subscriptions).add(&query, id.clone())),
        "unsubscribe" => query(&request).map(|query| lock(subscriptions).remove(&query)),
        "unsubscribe_all" => Ok(lock(subscriptions).clear().map(drop)),
        _ => {
            return match call_json(context, &request, Calling::WebSocket).await {
                Ok(outcome) => Response::new(Some(id), outcome),
                Err(panics) => Response::error(Some(NO_ID), RpcError::internal(panics.0)),
            };
        }
    };
    if let Some(text) = context.faults.failure(&request.method) {
        return Response::error(Some(id), RpcError::internal(text));
    }
    let outcome = match changed {
        Ok(Ok(())) => serde_json::value::to_raw_value(&serde_json::Map::new())
            .map_err(|error| RpcError::internal(error.to_string())),
        Ok(Err(refused)) => Err(RpcError::internal(refused.to_string())),
        Err(why) => {
            let why = format!("error converting json params to arguments: {why}");
            Err(RpcError::internal(why))
        }
    };
    Response::new(Some(id), outcome)
}

/// The query of a request to subscribe, by name or by place.
fn query(request: &Request) -> Result<String, String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Params {
        Named {
            #[serde(default)]
            query: String,
        },
        List([String; 1]),
    }
    let params = request.params.as_ref().map_or("{}", |params| params.get());
    match serde_json::from_str(params) {
        Ok(Params::Named { query } | Params::List([query])) => Ok(query),
        Err(error) => Err(error.to_string()),
    }
}

async fn hear<A: App>(
    context: &Context<A>,
    mut blocks: broadcast::Receiver<Arc<Block>>,
    subscriptions: &Shared,
    queue: &mpsc::Sender<String>,
) {
    loop {
        let frames = match blocks.recv().await {
            Ok(block) => {
                let view = context.view();
                let lags = context.faults.get(|plan| plan.lag) > 0;
                let seen = if lags { view.history.latest_block() } else { Some(&block) };
                let Some(seen) = seen else { continue };
                frames(seen, &view.chain.block, &lock(subscriptions))
            }
            Err(broadcast::error::RecvError::Lagged(_)) => canceled(subscriptions),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        for frame in frames {
            match context.faults.frame() {
                Frame::Send => {}
                Frame::Late(delay) => sleep(delay).await,
                Frame::Lost => continue,
            }
            if !matches!(timeout(WRITE_TIMEOUT, queue.send(frame)).await, Ok(Ok(()))) {
                return;
            }
        }
    }
}

/// A client that is too slow loses its subscriptions, and hears so.
fn canceled(subscriptions: &Shared) -> Vec<String> {
    let canceled: Result<_, SubscribeError> = lock(subscriptions).clear();
    let text = "subscription was canceled (reason: client is not pulling messages fast enough)";
    let tell = |subscription: super::subscriptions::Subscription| {
        Response::error(Some(subscription.id), RpcError::server(text)).to_json()
    };
    canceled.unwrap_or_default().into_iter().map(tell).collect()
}

async fn write<S>(
    mut sink: SplitSink<WebSocketStream<S>, Message>,
    mut queue: mpsc::Receiver<String>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut pings = interval_at(tokio::time::Instant::now() + PING_PERIOD, PING_PERIOD);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            frame = queue.recv() => match frame {
                Some(frame) => Message::text(frame),
                None => return,
            },
            _ = pings.tick() => Message::Ping(Vec::new().into()),
        };
        if !matches!(timeout(WRITE_TIMEOUT, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
}

fn lock(subscriptions: &Shared) -> MutexGuard<'_, Subscriptions> {
    subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
}
