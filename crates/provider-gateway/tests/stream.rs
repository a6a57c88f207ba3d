//! Logs, events and shells over real sockets, compared with what a Go provider sent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{World, case, fixture, lease, simulated};
use futures_util::{SinkExt, StreamExt};
use provider_api::client::ClientError;
use provider_api::query::{ShellParams, StreamParams};
use provider_api::stream::{ClientFrame, CloseCode, ServerFrame, ShellResult};
use provider_engine::cluster::port::{LogLines, LogPart, ReadFailure};
use provider_gateway::Settings;
use provider_sim::core::Disturbance;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

mod flood;

/// A recorded conversation.
struct Recording {
    path: String,
    token: String,
    /// HTTP status of the answer to the handshake.
    status: u16,
    /// What was said, in order.
    frames: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Frame {
    Sent(u8, Vec<u8>),
    Received(u8, Vec<u8>),
    /// The provider left without a word.
    Left,
}

fn recording(name: &str) -> Recording {
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

type Socket = WebSocketStream<TcpStream>;

async fn open<C: provider_engine::cluster::port::Cluster>(
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

async fn receive(socket: &mut Socket) -> Frame {
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

async fn replay(world: &World, name: &str) {
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

#[tokio::test(flavor = "multi_thread")]
async fn conversations_go_as_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    for name in [
        "logs-noauth",
        "logs-other-tenant",
        "logs-unknown-lease",
        "logs-unknown-service",
        "shell-scoped-logs-token",
        "shell-exit3",
        "shell-mtls",
        "shell-podindex-9",
        "shell-unknown-service",
    ] {
        replay(&world, name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_a_replica_takes_no_command() {
    let world = World::start().await;
    let (mut manifest, sdl) = case("06-gpu");
    manifest.groups[0].services[0].image = "example/web:missing".to_owned();
    world.provider.lease(lease(9006), &manifest, sdl.groups());
    world.deploy(9006, &manifest).await;
    replay(&world, "shell-pending").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_lines_of_replicas_and_end_properly() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let client = world.client("full");
    let mut logs = client.logs(lease(9002), &StreamParams::default()).await.unwrap();
    let mut names = std::collections::BTreeSet::new();
    while let Some(line) = logs.next().await.unwrap() {
        assert!(!line.marker && !line.continues, "{line:?}");
        names.insert(line.name.split('-').next().unwrap().to_owned());
    }
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["db", "web"]);
    assert_eq!(logs.end().unwrap().code, Some(CloseCode::Done));

    let only = StreamParams { services: vec!["db".to_owned()], tail: Some(1), follow: false };
    let mut logs = client.logs(lease(9002), &only).await.unwrap();
    assert!(logs.next().await.unwrap().unwrap().name.starts_with("db-"));
    assert_eq!(logs.next().await.unwrap(), None);

    let none = StreamParams { tail: Some(0), ..StreamParams::default() };
    let mut logs = client.logs(lease(9002), &none).await.unwrap();
    assert_eq!(logs.next().await.unwrap(), None);

    let limited = world.client("granular-svc");
    let mut logs = limited.logs(lease(9002), &StreamParams::default()).await.unwrap();
    while let Some(line) = logs.next().await.unwrap() {
        assert!(line.name.starts_with("web-"), "{line:?}");
    }
    let refused = limited.logs(lease(9002), &only).await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { status: 401, .. }), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_have_the_recorded_form_and_end_with_1000() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let recording = recording("kubeevents-mtls");
    let keys = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.ends_with("}\n"), "{text:?}");
        let event: serde_json::Value = serde_json::from_str(text).unwrap();
        let object = event.as_object().unwrap();
        assert!(object["object"].as_object().unwrap().contains_key("namespace"));
        ["type", "reason", "note", "object"].map(|key| object.contains_key(key))
    };
    let mut socket = open(&world, &recording.path, "full").await.unwrap();
    let mut count = 0;
    loop {
        match receive(&mut socket).await {
            Frame::Received(1, bytes) => assert_eq!(keys(&bytes), [true; 4]),
            frame => {
                assert_eq!(Some(&frame), recording.frames.last());
                break;
            }
        }
        count += 1;
    }
    assert!(count > 4, "{count} events");
    for frame in recording.frames {
        if let Frame::Received(1, bytes) = frame {
            assert_eq!(keys(&bytes), [true; 4]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_any_length_arrives_whole() {
    let world = World::start().await;
    let (mut manifest, sdl) = case("01-basic");
    manifest.groups[0].services[0].image = "example/web:long".to_owned();
    world.provider.lease(lease(9001), &manifest, sdl.groups());
    world.deploy(9001, &manifest).await;
    world.settled(9001).await;
    let mut logs = world.client("full").logs(lease(9001), &StreamParams::default()).await.unwrap();
    let (mut longest, mut pieces, mut line) = (0, 0, String::new());
    while let Some(frame) = logs.next().await.unwrap() {
        line.push_str(&frame.message);
        pieces += 1;
        if !frame.continues {
            longest = longest.max(line.len());
            line.clear();
        }
    }
    assert!(longest >= 1 << 20, "{longest} bytes in {pieces} frames");
    assert!(pieces >= 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_is_led_through_the_end_of_a_container() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let follow = StreamParams { follow: true, ..StreamParams::default() };
    let mut logs = world.client("full").logs(lease(9001), &follow).await.unwrap();
    assert!(!logs.next().await.unwrap().unwrap().marker);
    world.cluster.disturb(Disturbance::KillContainers { per_mille: 1000 }).await.unwrap();
    let mut marked = false;
    loop {
        let line = logs.next().await.unwrap().expect("the stream ended");
        if line.marker {
            assert!(line.message.starts_with("[provider] "), "{line:?}");
            marked = true;
        } else if marked {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pings_come_whether_or_not_they_are_answered() {
    let settings = Settings { ping: Duration::from_millis(100), ..Settings::default() };
    let world = World::with(settings).await;
    world.run_case("01-basic", 9001).await;
    // The socket is only read, so no pong is ever written.
    let mut socket = open(&world, "/lease/9001/1/1/kubeevents?follow=true", "full").await.unwrap();
    let mut pings = 0;
    while pings < 5 {
        if let Frame::Received(9, payload) = receive(&mut socket).await {
            assert!(payload.is_empty());
            pings += 1;
        }
    }
    let path = "/lease/9001/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0";
    let mut socket = open(&world, path, "full").await.unwrap();
    assert_eq!(receive(&mut socket).await, Frame::Received(9, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_ends_takes_its_streams_along() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let client = world.client("full");
    let follow = StreamParams { follow: true, ..StreamParams::default() };
    let mut logs = client.logs(lease(9001), &follow).await.unwrap();
    let mut events = client.events(lease(9001), &follow).await.unwrap();
    let mut shell = client.shell(lease(9001), &command(&["cat"], true)).await.unwrap();
    logs.next().await.unwrap().unwrap();
    events.next().await.unwrap().unwrap();
    world.provider.close(lease(9001));
    while logs.next().await.unwrap().is_some() {}
    while events.next().await.unwrap().is_some() {}
    for end in [logs.end().unwrap(), events.end().unwrap()] {
        assert_eq!((end.code, end.reason.as_str()), (Some(CloseCode::LeaseClosed), "lease-closed"));
    }
    let told = shell.output.next().await.unwrap().unwrap();
    let closed = ShellResult { exit_code: 1, message: "the lease is closed".to_owned() };
    assert_eq!(told, ServerFrame::Result(closed));
    let end = shell.output.next().await.unwrap().unwrap_err();
    assert_eq!(end.code, Some(CloseCode::LeaseClosed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_ends_its_streams() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let follow = StreamParams { follow: true, ..StreamParams::default() };
    let mut logs = world.client("full").logs(lease(9001), &follow).await.unwrap();
    let stopping = tokio::spawn({
        let gateway = world.gateway.clone();
        async move { gateway.stop().await }
    });
    while logs.next().await.unwrap().is_some() {}
    assert_eq!(logs.end().unwrap().code, Some(CloseCode::Stopping));
    tokio::time::timeout(Duration::from_secs(5), stopping).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_bounded_in_number() {
    let world = World::with(Settings { streams: 1, ..Settings::default() }).await;
    world.run_case("01-basic", 9001).await;
    let client = world.client("full");
    let follow = StreamParams { follow: true, ..StreamParams::default() };
    let first = client.logs(lease(9001), &follow).await.unwrap();
    let second = client.logs(lease(9001), &follow).await.unwrap_err();
    assert!(matches!(second, ClientError::Refused { status: 503, .. }), "{second:?}");
    first.close().await;
    for _ in 0..100 {
        if client.logs(lease(9001), &follow).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place of a stream that ended is not given to another");
}

fn command(words: &[&str], stdin: bool) -> ShellParams {
    ShellParams {
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        service: "web".to_owned(),
        replica: 0,
        tty: false,
        stdin,
    }
}

async fn output(shell: &mut provider_api::client::Shell) -> (String, ShellResult) {
    let mut written = String::new();
    loop {
        match shell.output.next().await.unwrap().expect("no result") {
            ServerFrame::Stdout(bytes) | ServerFrame::Stderr(bytes) => {
                written.push_str(std::str::from_utf8(&bytes).unwrap());
            }
            ServerFrame::Result(result) => return (written, result),
            ServerFrame::Failure => panic!("failure"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_to_the_end_of_its_input() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let mut shell =
        world.client("full").shell(lease(9001), &command(&["cat"], true)).await.unwrap();
    // What is sent before the command runs is not lost either.
    for part in ["abc\n", "def\n"] {
        shell.input.send(&ClientFrame::Stdin(part.into())).await.unwrap();
    }
    shell.input.send(&ClientFrame::EndOfStdin).await.unwrap();
    let (written, result) = output(&mut shell).await;
    assert_eq!((written.as_str(), result), ("abc\ndef\n", ShellResult::default()));
    let end = shell.output.next().await.unwrap().unwrap_err();
    assert_eq!(end.code, Some(CloseCode::Done));
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_make_no_sense_change_nothing() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let path = "/lease/9001/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0";
    let mut socket = open(&world, path, "full").await.unwrap();
    for nonsense in [&b""[..], b"zzz", b"i\x00"] {
        socket.send(Message::Binary(nonsense.to_vec().into())).await.unwrap();
    }
    socket.send(Message::Text("h not binary".into())).await.unwrap();
    socket.send(Message::Binary(b"habc\n".to_vec().into())).await.unwrap();
    assert_eq!(receive(&mut socket).await, Frame::Received(2, b"dabc\n".to_vec()));
    // A client's farewell is answered with the same.
    let farewell = tokio_tungstenite::tungstenite::protocol::CloseFrame {
        code: 4321.into(),
        reason: "".into(),
    };
    socket.close(Some(farewell)).await.unwrap();
    let answer = Frame::Received(8, 4321_u16.to_be_bytes().to_vec());
    assert_eq!(receive(&mut socket).await, answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_success_is_told_as_none() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let client = world.client("full");
    let mut shell = client.shell(lease(424_242), &command(&["id"], false)).await.unwrap();
    let (_, result) = output(&mut shell).await;
    assert_eq!((result.exit_code, result.message.as_str()), (1, "kube: lease not found"));
    let mut shell = client.shell(lease(9001), &command(&["nope"], false)).await.unwrap();
    let (_, result) = output(&mut shell).await;
    assert_eq!(result.exit_code, 127);
    assert!(result.message.ends_with("because it does not exist"), "{}", result.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_the_size_that_it_is_told() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let params = ShellParams { tty: true, ..command(&["sh"], true) };
    let mut shell = world.client("full").shell(lease(9001), &params).await.unwrap();
    shell.input.send(&ClientFrame::Resize { width: 120, height: 40 }).await.unwrap();
    shell.input.send(&ClientFrame::Stdin("exit 7\n".into())).await.unwrap();
    let (written, result) = output(&mut shell).await;
    assert_eq!(result.exit_code, 7, "{written}");
    assert!(written.contains("SIMULATED"), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_chosen_by_their_place() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let client = world.client("full");
    let mut names = Vec::new();
    for replica in [0, 1] {
        let params = ShellParams { replica, ..command(&["hostname"], false) };
        let mut shell = client.shell(lease(9002), &params).await.unwrap();
        let (written, result) = output(&mut shell).await;
        assert_eq!(result, ShellResult::default());
        names.push(written);
    }
    assert!(names[0] < names[1], "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("web-")), "{names:?}");
}

/// Lines without an end, and how many were taken.
#[derive(Clone, Default)]
pub(crate) struct Flood(Arc<AtomicUsize>);

impl LogLines for Flood {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Ok(Some(LogPart::Text {
            service: "web".to_owned(),
            replica: "web-0".to_owned(),
            text: "x".repeat(16 * 1024),
            continues: false,
        }))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_read_nothing_for() {
    let patience = Duration::from_secs(2);
    let settings = Settings { write_patience: patience, ..Settings::default() };
    let (cluster, flood) = (simulated(), Flood::default());
    let seen = flood::Flooded { cluster: cluster.clone(), flood: flood.clone() };
    let world = World::over(cluster, seen, settings).await;
    world.run_case("01-basic", 9001).await;
    let mut socket = open(&world, "/lease/9001/1/1/logs?follow=true", "full").await.unwrap();
    let taken = || flood.0.load(Ordering::Relaxed);
    let mut before = 0;
    // Until nothing more is taken: what fits into the sockets between.
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if taken() == before && before > 0 {
            break;
        }
        before = taken();
    }
    assert!(before < 64 * 1024 / 16, "{before} lines of 16 KiB wait for somebody to read them");
    // Reading goes on where it stopped, and nothing is missing.
    let line = receive(&mut socket).await;
    assert!(matches!(line, Frame::Received(1, _)), "{line:?}");
    // Who goes on not reading is left.
    drop(line);
    tokio::time::sleep(patience * 3).await;
    let mut rest = 0;
    while let Frame::Received(1, _) = receive(&mut socket).await {
        rest += 1;
    }
    assert!(rest > 0);
    let after = taken();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(taken(), after);
}
