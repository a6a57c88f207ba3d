//! A tenant who asks for the status of its lease, and how long the answers take.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::connection::{Client, Stream, ask, request};

/// Pause between two requests.
const PAUSE: Duration = Duration::from_millis(20);
/// One in so many requests is made over a connection of its own.
const NEW_CONNECTION: usize = 5;
/// Longer than a client waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tenant at work.
#[derive(Debug)]
pub struct Honest {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Waits>>,
}

/// How long answers took.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    took: Vec<Duration>,
    /// Why requests were not answered with 200.
    pub failures: Vec<String>,
}

impl Honest {
    /// Begins to ask for the status of a lease.
    pub fn start(rest: SocketAddr, token: &str, dseq: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let path = format!("/lease/{dseq}/1/1/status");
        let question = request("GET", &path, Some(token), b"");
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(work(rest, &question, &stopped))
        });
        Self { stop, thread }
    }

    /// Ends; how long it waited.
    pub fn stop(self) -> Result<Waits> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the tenant broke down"))?
    }
}

async fn work(rest: SocketAddr, question: &[u8], stop: &AtomicBool) -> Result<Waits> {
    let client = Client::new()?;
    let (mut waits, mut kept) = (Waits::default(), None);
    for number in 0_usize.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let reused = if number.is_multiple_of(NEW_CONNECTION) { None } else { kept.take() };
        let began = Instant::now();
        let asked = tokio::time::timeout(PATIENCE, once(&client, rest, reused, question)).await;
        match asked.context("no answer").flatten() {
            Ok(stream) => {
                waits.took.push(began.elapsed());
                kept = Some(stream);
            }
            Err(error) => waits.failures.push(format!("{error:#}")),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(waits)
}

async fn once(
    client: &Client,
    rest: SocketAddr,
    reused: Option<Stream>,
    question: &[u8],
) -> Result<Stream> {
    let mut stream = match reused {
        Some(stream) => stream,
        None => client.connect(rest, Ipv4Addr::LOCALHOST.into()).await?,
    };
    match ask(&mut stream, question).await? {
        (200, _) => Ok(stream),
        (status, body) => bail!("{status}: {}", String::from_utf8_lossy(&body)),
    }
}

impl Waits {
    /// How many requests were answered.
    pub const fn count(&self) -> usize {
        self.took.len()
    }

    /// What 99 of 100 took at most.
    pub fn percentile_99(&self) -> Result<Duration> {
        let mut took = self.took.clone();
        took.sort();
        took.get(took.len() * 99 / 100).copied().context("nothing was answered")
    }
}
