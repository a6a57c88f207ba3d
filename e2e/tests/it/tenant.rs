//! A tenant from an SDL to the end of its lease, through the program alone.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use e2e::network::{Network, Settings, wait_until};
use e2e::program::{self, Process};
use serde_json::Value;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);

fn sdl(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    path.to_str().unwrap().to_owned()
}

fn started(folder: &Path) -> Network {
    let mut network = Network::start(folder, Settings::default()).unwrap();
    network.start_provider().unwrap();
    network.open_gateway().unwrap();
    network
}

fn tenant(network: &Network, args: &[&str]) -> anyhow::Result<String> {
    network.run(&[args, &["--from", "tenant"]].concat())
}

fn deployed(network: &Network, args: &[&str]) -> Value {
    let deploy = ["deploy", "--pick", "cheapest", "--bid-wait", "0", "-o", "json"];
    let printed = tenant(network, &[&deploy, args].concat()).unwrap();
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn every_command_works_by_token_and_by_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let network = started(folder.path());
    let hosts = sdl("hostnames.yaml");
    let document = deployed(&network, &[&hosts, "--dseq", "7", "--auth-type", "mtls"]);
    assert_eq!(document["dseq"], 7);
    assert_eq!(document["state"], "running");
    let service = &document["leases"][0]["services"][0];
    assert_eq!((&service["available"], &service["total"]), (&Value::from(2), &Value::from(2)));
    let urls = service["urls"].to_string();
    assert!(urls.contains("http://www.example.com"), "{urls}");

    hostnames_are_screened(&network, &hosts);
    for auth in ["jwt", "mtls"] {
        let run = |args: &[&str]| {
            tenant(&network, &[args, &["--dseq", "7", "--auth-type", auth]].concat())
                .unwrap_or_else(|error| panic!("{auth}: {error:#}"))
        };
        let status: Value = serde_json::from_str(&run(&["lease-status"])).unwrap();
        assert_eq!(status["services"]["web"]["available"], 2);
        assert!(!status.to_string().contains("\"detail\""), "the Go program shows none");
        let status: Value = serde_json::from_str(&run(&["lease-status", "--detail"])).unwrap();
        assert_eq!(status["services"]["web"]["detail"]["phase"], "ready");
        let status: Value =
            serde_json::from_str(&run(&["service-status", "--service", "web"])).unwrap();
        assert_eq!(status["name"], "web");
        let logs = run(&["lease-logs", "--tail", "1"]);
        assert_eq!(logs.lines().count(), 2, "{logs}");
        assert!(run(&["lease-events"]).contains("\"reason\": \"Started\""));
        assert!(run(&["lease-shell", "web", "hostname"]).starts_with("web-"));
        assert!(run(&["get-manifest"]).contains("nginx-unprivileged"));
        assert!(run(&["send-manifest", &hosts]).contains("status:       PASS"));
    }
    let shell =
        ["lease-shell", "--from", "tenant", "--dseq", "7", "--", "web", "sh", "-c", "exit 3"];
    let refused = network.run(&shell);
    assert!(format!("{:#}", refused.unwrap_err()).contains("remote process exited with code 3"));

    wait_until("how long its account pays", LONG, || {
        let status = tenant(&network, &["lease-status", "--dseq", "7", "--detail"])?;
        let funds = serde_json::from_str::<Value>(&status)?["funds"].clone();
        let is_told = funds["dry"] == false && funds["blocks_left"].as_u64() > Some(0);
        anyhow::ensure!(is_told, "{funds}");
        Ok(Some(()))
    })
    .unwrap();

    // Another deployment that lists the names gets them when they are moved, and not before.
    let second = deployed(&network, &[&hosts, "--dseq", "8"]);
    let urls = second["leases"][0]["services"][0]["urls"].to_string();
    assert!(!urls.contains("www.example.com"), "{urls}");
    tenant(&network, &["migrate-hostnames", "www.example.com", "--dseq", "8"]).unwrap();
    wait_until("the name leads to the other deployment", LONG, || {
        let status = tenant(&network, &["lease-status", "--dseq", "8"])?;
        Ok(status.contains("\"www.example.com\"").then_some(()))
    })
    .unwrap();
    let unknown = tenant(&network, &["migrate-hostnames", "a.example.org", "--dseq", "8"]);
    let unknown = format!("{:#}", unknown.unwrap_err());
    assert!(unknown.contains("the hostname \"a.example.org\" is not used by this deployment"));
    assert!(unknown.contains("Error: remote server returned 400"), "{unknown}");
    let ip = deployed(&network, &[&sdl("ip-endpoint.yaml"), "--dseq", "9"]);
    assert!(ip["leases"][0]["services"][0]["ips"][0]["IP"].is_string(), "{ip}");
    addresses_move(&network);

    let operator = network.address("operator").unwrap();
    let status: Value =
        serde_json::from_str(&network.run(&["status", &operator]).unwrap()).unwrap();
    assert_eq!(status["cluster"]["leases"], 4);
}

