//! The tenant's commands, asked of a provider that answers as recorded, print what the Go program
//! printed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::LazyLock;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

use crate::cli::support::{RECORDED_SDL, Ran, repository, run, run_with, text};
use crate::cli::tx::{PROVIDER, TENANT};

/// A home with the key of the tenant that was recorded.
static HOME: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let home = tempfile::tempdir().unwrap();
    let keys = std::fs::read_to_string(repository("fixtures/chain/throwaway-keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let words = keys["tenant1"]["mnemonic"].as_str().unwrap();
    let add = ["keys", "add", "tenant1", "--recover", "--keyring-backend", "test", "--home"];
    let ran = run_with(&[&add[..], &[text(home.path())]].concat(), &[], words.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    std::fs::write(home.path().join("sdl.yaml"), RECORDED_SDL).unwrap();
    home
});

/// What the Go program was asked and what it said.
struct Recorded {
    args: Vec<String>,
    code: i32,
    stdout: String,
    stderr: String,
}

fn recorded(name: &str) -> Recorded {
    let file = repository("fixtures/gateway/cli").join(format!("{name}.txt"));
    let whole = std::fs::read_to_string(file).unwrap();
    let (head, rest) = whole.split_once("--- exit\n").unwrap();
    let (code, rest) = rest.split_once("\n--- seconds\n").unwrap();
    let (_, rest) = rest.split_once("--- stdout\n").unwrap();
    let (stdout, stderr) = rest.split_once("--- stderr\n").unwrap();
    let line = head.trim().strip_prefix("$ provider-services ").unwrap();
    Recorded {
        args: line.split(' ').map(str::to_owned).collect(),
        code: code.parse().unwrap(),
        stdout: stdout.to_owned(),
        stderr: stderr.trim_end_matches('\n').to_owned(),
    }
}

/// The same command, asked of a provider at `address` and of no node.
fn ours(recorded: &Recorded, address: &str) -> Ran {
    let url = format!("http://{address}");
    let mut args = recorded.args.clone();
    for (name, value) in [("--home", text(HOME.path())), ("--provider-url", &url)] {
        if let Some(at) = args.iter().position(|arg| arg == name) {
            args[at + 1] = value.to_owned();
        }
    }
    for arg in &mut args {
        match arg.as_str() {
            "sdl.yaml" => *arg = text(&HOME.path().join("sdl.yaml")).to_owned(),
            // A certificate is looked at in a handshake, and there is none.
            "mtls" => *arg = "jwt".to_owned(),
            _ => {}
        }
    }
    let words = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    args.insert(words, "--offline".to_owned());
    run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[track_caller]
fn assert_same(name: &str, recorded: &Recorded, ran: &Ran) {
    assert_eq!(ran.stdout, recorded.stdout, "{name}");
    assert_eq!(ran.code, recorded.code, "{name}: {}", ran.stderr);
    let stderr = ran.stderr.lines().filter(|line| !line.starts_with("hint: "));
    let stderr = stderr.collect::<Vec<_>>().join("\n");
    assert_eq!(stderr, recorded.stderr, "{name}");
}

/// A provider that answers one request; what it was asked.
fn answering(status: &str, body: String) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let asked = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let request = request(&mut stream);
        stream.write_all(answer.as_bytes()).unwrap();
        request
    });
    (address, asked)
}

fn request(stream: &mut TcpStream) -> String {
    let (mut request, mut piece) = (String::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).unwrap();
        request.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse::<usize>().unwrap());
        if count == 0 || body.len() >= length {
            return request;
        }
    }
}

/// An answer of the Go provider: its status and its body.
fn recorded_answer(name: &str) -> (String, String) {
    let file = repository("fixtures/gateway/rest").join(format!("{name}.http"));
    let whole = std::fs::read_to_string(file).unwrap().replace("\r\n", "\n");
    let (_, answer) = whole.split_once("\n\n").unwrap();
    let (head, body) = answer.split_once("\n\n").unwrap();
    let status = head.lines().next().unwrap().strip_prefix("HTTP/1.1 ").unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length = length.map_or(body.len(), |length| length.parse().unwrap());
    (status.to_owned(), body[..length].to_owned())
}

#[test]
fn answers_are_printed_as_the_go_program_printed_them() {
    for (command, answer, asked) in [
        ("lease-status-2svc-mtls", "lease-status-2svc-mtls", "GET /lease/9002/1/1/status "),
        ("lease-status-unknown", "lease-status-unknown-jwt", "GET /lease/424242/1/1/status "),
        ("service-status-jwt", "service-status-mtls", "GET /lease/9001/1/1/service/web/status "),
        ("service-status-mtls", "service-status-mtls", "GET /lease/9001/1/1/service/web/status "),
        ("send-manifest-json-jwt", "put-manifest-same-jwt", "PUT /deployment/9001/manifest "),
        ("send-manifest-yaml-jwt", "put-manifest-same-jwt", "PUT /deployment/9001/manifest "),
        ("send-manifest-text-jwt", "put-manifest-same-jwt", "PUT /deployment/9001/manifest "),
        ("send-manifest-text-mtls", "put-manifest-same-mtls", "PUT /deployment/9001/manifest "),
        (
            "send-manifest-fail-hash-text",
            "put-manifest-wrong-hash",
            "PUT /deployment/9001/manifest ",
        ),
        ("migrate-hostnames-ok", "migrate-same-lease-ok", "POST /hostname/migrate "),
    ] {
        let recorded = recorded(command);
        let (status, body) = recorded_answer(answer);
        let (address, heard) = answering(&status, body);
        let ran = ours(&recorded, &address);
        assert_same(command, &recorded, &ran);
        let heard = heard.join().unwrap();
        assert!(heard.starts_with(asked), "{command}: {heard}");
        assert!(heard.to_ascii_lowercase().contains("\r\nauthorization: bearer ey"), "{heard}");
    }
}

