//! Streams: how fast one is, and what one that is idle weighs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use figures::print;
use futures_util::StreamExt;
use provider_api::jwt::Access;
use provider_gateway::Settings;
use provider_gateway::tls::Limits;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::MEASURE;
use crate::common::simulated;
use crate::flood::{Flood, Flooded};
use crate::secured::support::Client;
use crate::secured::{Secured, account, token};

/// The word that makes this program the clients of another one.
pub(crate) const CLIENTS: &str = "clients";
const PATH: &str = "/lease/9001/1/1/logs?follow=true";
/// How many idle streams are weighed.
const IDLE: usize = 400;

fn bearer() -> String {
    format!("Bearer {}", token(&account("tenant1"), Access::Full))
}

async fn open(
    client: &Client,
    address: SocketAddr,
    bearer: &str,
) -> WebSocketStream<TlsStream<TcpStream>> {
    let mut request = format!("wss://{address}{PATH}").into_client_request().unwrap();
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let stream = client.connect(address).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// Lines of a hundred bytes through one stream, for as long as it is measured.
pub(crate) async fn lines() {
    let cluster = simulated();
    let seen = Flooded { cluster: cluster.clone(), flood: Flood::of(100) };
    let gateway = Secured::over(cluster, seen, Settings::default(), Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    let mut stream = open(&Client::new(), gateway.rest, &bearer()).await;
    let (begun, mut lines) = (Instant::now(), 0_u64);
    while begun.elapsed() < MEASURE {
        match stream.next().await.unwrap().unwrap() {
            Message::Text(_) => lines += 1,
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
    print("log_lines_per_second", lines / MEASURE.as_secs(), "lines/s");
}

/// What each of many idle streams adds to the memory of the process.
pub(crate) async fn idle() {
    let settings =
        Settings { streams_per_owner: IDLE, streams_per_lease: IDLE, ..Settings::default() };
    let gateway = Secured::start(settings, Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    // One of each kind of thing that is there but once.
    drop(open(&Client::new(), gateway.rest, &bearer()).await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = resident();
    let mut clients = Command::new(std::env::current_exe().unwrap())
        .args([CLIENTS, &gateway.rest.to_string(), &bearer(), &IDLE.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = clients.stdout.take().unwrap();
    let ready = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        line
    });
    assert_eq!(ready.await.unwrap(), "ready\n");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(gateway.tally.snapshot().open >= u64::try_from(IDLE).unwrap());
    let each = resident().saturating_sub(before) / IDLE;
    print("idle_stream_bytes", each, "bytes");
    drop(clients.stdin.take());
    tokio::task::spawn_blocking(move || clients.wait().unwrap()).await.unwrap();
}

/// Opens streams, says so, and holds them until nobody wants them any more.
pub(crate) async fn clients(address: SocketAddr, bearer: &str, count: usize) {
    let client = Client::new();
    let mut reading = Vec::new();
    for _ in 0..count {
        let mut stream = open(&client, address, bearer).await;
        reading.push(tokio::spawn(async move { while let Some(Ok(_)) = stream.next().await {} }));
    }
    let mut output = std::io::stdout();
    output.write_all(b"ready\n").unwrap();
    output.flush().unwrap();
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()).unwrap())
        .await
        .unwrap();
    for reading in reading {
        reading.abort();
    }
}

/// What the process has in memory, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}
