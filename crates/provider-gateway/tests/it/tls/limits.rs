//! What the server puts up with, and how it stops.

use std::time::{Duration, Instant};

use provider_gateway::tls::{Limits, Protocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::secured::support::{Client, TENANT, get, pair, read_answer};
use crate::tls::server::Running;

#[tokio::test]
async fn silent_clients_are_let_go_and_hold_up_nobody() {
    let limits = Limits { handshake: Duration::from_secs(2), ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    let begun = Instant::now();
    assert_eq!(Client::new().get(server.address, "/").await.unwrap().0, 200);
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    for mut silent in silent {
        assert!(matches!(silent.read(&mut [0]).await, Ok(0) | Err(_)));
    }
    assert_eq!(server.tally.snapshot().failed, 50);
}

#[tokio::test]
async fn a_request_that_never_ends_its_head_is_let_go() {
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let mut stream = Client::new().connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let mut answer = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer));
    let _closed_or_reset = closed.await.expect("closed");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let limits = Limits { head_bytes: 16 * 1024, ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    for (bytes, status) in [(8 * 1024, 200), (20 * 1024, 431)] {
        let mut stream = Client::new().connect(server.address).await.unwrap();
        let request = format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(bytes));
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(read_answer(&mut stream).await.unwrap().0, status, "{bytes}");
    }
}

#[tokio::test]
async fn places_are_bounded_and_come_back() {
    let limits = Limits { per_client: 3, ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = Client::new().connect(server.address).await.unwrap();
        assert_eq!(get(&mut stream, "/").await.unwrap().0, 200);
        held.push(stream);
    }
    assert_eq!(server.tally.snapshot().open, 3);
    assert!(Client::new().get(server.address, "/").await.is_err());
    server.hears("too many connections").await;
    drop(held);
    let free = async {
        while Client::new().get(server.address, "/").await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), free).await.expect("a place comes back");
    assert!(server.tally.snapshot().full >= 1);
}