#[test]
fn other_refusals_are_told_as_the_go_program_told_them() {
    let unknown = "rpc error: code = NotFound desc = Deployment not found: key not found\n";
    for (command, status, body) in [
        ("service-status-unknown", "404 Not Found", "kube: no service for that lease\n"),
        ("send-manifest-fail-unknown-dseq-yaml", "500 Internal Server Error", unknown),
    ] {
        let recorded = recorded(command);
        let (address, _) = answering(status, body.to_owned());
        assert_same(command, &recorded, &ours(&recorded, &address));
    }
}

#[test]
fn the_status_of_a_provider_is_printed_without_its_address() {
    let recorded = recorded("status");
    let mut document: Value = serde_json::from_str(&recorded.stdout).unwrap();
    document["address"] = json!(PROVIDER);
    let (address, heard) = answering("200 OK", document.to_string());
    assert_same("status", &recorded, &ours(&recorded, &address));
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("GET /status ") && !heard.contains("uthorization"), "{heard}");
}

#[test]
fn mistakes_that_the_go_program_refuses_are_refused() {
    for (command, wanted) in [
        ("status-noargs", "required arguments were not provided"),
        ("status-bad-addr", "akash1xyz"),
        ("lease-status-bad-auth", "invalid gateway auth type foo. supported are jwt|mtls"),
        ("lease-shell-nocmd", "<COMMAND>"),
        ("lease-shell-exit3", "unexpected argument '-c'"),
        ("lease-shell-tty-notty", "Error: input is not a terminal, cannot setup TTY\n"),
        // There it was sent, and nothing was said.
        ("send-manifest-bad-output", "invalid value 'xml'"),
    ] {
        let stderr = ours(&recorded(command), "127.0.0.1:9").refused();
        assert!(stderr.contains(wanted), "{command}: {stderr}");
    }
}

#[test]
fn a_provider_that_is_not_there_is_told_with_what_to_do() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for command in ["status-refused", "lease-status-unknown", "lease-logs-unknown"] {
        let stderr = ours(&recorded(command), &free).refused();
        assert!(stderr.contains("hint: the provider cannot be reached"), "{command}: {stderr}");
    }
}

/// A provider that streams; with what it was asked.
fn streaming(frames: Vec<Message>, close: Option<(u16, &str)>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let close = close.map(|(code, reason)| CloseFrame { code: code.into(), reason: reason.into() });
    let asked = std::thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        let mut asked = String::new();
        #[allow(clippy::result_large_err, reason = "the library's")]
        let note = |request: &Request, response: Response| {
            asked = request.uri().to_string();
            Ok(response)
        };
        let mut socket = accept_hdr(stream, note).unwrap();
        for frame in frames {
            socket.send(frame).unwrap();
        }
        match close {
            Some(_) => socket.close(close).unwrap(),
            // As the Go provider leaves: without a word.
            None => socket.get_mut().shutdown(std::net::Shutdown::Write).unwrap(),
        }
        while socket.read().is_ok() {}
        asked
    });
    (address, asked)
}

#[test]
fn events_are_printed_as_the_go_program_printed_them() {
    let recorded = recorded("lease-events-jwt");
    let documents = serde_json::Deserializer::from_str(&recorded.stdout).into_iter::<Value>();
    let frames = documents.map(|document| {
        let mut document = document.unwrap();
        document.as_object_mut().unwrap().remove("lease_id");
        Message::text(format!("{document}\n"))
    });
    let (address, asked) = streaming(frames.collect(), Some((1000, "")));
    assert_same("lease-events-jwt", &recorded, &ours(&recorded, &address));
    assert_eq!(asked.join().unwrap(), "/lease/9001/1/1/kubeevents?follow=false");
}

fn lease_logs(args: &[&str], address: &str) -> Ran {
    let mut recorded = recorded("lease-logs-unknown");
    recorded.args.extend(args.iter().map(|arg| (*arg).to_owned()));
    ours(&recorded, address)
}