/// Addresses of a deployment's resolver, with their ports and protocols.
fn addresses(network: &Network, dseq: &str) -> Vec<Value> {
    let printed = tenant(network, &["lease-status", "--dseq", dseq]).unwrap();
    let status: Value = serde_json::from_str(&printed).unwrap();
    status["ips"]["resolver"].as_array().cloned().unwrap_or_default()
}

/// The address of an endpoint moves between two deployments of one owner, both ways.
fn addresses_move(network: &Network) {
    deployed(network, &[&sdl("ip-endpoint.yaml"), "--dseq", "10"]);
    let first = addresses(network, "9");
    assert_eq!((first.len(), addresses(network, "10")), (2, vec![]));
    for (from, to) in [("9", "10"), ("10", "9")] {
        tenant(network, &["migrate-endpoints", "dns", "--dseq", to]).unwrap();
        assert_eq!((addresses(network, from), addresses(network, to)), (vec![], first.clone()));
    }
    let unknown = tenant(network, &["migrate-endpoints", "smtp", "--dseq", "9"]).unwrap_err();
    let wanted = "the endpoint \"smtp\" does not exist in the destination deployment";
    assert!(format!("{unknown:#}").contains(wanted), "{unknown:#}");
    assert_eq!(addresses(network, "9"), first);
}

/// Asks the provider whether it would bid on an SDL with these names; its reasons if not.
#[cfg(target_os = "linux")]
fn screened(network: &Network, sdl: &str, hostnames: &[&str]) -> Vec<String> {
    use e2e::attack::{Client, ask, request};
    let groups = network.json(&["sdl", "groups", sdl]).unwrap();
    let body = serde_json::json!({"group_spec": groups[0], "hostnames": hostnames}).to_string();
    let rest = network.gateway().unwrap().unwrap().0.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (status, answer) = runtime.block_on(async {
        let from = std::net::Ipv4Addr::LOCALHOST.into();
        let mut stream = Client::new().unwrap().connect(rest, from).await.unwrap();
        ask(&mut stream, &request("POST", "/validate", None, body.as_bytes())).await.unwrap()
    });
    let text = String::from_utf8(answer).unwrap();
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let reasons = answer["reasons"].as_array().cloned().unwrap_or_default();
    assert_eq!(answer["passed"], reasons.is_empty(), "{text}");
    reasons.iter().map(|reason| reason.as_str().unwrap().to_owned()).collect()
}

/// A whole provider checks hostnames of a question as it checks those of a manifest.
#[cfg(target_os = "linux")]
fn hostnames_are_screened(network: &Network, sdl: &str) {
    assert_eq!(screened(network, sdl, &["free.example.com"]), [""; 0]);
    for (name, reason) in [
        ("www.example.com", "in use"),
        ("localhost", "reserved"),
        ("sim.localhost", "reserved"),
        ("192.0.2.7", "IP address"),
        ("not a name", "not allowed"),
    ] {
        let reasons = screened(network, sdl, &["free.example.com", name]);
        assert!(reasons.len() == 1 && reasons[0].contains(reason), "{name}: {reasons:?}");
    }
}

#[cfg(not(target_os = "linux"))]
fn hostnames_are_screened(_: &Network, _: &str) {}

/// Both ends of a terminal, which is 100 columns wide and 30 lines high.
fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    (ours.into(), theirs)
}

