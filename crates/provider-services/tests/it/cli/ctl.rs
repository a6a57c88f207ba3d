//! `ctl`: what is asked of a provider, and how its answers look. The provider is a fake.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::support::{RECORDED_SDL, Ran, run, run_with, text};

const ORDER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/101/1/1";

/// A socket that hears one question and gives one answer.
struct Fake {
    folder: TempDir,
    heard: JoinHandle<Value>,
}

impl Fake {
    fn answering(answer: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("provider.sock")).unwrap();
        let heard = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
            stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
            serde_json::from_str(&line).unwrap()
        });
        Self { folder, heard }
    }

    /// What the program printed, and what it had asked.
    fn ask(self, args: &[&str], stdin: &[u8]) -> (Ran, Value) {
        let home = ["ctl", "--home", text(self.folder.path())];
        let ran = run_with(&[&home[..], args].concat(), &[], stdin);
        (ran, self.heard.join().unwrap())
    }
}

#[test]
fn each_command_asks_its_question() {
    let lease = format!("{ORDER}/akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8");
    for (args, asked) in [
        (&["drift"][..], json!({"request": "drift"})),
        (&["status"], json!({"request": "status"})),
        (&["bids"], json!({"request": "bids"})),
        (&["leases"], json!({"request": "leases"})),
        (&["why", "101"], json!({"request": "why", "subject": "101"})),
        (&["maintenance", "on"], json!({"request": "maintenance", "on": true})),
        (&["maintenance", "off"], json!({"request": "maintenance", "on": false})),
        (
            &["lease", "close", &lease, "--reason", "unstable"],
            json!({"request": "lease-close", "lease": lease, "reason": "unstable"}),
        ),
        (&["withdraw", "--all"], json!({"request": "withdraw", "lease": null})),
        (&["withdraw", "--lease", "101"], json!({"request": "withdraw", "lease": "101"})),
        (&["breaker-reset"], json!({"request": "breaker-reset"})),
        (&["probe", "isolation"], json!({"request": "probe-isolation", "image": null})),
        (
            &["probe", "isolation", "--probe-image", "busybox:1"],
            json!({"request": "probe-isolation", "image": "busybox:1"}),
        ),
        (
            &["send-manifest", "101", "-"],
            json!({"request": "send-manifest", "subject": "101", "manifest": RECORDED_SDL}),
        ),
    ] {
        let fake = Fake::answering(json!({"answer": "done", "message": "it is done"}));
        let (ran, heard) = fake.ask(args, RECORDED_SDL.as_bytes());
        assert_eq!(heard, asked, "{args:?}");
        assert_eq!(ran.quietly(), "it is done\n");
    }
}

#[test]
fn a_probe_shows_every_attempt_and_fails_on_findings() {
    let attempt = |target: &str, reached: bool| json!({"from_node": "one", "target": target, "address": "10.0.0.1:6443", "reached": reached});
    let answer = |isolated: bool| {
        let attempts = [attempt("api-server", !isolated), attempt("kubelet", false)];
        json!({"answer": "isolation", "isolated": isolated, "attempts": attempts})
    };
    let (ran, _) = Fake::answering(answer(true)).ask(&["probe", "isolation"], b"");
    let printed = ran.quietly();
    assert!(printed.contains("Tenants are isolated") && printed.contains("kubelet"), "{printed}");
    let (ran, _) = Fake::answering(answer(false)).ask(&["probe", "isolation"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("NOT isolated: 1 targets were reached"), "{}", ran.stdout);
    assert!(ran.stdout.contains("REACHED"), "{}", ran.stdout);
}

#[test]
fn decisions_are_shown_to_people_and_to_programs() {
    let answer = json!({"answer": "why", "subjects": [{"subject": ORDER, "decisions": [
        {"height": 7, "time": 1_763_264_245, "decision": "no bid: bidding is paused"},
    ]}]});
    let (ran, _) = Fake::answering(answer.clone()).ask(&["why", ORDER], b"");
    let people = ran.quietly();
    assert!(people.starts_with(ORDER), "{people}");
    assert!(people.contains("2025-11-16 03:37:25  no bid: bidding is paused"), "{people}");
    let (ran, _) = Fake::answering(answer.clone()).ask(&["why", ORDER, "-o", "json"], b"");
    assert_eq!(serde_json::from_str::<Value>(&ran.quietly()).unwrap(), answer);
}

#[test]
fn a_refusal_is_an_error_with_what_would_help() {
    let answer = json!({"answer": "error", "message": "there is no lease 5", "hint": "see leases"});
    let (ran, _) = Fake::answering(answer).ask(&["withdraw", "--lease", "5"], b"");
    assert_eq!(ran.refused(), "Error: there is no lease 5; see leases\n");
    let (ran, _) = Fake::answering(json!({"answer": "song"})).ask(&["status"], b"");
    assert!(ran.refused().contains("cannot be read; is it of another version?"));
}

#[test]
fn without_a_provider_it_is_said_how_to_start_one() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let args = ["ctl", "status", "--socket", text(&socket)];
    let stderr = run(&args).refused();
    assert!(stderr.contains("start it with `provider-services run`"), "{stderr}");
    // One that was killed leaves its socket behind.
    drop(UnixListener::bind(&socket).unwrap());
    let stderr = run(&args).refused();
    assert!(stderr.contains("no provider listens at"), "{stderr}");
}

#[test]
fn what_cannot_be_meant_is_refused_before_it_is_asked() {
    for (args, wanted) in [
        (&["lease", "close", "101"][..], "--reason"),
        (&["lease", "close", "101", "--reason", "spite"], "is not a reason"),
        (&["withdraw"], "--lease"),
        (&["withdraw", "--all", "--lease", "101"], "cannot be used"),
        (&["maintenance", "perhaps"], "perhaps"),
    ] {
        let stderr = run(&[&["ctl"], args].concat()).refused();
        assert!(stderr.contains(wanted), "{stderr}");
    }
}
