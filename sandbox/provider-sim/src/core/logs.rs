//! What containers would have written by now.
//!
//! Lines are a function of the container and of time: nothing is kept of them. A container writes
//! when it starts, then a line at a fixed pace, and when it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::port::{LogPart, LogQuery, MAX_LOG_TEXT, ReadFailure};

use super::SimCluster;
use super::image::Behaviour;
use super::pod::{Pod, PodKey, Run};
use super::read::check_services;

/// Lines of a container that are kept, as a node that rotates its files.
const KEPT: u64 = 1000;
/// Length of the line that an image whose name says so writes.
const LONG: usize = 1 << 20;
/// Most parts that one reading gives.
const BATCH: usize = 256;

/// Reads logs of a lease, each line once.
#[derive(Clone, Debug)]
pub struct LogCursor {
    lease: LeaseId,
    query: LogQuery,
    places: BTreeMap<PodKey, Place>,
    begun: bool,
    more: bool,
}

/// How far a replica's lines were read.
#[derive(Clone, Debug)]
struct Place {
    service: String,
    replica: String,
    run: Option<u32>,
    next: u64,
}

impl LogCursor {
    /// Before the first line that was asked for.
    pub fn new(cluster: &SimCluster, lease: LeaseId, query: LogQuery) -> Result<Self, ReadFailure> {
        check_services(cluster.running(lease)?, &query.services)?;
        Ok(Self { lease, query, places: BTreeMap::new(), begun: false, more: true })
    }

    /// Whether another reading gives something at once.
    pub const fn has_more(&self) -> bool {
        self.more
    }

    /// Whether there will be nothing more to read, ever.
    pub const fn is_done(&self) -> bool {
        self.begun && !self.more && (!self.query.follow || self.query.previous)
    }

    /// What was written since the last reading, or a part of it.
    pub fn read(&mut self, cluster: &SimCluster) -> Result<Vec<LogPart>, ReadFailure> {
        let lease = cluster.running(self.lease)?;
        let mut parts = Vec::new();
        self.more = false;
        let gone: Vec<PodKey> =
            self.places.keys().filter(|key| !lease.pods.contains_key(key)).copied().collect();
        for place in gone.iter().filter_map(|key| self.places.remove(key)) {
            parts.push(place.breaks("the replica ended"));
        }
        for (key, pod) in &lease.pods {
            if self.query.services.includes(&pod.template.service) {
                self.read_pod(cluster, *key, pod, &mut parts);
            }
        }
        self.begun = true;
        Ok(parts)
    }

    fn read_pod(&mut self, cluster: &SimCluster, key: PodKey, pod: &Pod, parts: &mut Vec<LogPart>) {
        let (pace, now) = (cluster.settings.delays.log_line, cluster.now);
        let run = if self.query.previous { pod.previous.as_ref() } else { pod.run.as_ref() };
        let begun = self.begun;
        let place = self.places.entry(key).or_insert_with(|| {
            // What was there at the beginning is cut to the tail; what comes later is read whole.
            let written = run.map_or(0, |run| written(pod, run, now, pace));
            let tail = if begun { u64::MAX } else { self.query.tail.unwrap_or(u64::MAX) };
            Place {
                service: pod.template.service.clone(),
                replica: pod.name.clone(),
                run: run.map(|run| run.number),
                next: written.saturating_sub(tail.min(KEPT)),
            }
        });
        if place.replica != pod.name {
            parts.push(place.breaks(&format!("replaced by {}", pod.name)));
            place.replica.clone_from(&pod.name);
            (place.run, place.next) = (None, 0);
        }
        // The rest of a container that was started again meanwhile comes first.
        if let (Some(number), Some(current)) = (place.run, run)
            && current.number != number
        {
            let rest = pod.previous.as_ref().filter(|run| run.number == number);
            if let Some(rest) = rest
                && !place.take(pod, rest, now, pace, parts)
            {
                self.more = true;
                return;
            }
            let missed = if rest.is_some() { "" } else { "; lines may be missing" };
            let note = format!("the container was started again{missed}");
            parts.push(place.breaks(&note));
            place.run = None;
        }
        let Some(run) = run else { return };
        if place.run.is_none() {
            (place.run, place.next) = (Some(run.number), 0);
        }
        self.more |= !place.take(pod, run, now, pace, parts);
    }
}

impl Place {
    /// Takes lines of a container; `false` if there are more.
    fn take(
        &mut self,
        pod: &Pod,
        run: &Run,
        now: Duration,
        pace: Duration,
        parts: &mut Vec<LogPart>,
    ) -> bool {
        let written = written(pod, run, now, pace);
        self.next = self.next.max(written.saturating_sub(KEPT));
        while self.next < written {
            if parts.len() >= BATCH {
                return false;
            }
            self.push(line(pod, run, self.next, written), parts);
            self.next = self.next.saturating_add(1);
        }
        true
    }

    /// Adds a line, in pieces if it is long. Lines are ASCII: they can be cut anywhere.
    fn push(&self, mut line: String, parts: &mut Vec<LogPart>) {
        loop {
            let rest = (line.len() > MAX_LOG_TEXT).then(|| line.split_off(MAX_LOG_TEXT));
            parts.push(LogPart::Text {
                service: self.service.clone(),
                replica: self.replica.clone(),
                text: line,
                continues: rest.is_some(),
            });
            match rest {
                Some(rest) => line = rest,
                None => return,
            }
        }
    }

    fn breaks(&self, note: &str) -> LogPart {
        LogPart::Break {
            service: self.service.clone(),
            replica: self.replica.clone(),
            note: note.to_owned(),
        }
    }
}

/// How many lines a container writes at its start.
fn opening(pod: &Pod) -> u64 {
    if Behaviour::of(&pod.template.image).long_line { 2 } else { 1 }
}

/// How many lines a container has written.
fn written(pod: &Pod, run: &Run, now: Duration, pace: Duration) -> u64 {
    let until = run.ended.map_or(now, |end| end.at);
    let span = until.saturating_sub(run.started).as_millis();
    let paced = span.checked_div(pace.as_millis()).unwrap_or_default();
    let closing = u64::from(run.ended.is_some());
    opening(pod).saturating_add(u64::try_from(paced).unwrap_or(u64::MAX)).saturating_add(closing)
}

fn line(pod: &Pod, run: &Run, number: u64, written: u64) -> String {
    let opening = opening(pod);
    match run.ended {
        Some(end) if number.saturating_add(1) == written => {
            format!("simulated end: {}", end.cause.words())
        }
        _ if number == 0 => {
            let image = pod.template.image.escape_debug().filter(char::is_ascii);
            let image: String = image.collect();
            format!("SIMULATED workload {} pretends to run {image}", pod.name)
        }
        _ if number < opening => "x".repeat(LONG),
        _ => format!("simulated line {}", number.saturating_sub(opening).saturating_add(1)),
    }
}