/// Types into a terminal once it has said something; all that it said until a text came.
fn converse(terminal: &mut File, until: &str) -> String {
    let (mut said, mut piece) = (String::new(), [0; 1024]);
    while !said.contains(until) {
        let count = terminal.read(&mut piece).unwrap();
        said.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    said
}

#[test]
fn a_person_is_asked_and_has_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let network = started(folder.path());
    let variables = network.variables().unwrap();
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let on_terminal = |args: &[&str]| {
        let (ours, theirs) = terminal();
        let mut command = program::command(args, &variables).unwrap();
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        (ours, command.stderr(theirs).spawn().unwrap())
    };

    let hello = sdl("hello.yaml");
    let (mut ours, mut child) =
        on_terminal(&["deploy", &hello, "--dseq", "7", "--bid-wait", "0", "--from", "tenant"]);
    let asked = converse(&mut ours, "Which bid for group anywhere? [1]: ");
    assert!(
        asked.contains("PER MONTH") && asked.contains('\u{1b}'),
        "a table, in colours: {asked}"
    );
    ours.write_all(b"7\n").unwrap();
    converse(&mut ours, "Which bid");
    ours.write_all(b"1\n").unwrap();
    converse(&mut ours, "deploy --close 7");
    assert!(child.wait().unwrap().success());

    let (mut ours, mut child) =
        on_terminal(&["lease-shell", "--tty", "web", "sh", "--dseq", "7", "--from", "tenant"]);
    // What is typed is passed on as it is, so nobody but the other side shows it.
    ours.write_all(b"stty size\r").unwrap();
    converse(&mut ours, "30 100\r\n");
    ours.write_all(b"exit 3\r").unwrap();
    let said = converse(&mut ours, "code 3");
    assert!(said.contains("lease shell failed: remote process exited with code 3"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(1));

    // Where nobody types, a line that is piped in is as good.
    let mut command = program::command(
        &["deploy", &hello, "--dseq", "8", "--pick", "ask", "--bid-wait", "0", "--from", "tenant"],
        &variables,
    )
    .unwrap();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_deployment_that_was_left_is_gone_on_with_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let variables = network.variables().unwrap();
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    // Nobody bids yet, and the tenant loses patience.
    let log = folder.path().join("deploy.log");
    let hello = sdl("hello.yaml");
    let args = ["deploy", &hello, "--dseq", "7", "--from", "tenant"];
    let mut process = Process::start(&args, &variables, &log).unwrap();
    wait_until("it waits for bids", LONG, || {
        Ok(std::fs::read_to_string(&log)?.contains("waiting for bids").then_some(()))
    })
    .unwrap();
    process.signal("INT").unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(1));
    let said = std::fs::read_to_string(&log).unwrap();
    for wanted in ["deploy --resume 7 --from tenant", "deploy --close 7 --from tenant", "stopped"] {
        assert!(said.contains(wanted), "{said}");
    }
    // Nobody bids in time, either.
    let late = ["deploy", "--resume", "7", "--timeout", "1s", "--from", "tenant"];
    let late = format!("{:#}", program::run(&late, &variables).unwrap_err());
    assert!(late.contains("no provider bids on group anywhere within 1 s"), "{late}");

    network.start_provider().unwrap();
    network.open_gateway().unwrap();
    // The SDL is not named again: it was kept.
    let document = deployed(&network, &["--resume", "7"]);
    assert_eq!(document["state"], "running");
    // Once it runs, there is nothing left to do, however often.
    let again = deployed(&network, &["--resume", "7"]);
    assert_eq!(again["leases"][0]["id"], document["leases"][0]["id"]);
    let other = sdl("http-options.yaml");
    let other = tenant(&network, &["deploy", &other, "--resume", "7"]).unwrap_err();
    assert!(format!("{other:#}").contains("hash of another SDL"), "{other:#}");

    let closed = tenant(&network, &["deploy", "--close", "7"]).unwrap();
    assert!(closed.starts_with("deployment 7 is closed"), "{closed}");
    let again = tenant(&network, &["deploy", "--close", "7"]).unwrap();
    assert_eq!(again, "deployment 7 was closed before\n");
    let resumed = tenant(&network, &["deploy", &hello, "--resume", "7"]).unwrap_err();
    assert!(format!("{resumed:#}").contains("was closed"), "{resumed:#}");
    let kept = folder.path().join("chain/deployments/local");
    let left = std::fs::read_dir(kept).unwrap().count();
    // The attempt to go on with what was closed kept its SDL once more.
    assert!(left <= 1, "{left}");
}
