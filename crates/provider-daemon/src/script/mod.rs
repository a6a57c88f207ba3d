//! Runs the operator's price script.
//!
//! ```text
//!  ScriptRequest ─► wait for a place ─► run ─► exit 0 ───────► what it printed
//!                        │                └─► anything else ─► ScriptFailure: no bid
//!                        └─ too long ─► ScriptFailure
//! ```
//!
//! There is always an answer. The script runs without a shell, in a process group of its own and
//! with an environment of its own ([`environment`]); it has a time limit and an output limit. When
//! it ends, however it ends, its whole group is killed: nothing that it started goes on.
//!
//! Must not know: what a price is, or what follows from none.

mod environment;
mod group;
mod pipes;
mod run;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use provider_engine::bidding::pricing::{ScriptFailure, ScriptRequest};
use tokio::sync::Semaphore;

pub use environment::environment;

/// How the script is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSettings {
    /// The program.
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
    #[must_use]
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
}

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
    #[must_use]
    pub fn new(settings: ScriptSettings) -> Self {
        let processes = settings.processes.clamp(1, Semaphore::MAX_PERMITS);
        Self { places: Arc::new(Semaphore::new(processes)), settings: Arc::new(settings) }
    }

    /// Asks the script. Dropping the future ends the script.
    pub async fn ask(&self, request: ScriptRequest) -> Ran {
        let patience = self.settings.patience;
        let Ok(place) = tokio::time::timeout(patience, self.places.acquire()).await else {
            let why = format!(
                "{} run already, and none ended within {} s; a faster script would help",
                self.settings.processes,
                patience.as_secs()
            );
            let result = Err(ScriptFailure::NotRun(why));
            return Ran { result, stderr: String::new(), took: Duration::ZERO };
        };
        let begun = Instant::now();
        let (result, stderr) = run::run(&self.settings, request).await;
        drop(place);
        Ran { result, stderr, took: begun.elapsed() }
    }
}
