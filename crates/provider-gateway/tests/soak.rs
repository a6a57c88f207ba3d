//! Clients that are slow, silent or suddenly gone, and strangers without end: afterwards everything
//! is as it was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "it/common/mod.rs"]
mod common;
#[path = "it/flood/mod.rs"]
mod flood;
#[path = "it/secured/mod.rs"]
mod secured;

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::simulated;
use flood::{Flood, Flooded};
use futures_util::{SinkExt, StreamExt};
use provider_api::jwt::Access;
use provider_gateway::Settings;
use provider_gateway::tls::Limits;
use secured::support::{Client, get, read_answer};
use secured::{Secured, account, token};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

#[global_allocator]
static ALLOCATOR: figures::CountingAllocator = figures::CountingAllocator;

/// There is one heap: who measures it is alone.
static ALONE: Mutex<()> = Mutex::const_new(());
/// What caches and the simulated cluster may have grown by, in bytes.
const GROWTH: u64 = 512 * 1024;
/// How long the gateway of these tests waits for anybody.
const PATIENCE: Duration = Duration::from_secs(1);
const LOGS: &str = "/lease/9001/1/1/logs?follow=true";
const SHELL: &str = "/lease/9001/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0";

fn full() -> bool {
    std::env::var_os("AKASH_TEST_FULL").is_some()
}

async fn gateway() -> Secured<Flooded> {
    let settings = Settings {
        write_patience: PATIENCE,
        body_patience: PATIENCE,
        ping: PATIENCE / 4,
        streams_per_owner: 1024,
        streams_per_lease: 1024,
        ..Settings::default()
    };
    let limits = Limits { handshake: PATIENCE, head: PATIENCE, ..Limits::default() };
    let cluster = simulated();
    let seen = Flooded { cluster: cluster.clone(), flood: Flood::of(4 * 1024) };
    let gateway = Secured::over(cluster, seen, settings, limits).await;
    gateway.world.run_case("01-basic", 9001).await;
    gateway
}

type Web = WebSocketStream<TlsStream<TcpStream>>;