#[tokio::test]
async fn idle_connections_make_room_and_busy_ones_stay() {
    let limits = Limits { connections: 16, per_client: 1_000, ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let mut busy = Client::new().connect(server.address).await.unwrap();
    busy.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    server.slow.arrived.notified().await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    for _ in 0..20 {
        let mut kept = Client::new().connect(server.address).await.unwrap();
        assert_eq!(get(&mut kept, "/").await.unwrap().0, 200);
        drop(kept);
    }
    server.slow.ends.notify_one();
    assert_eq!(read_answer(&mut busy).await.unwrap().0, 200);
    let counted = server.tally.snapshot();
    assert!(counted.crowded_out >= 20, "{counted:?}");
    assert!(counted.open <= 16, "{counted:?}");
}

#[tokio::test]
async fn a_flood_from_one_address_closes_no_connection_of_another() {
    let limits = Limits { connections: 64, per_client: 1_000, ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    // It has been idle for longer than any connection of the flood.
    let mut kept = Client::new().connect(server.address).await.unwrap();
    assert_eq!(get(&mut kept, "/").await.unwrap().0, 200);
    let mut flood = Vec::new();
    for _ in 0..200 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        flood.push(socket.connect(server.address).await.unwrap());
    }
    let closed = async {
        while server.tally.snapshot().crowded_out < 100 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), closed).await.expect("idle ones make room");
    assert_eq!(get(&mut kept, "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn strangers_wait_shortly_after_the_handshake_and_those_who_are_known_longer() {
    let limits = Limits { stranger_idle: Duration::from_secs(1), ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let shown = pair(TENANT, 2, &[]);
    server.chain.published.lock().unwrap().push(shown.certificate().to_pem().into_bytes());
    let mut known = Client::showing(&[&shown]).connect(server.address).await.unwrap();
    assert_eq!(get(&mut known, "/").await.unwrap().0, 200);
    let mut silent = Client::new().connect(server.address).await.unwrap();
    let mut stranger = Client::new().connect(server.address).await.unwrap();
    let begun = Instant::now();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(get(&mut stranger, "/").await.unwrap().0, 200);
    }
    for closed in [&mut silent, &mut stranger] {
        let ended = tokio::time::timeout(Duration::from_secs(5), closed.read(&mut [0])).await;
        assert!(matches!(ended.expect("closed"), Ok(0) | Err(_)));
    }
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(get(&mut known, "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn strangers_that_wait_after_the_handshake_are_few() {
    let limits = Limits { strangers: 8, ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(Client::new().connect(server.address).await.unwrap());
    }
    let few = async {
        while server.tally.snapshot().open > 8 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), few).await.expect("the oldest are closed");
    assert!(server.tally.snapshot().crowded_out >= 32);
    // The newest stay, and are answered.
    assert_eq!(get(silent.last_mut().unwrap(), "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn requests_end_when_the_server_stops_and_idle_connections_at_once() {
    let mut server = Running::http1().await;
    let mut idle = Client::new().connect(server.address).await.unwrap();
    assert_eq!(get(&mut idle, "/").await.unwrap().0, 200);
    let mut busy = Client::new().connect(server.address).await.unwrap();
    let request = tokio::spawn(async move { get(&mut busy, "/slow").await });
    let slow = server.slow.clone();
    slow.arrived.notified().await;
    let begun = Instant::now();
    tokio::join!(server.stop(), async { slow.ends.notify_one() });
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(request.await.unwrap().unwrap().0, 200);
    assert!(get(&mut idle, "/").await.is_err());
    assert!(TcpStream::connect(server.address).await.is_err());
}

/// The beginning of a connection over HTTP/2: preface and empty settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Reads frames of HTTP/2 until one of a type; its flags and payload.
async fn frame<S: tokio::io::AsyncRead + Unpin>(stream: &mut S, kind: u8) -> (u8, Vec<u8>) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await.unwrap();
        if head[3] == kind {
            return (head[4], payload);
        }
    }
}

#[tokio::test]
async fn http2_says_and_keeps_its_limits() {
    let limits = Limits { requests: 3, head_bytes: 16 * 1024, ..Limits::default() };
    let server = Running::start(Protocol::Http2, limits).await;
    let client = Client::new().alpn(&["h2"]);
    let mut stream = client.connect(server.address).await.unwrap();
    stream.write_all(PREFACE).await.unwrap();
    let (_, settings) = frame(&mut stream, 4).await;
    let said = |name: u16| {
        settings.chunks(6).find_map(|setting| {
            let (number, value) = setting.split_at(2);
            let is_it = number == name.to_be_bytes();
            is_it.then(|| u32::from_be_bytes(value.try_into().unwrap()))
        })
    };
    // Streams at once, what is taken of each before it is read, and the size of a head.
    assert_eq!((said(3), said(4), said(6)), (Some(3), Some(65_535), Some(16 * 1024)));

    // A client that makes more calls than that: the fourth is refused, the others are answered.
    let slow = b"\x82\x87\x44\x05/slow\x41\x01x";
    for id in [1_u32, 3, 5, 7] {
        let length = u32::try_from(slow.len()).unwrap().to_be_bytes();
        let mut call = vec![length[1], length[2], length[3], 1, 5];
        call.extend(id.to_be_bytes());
        call.extend(slow);
        stream.write_all(&call).await.unwrap();
    }
    let (_, reset) = frame(&mut stream, 3).await;
    assert_eq!(reset, 7_u32.to_be_bytes(), "REFUSED_STREAM");
}

#[tokio::test]
async fn http2_connections_have_places_and_idle_ones_make_room() {
    let limits = Limits { connections: 16, per_client: 1_000, ..Limits::default() };
    let server = Running::start(Protocol::Http2, limits).await;
    let client = Client::new().alpn(&["h2"]);
    let mut idle = Vec::new();
    for _ in 0..40 {
        let mut stream = client.connect(server.address).await.unwrap();
        stream.write_all(PREFACE).await.unwrap();
        frame(&mut stream, 4).await;
        idle.push(stream);
        let counted = server.tally.snapshot();
        assert!(counted.open <= 16, "{counted:?}");
    }
    assert!(server.tally.snapshot().crowded_out >= 20);
}

#[tokio::test]
async fn an_http2_client_that_reads_nothing_is_let_go() {
    let limits = Limits { write: Duration::from_millis(500), ..Limits::default() };
    let server = Running::start(Protocol::Http2, limits).await;
    let client = Client::new().alpn(&["h2"]);
    let mut stream = client.connect(server.address).await.unwrap();
    // A window of nothing for each answer: the socket is well, and no byte of a body may be sent.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    stream.write_all(b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0").await.unwrap();
    let call = b"\x82\x87\x84\x41\x01x";
    let mut head = vec![0, 0, u8::try_from(call.len()).unwrap(), 1, 5, 0, 0, 0, 1];
    head.extend(call);
    stream.write_all(&head).await.unwrap();
    frame(&mut stream, 1).await;
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest));
    let _closed_or_reset = closed.await.expect("closed");
}
