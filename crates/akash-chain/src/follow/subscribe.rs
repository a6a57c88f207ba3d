//! One subscription to new blocks, from the handshake to its end.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
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

async fn listen<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: WebSocketStream<S>,
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

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, frame::coding::CloseCode};

    use super::*;

    /// What is heard of a subscription on which the node sends these.
    async fn heard(messages: Vec<Message>) -> Vec<News> {
        let (client, server) = tokio::io::duplex(4096);
        let client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        let mut server = WebSocketStream::from_raw_socket(server, Role::Server, None).await;
        let (sender, mut news) = mpsc::channel(16);
        let (pings, receiver) = mpsc::channel(1);
        let listening = tokio::spawn(async move { listen(client, 7, &sender, receiver).await });
        pings.send(()).await.unwrap();
        assert!(matches!(server.next().await, Some(Ok(Message::Ping(_)))));
        for message in messages {
            server.send(message).await.unwrap();
        }
        listening.await.unwrap();
        let mut found = Vec::new();
        while let Some((ticket, heard)) = news.recv().await {
            assert_eq!(ticket, 7);
            // When the answer to the ping comes is up to the two sides.
            found.extend(Some(heard).filter(|heard| *heard != News::Alive));
        }
        found
    }

    fn frames() -> Vec<Message> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/chain/websocket.jsonl");
        let recorded = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = recorded.lines().collect();
        vec![Message::text(lines[0]), Message::text(lines[3])]
    }

    #[tokio::test]
    async fn every_kind_of_close_ends_it() {
        let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        let canceled = r#"{"id":1,"error":{"code":-32000,"message":"Server error","data":"x"}}"#;
        for end in [Message::Close(Some(normal)), Message::Close(None), Message::text(canceled)] {
            let mut messages = frames();
            messages.push(end);
            assert_eq!(heard(messages).await, [News::Up, News::Block(99)]);
        }
    }
}
