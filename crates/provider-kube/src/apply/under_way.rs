//! Deployments that are under way, and hostnames that change hands meanwhile.
//!
//! Deploying takes a while, longer where the API server is busy. The tenant may move a name to
//! another lease meanwhile, which is deployed beside. What was asked for before that must not take
//! the name back: it would be put right afterwards, but not by a provider that is killed right then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use akash_types::LeaseId;
use provider_engine::cluster::command::Workload;

#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<Deployments>);

#[derive(Debug, Default)]
struct Deployments {
    next: u64,
    /// Of each: its lease, and the names that others were given since.
    lost: BTreeMap<u64, (LeaseId, BTreeSet<String>)>,
}

#[derive(Debug)]
pub(super) struct Deployment<'a> {
    all: &'a UnderWay,
    number: u64,
}

impl UnderWay {
    /// A deployment begins. The names that it shall have are lost to other leases whose deployment
    /// began before: who is asked later knows better who has which.
    pub(super) fn begin(&self, workload: &Workload) -> Deployment<'_> {
        let names = names(workload);
        let mut all = self.all();
        for (lease, lost) in all.lost.values_mut() {
            if *lease != workload.lease {
                lost.extend(names.iter().cloned());
            }
        }
        all.next += 1;
        let number = all.next;
        all.lost.insert(number, (workload.lease, BTreeSet::new()));
        Deployment { all: self, number }
    }

    fn all(&self) -> MutexGuard<'_, Deployments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deployment<'_> {
    /// Whether another lease was given the name since this began.
    pub(super) fn lost(&self, name: &str) -> bool {
        self.all.all().lost.get(&self.number).is_some_and(|(_, lost)| lost.contains(name))
    }
}

impl Drop for Deployment<'_> {
    fn drop(&mut self) {
        self.all.all().lost.remove(&self.number);
    }
}

fn names(workload: &Workload) -> BTreeSet<String> {
    let services = workload.group.services.iter();
    let exposes = services.flat_map(|service| service.expose.iter().flatten());
    let listed = exposes.flat_map(|expose| expose.hosts.iter().flatten());
    let withheld = |name: &String| workload.withheld.iter().any(|it| it.eq_ignore_ascii_case(name));
    listed.filter(|name| !withheld(name)).map(|name| name.to_lowercase()).collect()
}
