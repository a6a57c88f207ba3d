//! What a whole provider weighs and how fast it is, as processes: a devnet, a simulated cluster, and
//! the program as it is shipped.
// What JSON does not have is null, also when it is asked for by index.
#![allow(clippy::indexing_slicing, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use e2e::network::{Network, Settings, wait_until};
use e2e::program;
use figures::print;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(600);
/// Deployments of one transaction.
const TOGETHER: usize = 40;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let most: usize = match words.first() {
        Some(word) => word.parse().context("how many leases at most")?,
        None => 10_000,
    };
    let size = std::fs::metadata(program::path()?)?.len();
    print("binary_mb", megabytes(size), "MB");

    let folder = tempfile::tempdir()?;
    let settings = Settings {
        block_time: "1s".to_owned(),
        machines: "100*node:cpu=512,memory=2048Gi,disk=64Ti".to_owned(),
        speed: 1000,
        ..Settings::default()
    };
    let mut network = Network::start(folder.path(), settings)?;
    network.start_provider()?;
    wait_until("the provider acts", LONG, || ready(&network))?;
    std::thread::sleep(Duration::from_secs(5));
    print("idle_rss_mb", megabytes(resident(&network)?), "MB");

    let mut bench = Bench { network, next: 1, leases: 0 };
    let blocks = bench.burst(100)?;
    print("burst_100_blocks", blocks, "blocks");
    for goal in [1_000, 10_000].into_iter().filter(|goal| *goal <= most) {
        let asked = bench.grow(goal)?;
        print(&format!("status_p99_deploying_{goal}_ms"), percentile_99(asked)?, "ms");
        std::thread::sleep(Duration::from_secs(5));
        let rss = resident(&bench.network)?;
        print(&format!("leases_{goal}_rss_mb"), megabytes(rss), "MB");
        let (seconds, blocks) = bench.recover()?;
        print(&format!("recover_{goal}_s"), format!("{seconds:.2}"), "s");
        print(&format!("recover_{goal}_blocks"), blocks, "blocks");
    }
    Ok(())
}

struct Bench {
    network: Network,
    next: usize,
    leases: usize,
}

impl Bench {
    /// Creates orders; their numbers.
    fn create(&mut self, count: usize) -> Result<Vec<usize>> {
        let sdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hello.yaml");
        let sdl = sdl.to_str().context("a path that is no text")?;
        let args = ["deployment", "create", sdl, "--dseq", "1", "--deposit", "1act"];
        let message = self.network.message("tenant", &args)?;
        let numbers: Vec<usize> = (self.next..self.next + count).collect();
        self.next += count;
        for numbers in numbers.chunks(TOGETHER) {
            let messages: Vec<Value> = numbers
                .iter()
                .map(|dseq| {
                    let mut message = message.clone();
                    message["id"]["dseq"] = json!(dseq.to_string());
                    message
                })
                .collect();
            self.network.tx_of("tenant", &messages)?;
        }
        Ok(numbers)
    }

    /// Blocks from a burst of orders, each in its own block or before, to the last bid on one.
    fn burst(&mut self, count: usize) -> Result<u64> {
        let numbers = self.create(count)?;
        let bids = self.wait_for_bids(&numbers)?;
        let orders = self.heights("order", &numbers)?;
        let later = numbers
            .iter()
            .filter_map(|dseq| Some(bids.get(dseq)?.saturating_sub(*orders.get(dseq)?)));
        let blocks = later.max().context("no bids")?;
        self.lease(&numbers)?;
        Ok(blocks)
    }

    /// Heights at which open orders or bids were made, by deployment.
    fn heights(&self, what: &str, numbers: &[usize]) -> Result<BTreeMap<usize, u64>> {
        let args = ["query", "market", what, "list", "--state", "open", "--limit", "2000"];
        let listed = self.network.json(&args)?;
        let items = listed[format!("{what}s")].as_array().cloned().unwrap_or_default();
        let mut found = BTreeMap::new();
        for item in &items {
            let item = if what == "bid" { &item["bid"] } else { item };
            let dseq = item["id"]["dseq"].as_str().and_then(|dseq| dseq.parse().ok());
            let height = item["created_at"].as_str().and_then(|height| height.parse().ok());
            if let (Some(dseq), Some(height)) = (dseq, height) {
                found.insert(dseq, height);
            }
        }
        found.retain(|dseq, _| numbers.binary_search(dseq).is_ok());
        Ok(found)
    }

    fn wait_for_bids(&self, numbers: &[usize]) -> Result<BTreeMap<usize, u64>> {
        wait_until("bids", LONG, || {
            let bids = self.heights("bid", numbers)?;
            Ok((bids.len() == numbers.len()).then_some(bids))
        })
    }

