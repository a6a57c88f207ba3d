//! How the simulated cluster behaves.

use std::time::Duration;

/// How the simulated cluster behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long things take.
    pub delays: Delays,
    /// By what requests are divided before the scheduler sees them; 1 for not at all.
    pub commit: CommitLevels,
    /// Domain of hostnames that are made for services; `None` makes none.
    pub domain: Option<String>,
    /// Name at which forwarded ports are reached.
    pub public_host: Option<String>,
    /// How many events of a lease are remembered.
    pub events_kept: usize,
}

/// How long things take. What depends on chance takes up to half as long again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From a place on a node to a container that can start: image and volumes.
    pub pull: Duration,
    /// From a container's start to being ready.
    pub start: Duration,
    /// From being told to end to the end of a pod.
    pub grace: Duration,
    /// From the end of the pods to the end of a lease's last object.
    pub teardown: Duration,
    /// From the loss of a node to new pods elsewhere.
    pub evict: Duration,
    /// Before the first restart of a container; doubles up to thirty times as much.
    pub backoff: Duration,
    /// From room becoming free to another look at what waits for it.
    pub reschedule: Duration,
    /// How long an image whose name says so runs before it crashes.
    pub crash_after: Duration,
    /// From one line of a log to the next.
    pub log_line: Duration,
}

/// By what requests are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLevels {
    /// CPU.
    pub cpu: u64,
    /// Memory.
    pub memory: u64,
    /// Storage that lives with the pod.
    pub storage: u64,
}

impl Default for CommitLevels {
    fn default() -> Self {
        Self { cpu: 1, memory: 1, storage: 1 }
    }
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            pull: Duration::from_secs(2),
            start: Duration::from_secs(1),
            grace: Duration::from_secs(3),
            teardown: Duration::from_secs(2),
            evict: Duration::from_secs(300),
            backoff: Duration::from_secs(10),
            reschedule: Duration::from_secs(1),
            crash_after: Duration::from_secs(2),
            log_line: Duration::from_secs(1),
        }
    }
}

impl Delays {
    /// Everything a hundred times as fast, for tests on a real clock.
    #[must_use]
    pub fn hasty() -> Self {
        let usual = Self::default();
        Self {
            pull: usual.pull / 100,
            start: usual.start / 100,
            grace: usual.grace / 100,
            teardown: usual.teardown / 100,
            evict: usual.evict / 100,
            backoff: usual.backoff / 100,
            reschedule: usual.reschedule / 100,
            crash_after: usual.crash_after / 100,
            log_line: usual.log_line / 100,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            delays: Delays::default(),
            commit: CommitLevels::default(),
            domain: Some("sim.localhost".to_owned()),
            public_host: Some("localhost".to_owned()),
            events_kept: 32,
        }
    }
}