#[test]
fn lines_carry_lease_and_replica_and_flags_reach_the_provider() {
    let frame = || vec![Message::text("{\"name\":\"web-7cb-4km\",\"message\":\"a < b\"}\n")];
    let (address, asked) = streaming(frame(), None);
    let ran = lease_logs(&["--service", "web,db", "--tail", "5", "-f"], &address);
    let lease = format!("{TENANT}/424242/1/1/{PROVIDER}");
    assert_eq!(ran.quietly(), format!("[{lease}][web-7cb-4km] a < b\n"));
    let asked = asked.join().unwrap();
    assert_eq!(asked, "/lease/424242/1/1/logs?follow=true&tail=5&service=web%2Cdb");

    let (address, _) = streaming(frame(), Some((1000, "")));
    let printed = lease_logs(&["-o", "json"], &address).quietly();
    let head =
        "{\n  \"name\": \"web-7cb-4km\",\n  \"message\": \"a \\u003c b\",\n  \"lease_id\": {\n";
    assert!(printed.starts_with(head), "{printed}");
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["lease_id"]["dseq"], 424_242);
    assert_eq!(document["lease_id"]["bseq"], 0);
}

#[test]
fn a_lease_that_a_provider_does_not_know_is_said_to_be_so() {
    for command in ["lease-logs-unknown", "lease-events-unknown"] {
        let recorded = recorded(command);
        let (address, _) = streaming(vec![], Some((4001, "")));
        let ran = ours(&recorded, &address);
        assert_eq!((ran.code, ran.stdout.as_str()), (recorded.code, ""));
        assert!(ran.stderr.contains("the provider knows no such lease"), "{}", ran.stderr);
    }
}

/// What the Go provider sends for a command.
fn shell_frames(stdout: &str, result: &str) -> Vec<Message> {
    let frame = |code: u8, text: &str| Message::binary([&[code], text.as_bytes()].concat());
    let result = frame(102, &format!("{result}\n"));
    if stdout.is_empty() { vec![result] } else { vec![frame(100, stdout), result] }
}

#[test]
fn commands_end_as_they_did_with_the_go_program() {
    let prefix = r#"{"exit_code":0,"message":"remote command execute error: "#;
    for (command, stdout, result, asked) in [
        (
            "lease-shell-exit3-dashdash",
            "",
            r#"{"exit_code":3}"#.to_owned(),
            "cmd0=sh&cmd1=-c&cmd2=exit&cmd3=3&tty=0&service=web&stdin=0&podIndex=0",
        ),
        (
            "lease-shell-replica1",
            "web-76d55b877d-l28c8\n",
            r#"{"exit_code":0}"#.to_owned(),
            "cmd0=hostname&tty=0&service=web&stdin=0&podIndex=1",
        ),
        (
            "lease-shell-replica9",
            "",
            format!(r#"{prefix}pod index out of range: valid range is [0, 1]"}}"#),
            "cmd0=hostname&tty=0&service=web&stdin=0&podIndex=9",
        ),
        (
            "lease-shell-unknown-cmd",
            "",
            format!(r#"{prefix}command could not be executed because it does not exist"}}"#),
            "cmd0=nosuchcmd&tty=0&service=web&stdin=0&podIndex=0",
        ),
        (
            "lease-shell-unknown-svc",
            "",
            r#"{"exit_code":0,"message":"kube: no service for that lease"}"#.to_owned(),
            "cmd0=echo&cmd1=hi&tty=0&service=nope&stdin=0&podIndex=0",
        ),
        (
            "lease-shell-unknown-lease",
            "",
            r#"{"exit_code":0}"#.to_owned(),
            "cmd0=echo&cmd1=hi&tty=0&service=web&stdin=0&podIndex=0",
        ),
    ] {
        let recorded = recorded(command);
        let (address, heard) = streaming(shell_frames(stdout, &result), None);
        assert_same(command, &recorded, &ours(&recorded, &address));
        let heard = heard.join().unwrap();
        assert!(heard.ends_with(&format!("/1/1/shell?{asked}")), "{command}: {heard}");
    }
}

#[test]
fn a_connection_that_is_lost_is_not_taken_for_an_end() {
    let (address, _) = streaming(vec![], None);
    let stderr = ours(&recorded("lease-shell-replica1"), &address).refused();
    assert!(stderr.contains("the connection ended before the command did"), "{stderr}");
}

#[test]
fn a_manifest_is_printed_as_sdls_are() {
    let (status, body) = recorded_answer("get-manifest-mtls");
    for (command, format) in [("get-manifest-json", "json"), ("get-manifest-yaml-mtls", "yaml")] {
        let (address, heard) = answering(&status, body.clone());
        let printed = ours(&recorded(command), &address).quietly();
        assert!(heard.join().unwrap().starts_with("GET /lease/9001/1/1/manifest "));
        let wanted = if format == "json" { "[\n  {\n    \"name\": " } else { "- name: " };
        assert!(printed.starts_with(wanted), "{printed}");
        assert!(printed.contains("localhost/busybox:bed"), "{printed}");
    }
}

#[test]
fn a_namespace_is_that_of_the_recorded_lease() {
    let file = repository("fixtures/kubernetes/01-basic/lease.json");
    let lease: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let dseq = lease["dseq"].to_string();
    for name in ["show-cluster-ns", "cluster-ns"] {
        let args = [name, "--owner", TENANT, "--dseq", &dseq, "--provider", PROVIDER];
        let printed = run(&args).quietly();
        assert_eq!(Some(printed.trim_end()), lease["namespace"].as_str());
    }
}
