//! `sim-cluster`: the driver contract on a process that is killed, and what a person sees of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use provider_sim::core::Disturbance;
use provider_sim::remote::RemoteDriver;
use provider_testkit::contract::{Capabilities, Harness, Program, run_all};
use tempfile::TempDir;

use crate::cli::support::{command, run, text};

/// A process that can be killed and started again with the same state and ports.
struct Process {
    folder: TempDir,
    running: Mutex<Running>,
}

struct Running {
    child: Child,
    cluster: SocketAddr,
    web: SocketAddr,
    printed: String,
}

impl Process {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let running = Mutex::new(spawn(folder.path().join("state"), any, any));
        Self { folder, running }
    }

    fn address(&self) -> SocketAddr {
        self.running.lock().unwrap().cluster
    }

    /// Ends it without a word (SIGKILL).
    fn kill(&self) {
        let mut running = self.running.lock().unwrap();
        running.child.kill().unwrap();
        running.child.wait().unwrap();
    }

    /// Starts a new process where the old one was.
    fn start_again(&self) {
        let mut running = self.running.lock().unwrap();
        let (cluster, web) = (running.cluster, running.web);
        *running = spawn(self.folder.path().join("state"), cluster, web);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(state: PathBuf, listen: SocketAddr, http: SocketAddr) -> Running {
    let (listen, http) = (listen.to_string(), http.to_string());
    let args = [
        "sim-cluster",
        "--state",
        text(&state),
        "--listen",
        &listen,
        "--http",
        &http,
        "--speed",
        "100",
    ];
    let mut child = command(&args, &[]).stdout(Stdio::piped()).spawn().unwrap();
    let (mut cluster, mut web, mut printed) = (None, None, String::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["cluster", address] => cluster = address.parse().ok(),
            ["web", url] => web = url.trim_start_matches("http://").parse().ok(),
            _ => {}
        }
        printed += &line;
        printed += "\n";
        if line.starts_with("Ctrl-C") {
            break;
        }
    }
    Running { child, cluster: cluster.expect(&printed), web: web.unwrap(), printed }
}

impl Harness for Process {
    type Driver = RemoteDriver;

    fn driver(&self) -> RemoteDriver {
        RemoteDriver::new(self.address())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn program(&self, program: Program) -> (String, Option<Vec<String>>) {
        let image = match program {
            Program::Serves => "nginx:1",
            Program::ServesOther => "nginx:2",
            Program::Missing => "web:missing",
            Program::Crashes => "web:crash",
            Program::WritesLongLine => "web:long",
        };
        (image.to_owned(), None)
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(30)
    }

    async fn restart(&self) -> RemoteDriver {
        self.kill();
        self.start_again();
        self.driver()
    }

    /// The hardest way not to answer: the process is gone.
    async fn break_api(&self) {
        self.kill();
    }

    async fn restore_api(&self) {
        self.start_again();
    }

    async fn lose_node(&self, name: &str) {
        self.driver().disturb(Disturbance::NodeLost(name.into())).await.unwrap();
    }

    async fn return_node(&self, name: &str) {
        self.driver().disturb(Disturbance::NodeBack(name.into())).await.unwrap();
    }
}

#[test]
fn a_cluster_that_is_killed_in_between_holds_to_the_contract() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let process = Process::start();
    let report = runtime.block_on(run_all(&process));
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.left_out, [""; 0]);
    assert_eq!(report.held.len(), 27);
}

#[test]
fn everything_says_that_it_is_simulated() {
    let process = Process::start();
    let running = process.running.lock().unwrap();
    assert!(running.printed.starts_with("SIMULATED cluster is running"), "{}", running.printed);
    for expected in ["NODE", "node-1", "64Gi", "2 × nvidia a100 80Gi", "storage class beta2"] {
        assert!(running.printed.contains(expected), "{expected}: {}", running.printed);
    }
    let mut stream = TcpStream::connect(running.web).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: nobody\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("SIMULATED"), "{answer}");
    // A second one on the same state does not start, and says why.
    let state = process.folder.path().join("state");
    let second = run(&["sim-cluster", "--state", text(&state), "--listen", "127.0.0.1:0"]);
    assert!(second.refused().contains("in use by another simulated cluster"));
}

#[test]
fn what_cannot_be_started_says_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    std::fs::write(&state, "something else\n").unwrap();
    let foreign = run(&["sim-cluster", "--state", text(&state)]).refused();
    assert!(foreign.contains("is not the state of a simulated cluster"), "{foreign}");
    let open = ["sim-cluster", "--state", text(&state), "--listen", "0.0.0.0:0"];
    assert!(run(&open).refused().contains("not a loopback address"));
    let nodes = ["sim-cluster", "--state", text(&state), "--nodes", "node:cpu=lots"];
    let nodes = run(&nodes).refused();
    assert!(nodes.contains("expected cores such as 16"), "{nodes}");
}
