//! How one service is.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Pod;
use provider_crd::labels;
use provider_engine::cluster::port::{Counts, LastExit, Phase, ServiceStatus};
use provider_engine::cluster::view::Condition;

use super::{LeaseObjects, reach};
use crate::observe::condition;
use crate::observe::replica::{containers, exit, restarts};
use crate::observe::rollout::{revision_of, update_revision, updated};
use crate::resolve::Service;
use crate::settings::Settings;

pub(super) fn status(
    service: &Service,
    shown: &LeaseObjects<'_>,
    settings: &Settings,
) -> ServiceStatus {
    let pods: Vec<&Pod> = shown
        .pods
        .iter()
        .filter(|pod| label(pod, labels::SERVICE) == Some(service.name()))
        .collect();
    let conditions: Vec<Condition> = pods.iter().map(|pod| condition(pod)).collect();
    let counts = counts(service, shown, &pods, &conditions);
    let phase = phase(shown.terminating, &counts, &conditions);
    let all = || pods.iter().flat_map(|pod| containers(pod.status.as_ref()));
    ServiceStatus {
        name: service.name().to_owned(),
        phase,
        why: why(phase, service, shown, &counts, &conditions)
            .or_else(|| reach::withheld(service, shown)),
        counts,
        restarts: all().map(restarts).fold(0, u32::saturating_add),
        last_exit: last_exit(&pods),
        hostnames: reach::hostnames(service, shown),
        ports: reach::ports(service, shown, settings),
        ips: reach::ips(service, shown),
    }
}

fn counts(
    service: &Service,
    shown: &LeaseObjects<'_>,
    pods: &[&Pod],
    conditions: &[Condition],
) -> Counts {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (deployment, set) = workload(service, shown);
    let updated = match (deployment, set.and_then(update_revision)) {
        (Some(deployment), _) => updated(deployment).min(pods.len()),
        (None, newest) => {
            pods.iter().filter(|pod| newest.is_some() && revision_of(pod) == newest).count()
        }
    };
    let is_ready = |condition: &&Condition| **condition == Condition::Ready;
    Counts {
        wanted: service.wanted.count,
        existing: number(pods.len()),
        updated: number(updated),
        ready: number(conditions.iter().filter(is_ready).count()),
        // How often the workload was changed.
        generation: deployment
            .map(|one| one.metadata.generation)
            .or_else(|| set.map(|one| one.metadata.generation))
            .flatten()
            .unwrap_or_default(),
    }
}

/// What makes the pods of a service.
fn workload<'a>(
    service: &Service,
    shown: &LeaseObjects<'a>,
) -> (Option<&'a Deployment>, Option<&'a StatefulSet>) {
    let named = |name: &Option<String>| name.as_deref() == Some(service.name());
    (
        shown.deployments.iter().find(|one| named(&one.metadata.name)),
        shown.stateful_sets.iter().find(|one| named(&one.metadata.name)),
    )
}

fn phase(terminating: bool, counts: &Counts, conditions: &[Condition]) -> Phase {
    let any = |is: fn(&Condition) -> bool| conditions.iter().any(is);
    if terminating {
        Phase::Ending
    } else if counts.ready >= counts.wanted {
        Phase::Ready
    } else if counts.ready > 0 {
        Phase::Degraded
    } else if any(|condition| matches!(condition, Condition::Failing(_))) {
        Phase::Failing
    } else if any(|condition| matches!(condition, Condition::Unschedulable(_))) {
        Phase::Pending
    } else {
        Phase::Starting
    }
}

/// Why it is not ready: what a pod says, else the newest warning, else that it takes its time.
fn why(
    phase: Phase,
    service: &Service,
    shown: &LeaseObjects<'_>,
    counts: &Counts,
    conditions: &[Condition],
) -> Option<String> {
    match phase {
        Phase::Ready => return None,
        Phase::Ending => return Some("the lease is being taken down".to_owned()),
        _ => {}
    }
    let failing = conditions.iter().find_map(|condition| match condition {
        Condition::Failing(why) => Some(why.clone()),
        _ => None,
    });
    let unplaced = || {
        conditions.iter().find_map(|condition| match condition {
            Condition::Unschedulable(why) => Some(format!("no node has room for it: {why}")),
            _ => None,
        })
    };
    let warned = || super::newest_warning(service.name(), shown);
    let waiting = || {
        Some(if counts.existing == 0 {
            "the cluster has not made its pods yet".to_owned()
        } else {
            "its containers are starting".to_owned()
        })
    };
    failing.or_else(unplaced).or_else(warned).or_else(waiting)
}

/// How the container that ended last ended.
fn last_exit(pods: &[&Pod]) -> Option<LastExit> {
    let ended = pods.iter().flat_map(|pod| containers(pod.status.as_ref())).flat_map(|container| {
        [&container.state, &container.last_state]
            .into_iter()
            .filter_map(|state| state.as_ref()?.terminated.as_ref())
    });
    let last = ended.max_by_key(|ended| ended.finished_at.as_ref().map(|at| at.0))?;
    Some(LastExit { code: last.exit_code, reason: exit(last.exit_code, last.reason.as_deref()) })
}

fn label<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    pod.metadata.labels.as_ref()?.get(key).map(String::as_str)
}
