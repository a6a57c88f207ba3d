//! A redis-server or a Sentinel of the test's own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use provider_bus::link::Timing;
use provider_bus::{Bus, Connection, Fact, Subscription};
use tempfile::TempDir;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

/// Longer than anything here takes, and short enough to see that something hangs.
pub(crate) const LONG: Duration = Duration::from_secs(180);

/// What a redis-server and a Sentinel log once they listen.
const LISTENING: [&str; 2] = ["Ready to accept connections", "Sentinel ID is"];

/// A server process on a port of its own. Dies with its value.
pub(crate) struct Server {
    program: &'static str,
    pub(crate) port: u16,
    directory: TempDir,
    process: Option<Child>,
}

impl Server {
    /// A redis-server that keeps nothing on disk, with further settings.
    pub(crate) fn redis(settings: &[&str]) -> Self {
        let mut text = vec!["save \"\"", "appendonly no", "repl-diskless-sync-delay 0"];
        text.extend_from_slice(settings);
        Self::start("redis-server", &text)
    }

    /// A program with its settings, which do not have to name the port.
    pub(crate) fn start(program: &'static str, settings: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut server = Self { program, port: 0, directory, process: None };
        let mut taken = String::new();
        for _ in 0..10 {
            server.port = free_port();
            server.configure(settings);
            match server.try_start() {
                Ok(()) => return server,
                // Another process may have taken the port first.
                Err(log) => taken = log,
            }
        }
        panic!("{program} is not up: {taken}");
    }

    fn configure(&self, settings: &[&str]) {
        let mut text = format!("dir {}\n", self.directory.path().display());
        if !settings.iter().any(|line| line.starts_with("tls-port")) {
            text += &format!("port {}\nbind 127.0.0.1\n", self.port);
        }
        for line in settings {
            text += &line.replace("{port}", &self.port.to_string());
            text.push('\n');
        }
        std::fs::write(self.directory.path().join("conf"), text).unwrap();
    }

    /// Starts it again on the same port.
    pub(crate) fn revive(&mut self) {
        self.try_start().unwrap_or_else(|log| panic!("{} is not up: {log}", self.program));
    }

    /// Starts it and waits until it listens; its log if it ends. What it says itself is waited for:
    /// another server may answer on the port.
    fn try_start(&mut self) -> Result<(), String> {
        let path = self.directory.path().join("log");
        let log = std::fs::File::create(&path).unwrap();
        let child = Command::new(self.program)
            .arg(self.directory.path().join("conf"))
            .stdin(Stdio::null())
            .stdout(log)
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{} does not start ({error}): \
                     apt-get install redis-server redis-sentinel",
                    self.program
                )
            });
        let child = self.process.insert(child);
        let deadline = Instant::now() + LONG;
        loop {
            let has_ended = child.try_wait().unwrap().is_some();
            let said = std::fs::read_to_string(&path).unwrap();
            if has_ended || Instant::now() >= deadline {
                return Err(said);
            }
            if LISTENING.iter().any(|words| said.contains(words)) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Stops it where it is: connections stay open and nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.process.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Says something to it in its inline protocol, and gives the first of the answer.
    pub(crate) fn say(&self, line: &str) -> String {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket.write_all(format!("{line}\r\n").as_bytes()).unwrap();
        let mut answer = vec![0; 64 << 10];
        let length = socket.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Below the ports that the system gives to outgoing connections: while a server is down, one of
/// those could take its place, even our own attempt to reach it.
fn free_port() -> u16 {
    loop {
        let random = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port = 20_000 + random % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A bus with its link running; the link ends with it.
pub(crate) struct Running {
    pub(crate) bus: Bus,
    link: AbortHandle,
}

impl Running {
    pub(crate) fn start(url: &str) -> Self {
        let (bus, link) = Bus::over_redis(url.parse().unwrap(), "test").unwrap();
        let timing = Timing {
            // A busy machine is not a frozen one.
            dial: Duration::from_secs(10),
            answer: Duration::from_secs(2),
            beat: Duration::from_millis(300),
            first_wait: Duration::from_millis(20),
            longest_wait: Duration::from_millis(200),
        };
        let task: JoinHandle<_> = tokio::spawn(async move {
            link.with_timing(timing).run().await;
        });
        Self { bus, link: task.abort_handle() }
    }

    /// Waits until the connection is as wanted, and gives it.
    pub(crate) async fn until(&self, wanted: impl Fn(&Connection) -> bool) -> Connection {
        let mut status = self.bus.status();
        let wait = status.wait_for(|status| wanted(&status.connection));
        let Ok(found) = timeout(LONG, wait).await else {
            panic!("the connection stays {:?}", self.bus.status().borrow().connection)
        };
        found.unwrap().connection.clone()
    }

    pub(crate) async fn connected(&self) {
        self.until(|connection| matches!(connection, Connection::Connected { .. })).await;
    }

    /// Waits until it is not connected, and says why.
    pub(crate) async fn cut_off(&self) -> String {
        let wanted = |connection: &Connection| match connection {
            Connection::Reconnecting { reason, .. } => !reason.is_empty(),
            _ => false,
        };
        let Connection::Reconnecting { reason, .. } = self.until(wanted).await else {
            unreachable!()
        };
        reason
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.link.abort();
    }
}

/// Waits for a fact that is as wanted, whatever comes before it.
pub(crate) async fn hear<F: Fact + std::fmt::Debug>(
    subscription: &mut Subscription<F>,
    wanted: impl Fn(&F) -> bool,
) -> F {
    let mut last = None;
    let heard = timeout(LONG, async {
        loop {
            let fact = subscription.next().await.unwrap();
            if wanted(&fact) {
                return fact;
            }
            last = Some(fact);
        }
    })
    .await;
    heard.unwrap_or_else(|_| panic!("the last that was heard is {last:?}"))
}