async fn open(gateway: &Secured<Flooded>, bearer: &str, path: &str) -> Web {
    let mut request = format!("wss://{}{path}", gateway.rest).into_client_request().unwrap();
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let stream = Client::new().connect(gateway.rest).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// Reads a little, then is gone without a word.
async fn vanish(mut logs: Web) {
    for _ in 0..3 {
        assert!(matches!(logs.next().await, Some(Ok(Message::Text(_) | Message::Ping(_)))));
    }
}

/// Has a command read, and is gone before it has read everything.
async fn hang_up(mut shell: Web) {
    for _ in 0..4 {
        let mut frame = vec![104];
        frame.extend(std::iter::repeat_n(b'x', 8 * 1024));
        shell.send(Message::Binary(frame.into())).await.unwrap();
    }
    assert!(shell.next().await.unwrap().is_ok());
}

/// Connections that begin something and never go on.
async fn loris(gateway: &Secured<Flooded>, bearer: &str, round: usize) -> Box<dyn Send> {
    if round.is_multiple_of(3) {
        return Box::new(TcpStream::connect(gateway.rest).await.unwrap());
    }
    let mut stream = Client::new().connect(gateway.rest).await.unwrap();
    let begun = match round % 3 {
        1 => "GET /status HTTP/1.1\r\nhost: x\r\nx-slow: ".to_owned(),
        _ => format!(
            "PUT /deployment/9001/manifest HTTP/1.1\r\nhost: x\r\nauthorization: {bearer}\r\n\
             content-length: 100000\r\n\r\n[{{"
        ),
    };
    stream.write_all(begun.as_bytes()).await.unwrap();
    Box::new(stream)
}

/// Waits until nobody is connected any more, and says what is still there then.
async fn quiet(gateway: &Secured<Flooded>, tasks: usize) -> u64 {
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let quiet = async {
        while gateway.tally.snapshot().open > 0 || alive() > tasks {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE * 20, quiet).await;
    let open = gateway.tally.snapshot().open;
    assert!(waited.is_ok(), "{open} connections and {} tasks, once {tasks}", alive());
    figures::heap()
}

/// One of each kind of bad client, many times at once.
async fn round(gateway: &Secured<Flooded>, bearer: &str, logs: usize, shells: usize) {
    let mut held: Vec<Box<dyn Send>> = Vec::new();
    let mut gone = Vec::new();
    for number in 0..logs {
        let stream = open(gateway, bearer, LOGS).await;
        // Every fourth one never reads.
        match number % 4 {
            0 => held.push(Box::new(stream)),
            _ => gone.push(tokio::spawn(vanish(stream))),
        }
    }
    for _ in 0..shells {
        gone.push(tokio::spawn(hang_up(open(gateway, bearer, SHELL).await)));
    }
    for number in 0..shells {
        held.push(loris(gateway, bearer, number).await);
    }
    let asked = Instant::now();
    let (status, _) = Client::new().get(gateway.rest, "/status").await.unwrap();
    assert_eq!(status, 200);
    assert!(asked.elapsed() < Duration::from_secs(5), "others wait {:?}", asked.elapsed());
    for gone in gone {
        gone.await.unwrap();
    }
    // Those that neither read nor write are left, though they are still there.
    let left = async {
        while gateway.tally.snapshot().open > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let left = tokio::time::timeout(PATIENCE * 20, left).await;
    assert!(left.is_ok(), "{:?} of those who do nothing", gateway.tally.snapshot());
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_clients_of_every_bad_kind_everything_is_as_it_was() {
    let _alone = ALONE.lock().await;
    let gateway = gateway().await;
    let bearer = format!("Bearer {}", token(&account("tenant1"), Access::Full));
    let (logs, shells, rounds) = if full() { (200, 50, 5) } else { (16, 6, 2) };
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    round(&gateway, &bearer, logs, shells).await;
    let before = quiet(&gateway, tasks).await;
    for _ in 0..rounds {
        round(&gateway, &bearer, logs, shells).await;
    }
    let after = quiet(&gateway, tasks).await;
    assert!(after < before + GROWTH, "{before} bytes became {after}");
    let stopped = tokio::time::timeout(Duration::from_secs(1), gateway.gateway.stop()).await;
    assert!(stopped.is_ok(), "a stream is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_hold_next_to_nothing() {
    const SILENT: u64 = 300;
    let _alone = ALONE.lock().await;
    let gateway = gateway().await;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = quiet(&gateway, tasks).await;
    // The heap of this test has nothing of these but the server's ends.
    let connect = |_| std::net::TcpStream::connect(gateway.rest).unwrap();
    let silent: Vec<_> = (0..SILENT).map(connect).collect();
    assert_eq!(Client::new().get(gateway.rest, "/status").await.unwrap().0, 200);
    let each = figures::heap().saturating_sub(before) / SILENT;
    assert!(each < 4 * 1024, "{each} bytes for each");
    drop(silent);
}

/// A token that names another account each time, and that nobody signed.
fn stranger(number: usize) -> String {
    let mut account = [7; 20];
    account[..8].copy_from_slice(&number.to_be_bytes());
    let issuer = akash_types::Address::from_bytes(&account).unwrap();
    let claims = format!(
        r#"{{"iss":"{issuer}","iat":1,"nbf":1,"exp":4102444800,"version":"v1","leases":{{"access":"full"}}}}"#
    );
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let header = encode(br#"{"alg":"ES256K","typ":"JWT"}"#);
    format!("{header}.{}.{}", encode(claims.as_bytes()), encode(&[1; 64]))
}

/// Asks so many times for what is not theirs, with a new connection every hundred times.
async fn strangers(gateway: &Secured<Flooded>, from: usize, count: usize) {
    let client = Client::new();
    let mut stream = client.connect(gateway.rest).await.unwrap();
    for number in from..from + count {
        if number.is_multiple_of(100) {
            stream = client.connect(gateway.rest).await.unwrap();
        }
        let status = match number % 4 {
            0 => get(&mut stream, "/lease/9001/1/1/manifest").await.unwrap().0,
            1 => get(&mut stream, &format!("/lease/{number}/1/1/shell")).await.unwrap().0,
            kind => {
                let bearer = if kind == 2 { stranger(number) } else { format!("x{number}") };
                let path = format!("/deployment/{number}/manifest");
                let request = format!(
                    "PUT {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n\
                     content-length: 2\r\n\r\n[]"
                );
                stream.write_all(request.as_bytes()).await.unwrap();
                read_answer(&mut stream).await.unwrap().0
            }
        };
        assert_eq!(status, 401, "request {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_without_end_leave_memory_flat() {
    let _alone = ALONE.lock().await;
    let gateway = gateway().await;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let each = if full() { 300_000 / 8 } else { 3_000 / 8 };
    // Fills what is remembered of accounts that do not exist.
    let first = each / 3;
    futures_util::future::join_all((0..8).map(|part| strangers(&gateway, part * each, first)))
        .await;
    let before = quiet(&gateway, tasks).await;
    let rest = (0..8).map(|part| strangers(&gateway, part * each + first, each - first));
    futures_util::future::join_all(rest).await;
    let after = quiet(&gateway, tasks).await;
    assert!(after < before + GROWTH, "{before} bytes became {after}");
    assert_eq!(gateway.world.provider.carried_out(), 0);
}