    /// Takes the bids, sends the manifests, and waits until all of it runs.
    fn lease(&mut self, numbers: &[usize]) -> Result<()> {
        let (tenant, operator) =
            (self.network.address("tenant")?, self.network.address("operator")?);
        let args = ["market", "lease", "create", "--owner", &tenant, "--dseq", "1"];
        let message = [&args[..], &["--provider", &operator]].concat();
        let message = self.network.message("tenant", &message)?;
        for numbers in numbers.chunks(TOGETHER) {
            let messages: Vec<Value> = numbers
                .iter()
                .map(|dseq| {
                    let mut message = message.clone();
                    message["bid_id"]["dseq"] = json!(dseq.to_string());
                    message
                })
                .collect();
            self.network.tx_of("tenant", &messages)?;
        }
        self.leases += numbers.len();
        wait_until("the leases are seen", LONG, || self.has_leases(None))?;
        let mut operator = Operator::connect(&self.network)?;
        let manifest = include_str!("../../examples/hello.yaml");
        for dseq in numbers {
            let subject = dseq.to_string();
            let ask = json!({"request": "send-manifest", "subject": subject, "manifest": manifest});
            let answer = operator.ask(&ask)?;
            ensure!(answer["answer"] == "done", "{answer}");
        }
        wait_until("they run", LONG, || self.has_leases(Some("running")))
    }

    /// Whether all leases are there, in a stage.
    fn has_leases(&self, stage: Option<&str>) -> Result<Option<()>> {
        let status = Operator::connect(&self.network)?.ask(&json!({"request": "status"}))?;
        let counts = status["leases"].as_array().cloned().unwrap_or_default();
        let counts =
            counts.iter().filter(|count| stage.is_none_or(|stage| count["stage"] == stage));
        let count: u64 = counts.filter_map(|count| count["count"].as_u64()).sum();
        Ok((usize::try_from(count)? == self.leases).then_some(()))
    }

    /// Brings the number of leases to `goal`; how long a stranger's `/status` took meanwhile.
    fn grow(&mut self, goal: usize) -> Result<Vec<Duration>> {
        let stranger = Stranger::start(&self.network)?;
        while self.leases < goal {
            let count = (goal - self.leases).min(1_000);
            let began = Instant::now();
            let numbers = self.create(count)?;
            self.wait_for_bids(&numbers)?;
            self.lease(&numbers)?;
            eprintln!("{} leases after {:.0?} more", self.leases, began.elapsed());
        }
        stranger.stop()
    }

    /// Kills the provider and starts it again; seconds and blocks until it acts and knows all.
    fn recover(&mut self) -> Result<(f64, u64)> {
        self.network.provider = None;
        let height = self.height()?;
        let began = Instant::now();
        self.network.start_provider()?;
        wait_until("it is back", LONG, || {
            let Some(()) = ready(&self.network)? else { return Ok(None) };
            self.has_leases(Some("running"))
        })?;
        Ok((began.elapsed().as_secs_f64(), self.height()?.saturating_sub(height)))
    }

    fn height(&self) -> Result<u64> {
        let block = self.network.json(&["query", "block"])?;
        let height = block["block"]["header"]["height"].as_str().context("no height")?;
        Ok(height.parse()?)
    }
}

/// Asks for `/status` again and again over one connection.
struct Stranger {
    stop: Arc<AtomicBool>,
    asking: JoinHandle<Result<Vec<Duration>>>,
}

impl Stranger {
    const PAUSE: Duration = Duration::from_millis(20);

    fn start(network: &Network) -> Result<Self> {
        let (rest, _) = wait_until("tenants can connect", LONG, || network.gateway())?;
        let mut connection = connect(network, &rest)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let asking = std::thread::spawn(move || {
            let mut took = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                ask_status(&mut connection)?;
                took.push(began.elapsed());
                std::thread::sleep(Self::PAUSE);
            }
            Ok(took)
        });
        Ok(Self { stop, asking })
    }

    fn stop(self) -> Result<Vec<Duration>> {
        self.stop.store(true, Ordering::Relaxed);
        self.asking.join().map_err(|_| anyhow!("the stranger broke down"))?
    }
}

type Connection = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// Trusts what the provider shows.
fn connect(network: &Network, address: &str) -> Result<Connection> {
    let pair = network.home().join(format!("{}.pem", network.address("operator")?));
    let shown = CertificateDer::from_pem_file(&pair)
        .with_context(|| format!("reading {}", pair.display()))?;
    let mut roots = RootCertStore::empty();
    roots.add(shown)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tls = ClientConnection::new(Arc::new(config), "localhost".try_into()?)?;
    Ok(BufReader::new(StreamOwned::new(tls, TcpStream::connect(address)?)))
}

fn ask_status(connection: &mut Connection) -> Result<()> {
    connection.get_mut().write_all(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let (mut line, mut length) = (String::new(), None);
    connection.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "{line}");
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = Some(value.trim().parse()?);
        }
    }
    let mut body = vec![0; length.context("an answer without a length")?];
    Ok(connection.read_exact(&mut body)?)
}

fn percentile_99(mut took: Vec<Duration>) -> Result<String> {
    took.sort();
    let slow = took.get(took.len() * 99 / 100).context("nothing was asked")?;
    Ok(format!("{:.2}", slow.as_secs_f64() * 1e3))
}

/// A line to the provider.
struct Operator {
    stream: BufReader<UnixStream>,
}

impl Operator {
    fn connect(network: &Network) -> Result<Self> {
        Ok(Self { stream: BufReader::new(UnixStream::connect(network.socket())?) })
    }

    fn ask(&mut self, question: &Value) -> Result<Value> {
        self.stream.get_mut().write_all(format!("{question}\n").as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

fn ready(network: &Network) -> Result<Option<()>> {
    let status = Operator::connect(network)?.ask(&json!({"request": "status"}))?;
    Ok((status["ready"] == true).then_some(()))
}

fn resident(network: &Network) -> Result<u64> {
    network.provider.as_ref().context("the provider does not run")?.resident()
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}
