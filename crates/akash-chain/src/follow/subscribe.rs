//! One subscription to new blocks, from the handshake to its end.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::decode::{Frame, read_frame};
use super::plan::{News, Ticket};
use crate::transport::{RpcClient, Socket};

const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"query":"tm.event='NewBlockHeader'"}}"#;

/// Where news go, with the ticket they are of.
pub(super) type NewsSender = mpsc::Sender<(Ticket, News)>;

/// Runs until the connection ends; whoever is tired of it aborts the task. Each message on `pings`
/// is a ping to send.
pub(super) async fn run(
    rpc: RpcClient,
    ticket: Ticket,
    within: Duration,
    news: NewsSender,
    pings: mpsc::Receiver<()>,
) {
    let opened = timeout(within, open(&rpc)).await;
    if let Ok(Some(socket)) = opened {
        listen(socket, ticket, &news, pings).await;
    }
    // Nobody there to hear it is the end as well.
    let _ = news.send((ticket, News::Down)).await;
}

async fn open(rpc: &RpcClient) -> Option<Socket> {
    let mut socket = rpc.websocket().await.ok()?;
    socket.send(Message::text(SUBSCRIBE)).await.ok()?;
    Some(socket)
}

async fn listen(
    mut socket: Socket,
    ticket: Ticket,
    news: &NewsSender,
    mut pings: mpsc::Receiver<()>,
) {
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            ping = pings.recv() => {
                let sent = match ping {
                    Some(()) => socket.send(Message::Ping(Vec::new().into())).await.is_ok(),
                    None => false,
                };
                match sent {
                    true => continue,
                    false => return,
                }
            }
        };
        let heard = match message {
            Some(Ok(Message::Text(text))) => match read_frame(&text) {
                Frame::Subscribed => News::Up,
                Frame::Block(height) => News::Block(height),
                Frame::Refused(_) => return,
                Frame::Other => News::Alive,
            },
            Some(Ok(
                Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_),
            )) => News::Alive,
            Some(Ok(Message::Close(_)) | Err(_)) | None => return,
        };
        if news.send((ticket, heard)).await.is_err() {
            return;
        }
    }
}
