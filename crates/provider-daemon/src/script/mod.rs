//! Runs the operator's price script.
//!
//! ```text
//!  ScriptRequest ─► wait for a place ─► run ─► exit 0 ───────► what it printed
//!                        │                └─► anything else ─► ScriptFailure: no bid
//!                        └─ too long ─► ScriptFailure
//! ```
//!
//! Orders come first: screening gets few of the places, only free ones, and gives its place up when
//! an order wants it.
//!
//! There is always an answer. The script runs without a shell, in a process group of its own and
//! with an environment of its own ([`environment`]); it has a time limit and an output limit. When
//! it ends, however it ends, its whole group is killed: nothing that it started goes on.
//!
//! Must not know: what a price is, or what follows from none.

mod run;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use provider_engine::order::pricing::{ScriptFailure, ScriptRequest};
use tokio::sync::{Notify, Semaphore};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSettings {
    pub path: PathBuf,
    /// How long it may take.
    pub time_limit: Duration,
    /// How many may run at once.
    pub processes: usize,
    /// How long a request waits for its turn.
    pub patience: Duration,
    /// All variables it gets, beside those of the request; see [`environment`].
    pub environment: Vec<(OsString, OsString)>,
}

impl ScriptSettings {
    /// Runs `path` with the limits of the contract.
    pub const fn new(path: PathBuf, environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            path,
            time_limit: Duration::from_secs(10),
            processes: 32,
            patience: Duration::from_secs(60),
            environment,
        }
    }
}

/// Runs the script, a few at a time. Clones share the limit.
#[derive(Clone, Debug)]
pub struct Scripts {
    settings: Arc<ScriptSettings>,
    places: Arc<Semaphore>,
    /// Of these, how many screening may have.
    screening: Arc<Semaphore>,
    /// An order found no place.
    wanted: Arc<Notify>,
}

/// One in so many places may be taken by screening, at least one.
const SCREENING: usize = 4;

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What it printed, or why that is of no use.
    pub result: Result<Vec<u8>, ScriptFailure>,
    /// The end of what it wrote to standard error, for the log.
    pub stderr: String,
    /// How long it took, without waiting for its turn.
    pub took: Duration,
}

impl Scripts {
    /// Runs scripts this way.
    pub fn new(settings: ScriptSettings) -> Self {
        let processes = settings.processes.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(processes)),
            screening: Arc::new(Semaphore::new((processes / SCREENING).max(1))),
            wanted: Arc::default(),
            settings: Arc::new(settings),
        }
    }

    pub fn settings(&self) -> &ScriptSettings {
        &self.settings
    }

    /// Asks the script for the price of a bid that nobody ordered. `None` at once if there is no
    /// place for it, and later if an order wants the place.
    pub async fn screen(&self, request: ScriptRequest) -> Option<Ran> {
        let wanted = self.wanted.notified();
        let _few = self.screening.try_acquire().ok()?;
        let place = self.places.try_acquire().ok()?;
        tokio::select! {
            ran = self.run(request) => Some(ran),
            () = wanted => {
                drop(place);
                None
            }
        }
    }

    /// Asks the script. Dropping the future ends the script.
    pub async fn ask(&self, request: ScriptRequest) -> Ran {
        let patience = self.settings.patience;
        if self.places.available_permits() == 0 {
            self.wanted.notify_waiters();
        }
        let Ok(_place) = tokio::time::timeout(patience, self.places.acquire()).await else {
            let why = format!(
                "{} run already, and none ended within {} s; a faster script would help",
                self.settings.processes,
                patience.as_secs()
            );
            let result = Err(ScriptFailure::NotRun(why));
            return Ran { result, stderr: String::new(), took: Duration::ZERO };
        };
        self.run(request).await
    }

    async fn run(&self, request: ScriptRequest) -> Ran {
        let begun = Instant::now();
        let (result, stderr) = run::run(&self.settings, request).await;
        Ran { result, stderr, took: begun.elapsed() }
    }
}

/// Names that a script may need and that give nothing away.
const PASSED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    // Where the network is reached from: scripts ask for exchange rates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    // What the script of the Helm chart reads.
    "WHITELIST_URL",
    "DEBUG_BID_SCRIPT",
];

/// Names that begin like this, too.
const PREFIXES: [&str; 2] = ["PRICE_TARGET_", "LC_"];

/// The variables of `all` that the price script gets: those that it may need, and those named in
/// `also`. The others stay here, since the environment of a provider holds passwords of keys and
/// tokens of clusters. `docs/price-script.md` lists them.
pub fn environment(
    all: impl IntoIterator<Item = (OsString, OsString)>,
    also: &[String],
) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        PASSED.contains(&name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || also.iter().any(|also| also == name)
    };
    all.into_iter().filter(|(name, _)| passes(name)).collect()
}

#[cfg(test)]
mod tests;
