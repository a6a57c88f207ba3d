//! What the server puts up with, and how it stops.

use std::time::{Duration, Instant};

use provider_gateway::tls::{Limits, Protocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::secured::support::{Client, get, read_answer};
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
async fn requests_end_when_the_server_stops_and_idle_connections_at_once() {
    let mut server = Running::http1().await;
    let mut idle = Client::new().connect(server.address).await.unwrap();
    assert_eq!(get(&mut idle, "/").await.unwrap().0, 200);
    let mut busy = Client::new().connect(server.address).await.unwrap();
    let request = tokio::spawn(async move { get(&mut busy, "/slow").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(request.await.unwrap().unwrap().0, 200);
    assert!(get(&mut idle, "/").await.is_err());
    assert!(TcpStream::connect(server.address).await.is_err());
}
