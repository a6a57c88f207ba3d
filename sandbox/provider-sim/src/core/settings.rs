//! How the simulated cluster behaves.

use std::time::Duration;

use provider_engine::cluster::recognition::ClusterUid;

/// How the simulated cluster behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its identity; `None` for a cluster that does not tell it.
    pub uid: Option<ClusterUid>,
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
    pub log_line: Duration,
}

/// By what requests are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLevels {
    pub cpu: u64,
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
    /// Everything so many times as fast; never less than a millisecond.
    pub fn faster(self, times: u32) -> Self {
        let faster =
            |span: Duration| span.checked_div(times).unwrap_or(span).max(Duration::from_millis(1));
        Self {
            pull: faster(self.pull),
            start: faster(self.start),
            grace: faster(self.grace),
            teardown: faster(self.teardown),
            evict: faster(self.evict),
            backoff: faster(self.backoff),
            reschedule: faster(self.reschedule),
            crash_after: faster(self.crash_after),
            log_line: faster(self.log_line),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            uid: None,
            delays: Delays::default(),
            commit: CommitLevels::default(),
            domain: Some("sim.localhost".to_owned()),
            public_host: Some("localhost".to_owned()),
            events_kept: 32,
        }
    }
}
