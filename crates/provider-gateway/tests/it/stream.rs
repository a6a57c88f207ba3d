//! Logs and events over real sockets, compared with what a Go provider sent.

use std::time::Duration;

use provider_api::client::ClientError;
use provider_api::query::StreamParams;
use provider_api::stream::{CloseCode, ServerFrame, ShellResult};
use provider_gateway::Settings;
use provider_sim::core::Disturbance;

use crate::common::{
    World, case, lease, simulated,
    ws::{Frame, command, open, receive, recording, replay},
};
use crate::flood::{self, Flood};

#[tokio::test(flavor = "multi_thread")]
async fn conversations_go_as_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    for name in ["logs-noauth", "logs-other-tenant", "logs-unknown-lease", "logs-unknown-service"] {
        replay(&world, name).await;
    }
}

/// Of which service a line is, and what else a frame of a log has.
fn shape(bytes: &[u8]) -> (String, Vec<String>) {
    assert!(bytes.ends_with(b"}\n"), "{bytes:?}");
    let line: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    let service = line["name"].as_str().unwrap().split('-').next().unwrap().to_owned();
    (service, line.as_object().unwrap().keys().cloned().collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_of_the_services_and_in_the_form_that_were_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    world.run_case("02-two-services", 9002).await;
    for name in ["logs-nofollow", "logs-mtls", "logs-service", "logs-services-csv"] {
        let recording = recording(name);
        let lines = recording.frames.iter().filter_map(|frame| match frame {
            Frame::Received(1, bytes) => Some(shape(bytes)),
            _ => None,
        });
        let recorded: std::collections::BTreeSet<_> = lines.collect();
        assert!(!recorded.is_empty(), "{name}");
        let mut socket = open(&world, &recording.path, &recording.token).await.unwrap();
        let mut told = std::collections::BTreeSet::new();
        let end = loop {
            match receive(&mut socket).await {
                Frame::Received(1, bytes) => told.insert(shape(&bytes)),
                end => break end,
            };
        };
        assert_eq!(told, recorded, "{name}");
        // Existing providers leave without a word.
        assert_eq!(end, Frame::Received(8, vec![3, 0xe8]), "{name}");
    }
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
    let mut lines = 0;
    while let Some(line) = logs.next().await.unwrap() {
        assert!(line.name.starts_with("web-"), "{line:?}");
        lines += 1;
    }
    assert!(lines > 0, "what the token allows is shown");
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
async fn must_match_pings_come_within_the_15_s_of_go_clients_answered_or_not_beside_log_lines() {
    // A Go client gives up 15 s after the last ping, whatever else it received.
    let usual = Settings::default().ping;
    assert!(usual <= Duration::from_secs(10), "{usual:?}");
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
    let mut socket = open(&world, "/lease/9001/1/1/logs?follow=true", "full").await.unwrap();
    let (mut pings, mut lines) = (0, 0);
    while pings < 2 || lines < 1 {
        match receive(&mut socket).await {
            Frame::Received(9, _) => pings += 1,
            Frame::Received(..) => lines += 1,
            ended => panic!("{ended:?}"),
        }
    }
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

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_read_nothing_for() {
    let patience = Duration::from_secs(2);
    let settings = Settings { write_patience: patience, ..Settings::default() };
    let (cluster, flood) = (simulated(), Flood::of(16 * 1024));
    let seen = flood::Flooded { cluster: cluster.clone(), flood: flood.clone() };
    let world = World::over(cluster, seen, settings).await;
    world.run_case("01-basic", 9001).await;
    let mut socket = open(&world, "/lease/9001/1/1/logs?follow=true", "full").await.unwrap();
    let taken = || flood.taken();
    let mut before = 0;
    // Until nothing more is taken: what fits into the sockets between.
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if taken() == before && before > 0 {
            break;
        }
        before = taken();
    }
    // Next to all of it is in the sockets, where the system bounds it; `pump` has a test without.
    assert!(before < 4 * 1024 / 16, "{before} lines of 16 KiB wait for somebody to read them");
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
