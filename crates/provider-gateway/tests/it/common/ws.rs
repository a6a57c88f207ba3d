//! Conversations over WebSocket, as they were recorded and as they are.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use provider_api::query::ShellParams;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{World, fixture};

/// A recorded conversation.
pub(crate) struct Recording {
    pub(crate) path: String,
    pub(crate) token: String,
    /// HTTP status of the answer to the handshake.
    pub(crate) status: u16,
    /// What was said, in order.
    pub(crate) frames: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Sent(u8, Vec<u8>),
    Received(u8, Vec<u8>),
    /// The provider left without a word.
    Left,
}

pub(crate) fn recording(name: &str) -> Recording {
    let text = fixture(&format!("gateway/ws/{name}.txt"));
    let find = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    let path = find("# > GET ").unwrap().split(' ').next().unwrap().to_owned();
    let token = match find("# > Authorization: Bearer <") {
        Some(token) => token.trim_end_matches('>').to_owned(),
        None if text.contains("(client certificate: good)") => "good".to_owned(),
        None => String::new(),
    };
    let status = find("# < HTTP/1.1 ").unwrap().split(' ').next().unwrap().parse().unwrap();
    let frames = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let direction = words.next()?;
        if direction == "<" && line.contains("EOF") {
            return Some(Frame::Left);
        }
        let field = |key: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(key).map(str::to_owned))
        };
        let opcode = field("op=")?.split('(').next()?.parse().ok()?;
        let hex = field("hex=")?;
        let bytes = (0..hex.len()).step_by(2);
        let bytes = bytes.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        match direction {
            "<" => Some(Frame::Received(opcode, bytes)),
            ">" => Some(Frame::Sent(opcode, bytes)),
            _ => None,
        }
    });
    Recording { path, token, status, frames: frames.collect() }
}

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) async fn open<C: provider_engine::cluster::port::Cluster>(
    world: &World<C>,
    path: &str,
    token: &str,
) -> Result<Socket, u16> {
    let mut request = format!("ws://{}{path}", world.address).into_client_request().unwrap();
    if !token.is_empty() {
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
    }
    let tcp = TcpStream::connect(world.address).await.unwrap();
    match tokio_tungstenite::client_async(request, tcp).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn receive(socket: &mut Socket) -> Frame {
    let next = tokio::time::timeout(Duration::from_secs(10), socket.next());
    match next.await.expect("nothing comes") {
        Some(Ok(Message::Text(text))) => Frame::Received(1, text.as_bytes().to_vec()),
        Some(Ok(Message::Binary(bytes))) => Frame::Received(2, bytes.to_vec()),
        Some(Ok(Message::Close(frame))) => {
            let frame = frame.expect("a close frame without a code");
            let mut bytes = u16::from(frame.code).to_be_bytes().to_vec();
            bytes.extend_from_slice(frame.reason.as_bytes());
            Frame::Received(8, bytes)
        }
        Some(Ok(Message::Ping(bytes))) => Frame::Received(9, bytes.to_vec()),
        None | Some(Err(_)) => Frame::Left,
        other => panic!("{other:?}"),
    }
}

/// What is received where existing providers leave without a word.
fn done() -> Frame {
    Frame::Received(8, 1000_u16.to_be_bytes().to_vec())
}

pub(crate) async fn replay(world: &World, name: &str) {
    let recording = recording(name);
    let mut socket = match open(world, &recording.path, &recording.token).await {
        Ok(socket) => socket,
        Err(status) => return assert_eq!(status, recording.status, "{name}"),
    };
    assert_eq!(recording.status, 101, "{name}");
    for frame in recording.frames {
        match frame {
            Frame::Sent(8, _) => socket.close(None).await.unwrap(),
            Frame::Sent(_, bytes) => socket.send(Message::Binary(bytes.into())).await.unwrap(),
            Frame::Left => assert_eq!(receive(&mut socket).await, done(), "{name}"),
            frame => assert_eq!(receive(&mut socket).await, frame, "{name}"),
        }
    }
}

/// A command in service `web`.
pub(crate) fn command(words: &[&str], stdin: bool) -> ShellParams {
    ShellParams {
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        service: "web".to_owned(),
        replica: 0,
        tty: false,
        stdin,
    }
}
