//! Pods of leases, and how they are.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use provider_crd::labels;
use provider_engine::cluster::view::{CardChoice, Condition, Name, Replica};

use super::asks;

/// Why a container waits, where waiting longer does not help by itself.
const HOPELESS: [(&str, &str); 8] = [
    ("CrashLoopBackOff", "it ends soon after every start"),
    ("ImagePullBackOff", "its image cannot be pulled"),
    ("ErrImagePull", "its image cannot be pulled"),
    ("InvalidImageName", "its image has no valid name"),
    ("ErrImageNeverPull", "its image is not on the node"),
    ("CreateContainerConfigError", "its container cannot be set up"),
    ("CreateContainerError", "its container cannot be created"),
    ("RunContainerError", "its container cannot be started"),
];

/// The lease that a pod is of, and the service, if it is of one.
pub(super) fn lease_of<'a>(
    pod: &'a Pod,
    leases: &BTreeMap<String, LeaseId>,
) -> Option<(LeaseId, &'a str)> {
    let lease = leases.get(pod.metadata.namespace.as_ref()?)?;
    let labels = pod.metadata.labels.as_ref()?;
    Some((*lease, labels.get(labels::SERVICE)?))
}

/// Whether a pod has ended for good: the scheduler counts it no more.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// Where a pod was put.
pub(super) fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
}

/// The pod as a replica of its service, which was promised `card`.
pub(super) fn of(pod: &Pod, service: &str, card: Option<&CardChoice>) -> Replica {
    let asks = asks::of(pod);
    Replica {
        service: service.to_owned(),
        node: node_of(pod).map(Name::from),
        asks,
        card: card.filter(|_| asks.gpu > 0).cloned(),
        condition: condition(pod),
        restarts: containers(pod.status.as_ref()).map(restarts).fold(0, u32::saturating_add),
    }
}

/// How a pod is, with the reason in plain words.
#[must_use]
pub fn condition(pod: &Pod) -> Condition {
    if pod.metadata.deletion_timestamp.is_some() {
        return Condition::Ending;
    }
    let status = pod.status.as_ref();
    if has_ended(pod) {
        return Condition::Failing(ended(status));
    }
    if is(status, "Ready") == Some(true) {
        return Condition::Ready;
    }
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let unscheduled = conditions.clone().find(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    });
    if let Some(unscheduled) = unscheduled {
        let why = unscheduled.message.clone().filter(|message| !message.is_empty());
        return Condition::Unschedulable(why.unwrap_or_else(|| "no node fits".to_owned()));
    }
    match containers(status).find_map(failing) {
        Some(why) => Condition::Failing(why),
        None => Condition::Starting,
    }
}

/// Why a container fails, if it does.
fn failing(container: &ContainerStatus) -> Option<String> {
    let state = container.state.as_ref()?;
    if let Some(waiting) = &state.waiting {
        let reason = waiting.reason.as_deref()?;
        let (_, words) = HOPELESS.iter().find(|(known, _)| *known == reason)?;
        let last = container.last_state.as_ref().and_then(|last| last.terminated.as_ref());
        let detail = match last {
            Some(last) => Some(exit(last.exit_code, last.reason.as_deref())),
            None => waiting.message.clone().filter(|message| !message.is_empty()),
        };
        return Some(match detail {
            Some(detail) => format!("{words}: {detail}"),
            None => (*words).to_owned(),
        });
    }
    let over = state.terminated.as_ref()?;
    Some(exit(over.exit_code, over.reason.as_deref()))
}

/// How a container ended, in words.
pub(crate) fn exit(code: i32, reason: Option<&str>) -> String {
    match (reason, code) {
        (Some("OOMKilled"), _) => {
            "it was killed because it used more memory than it may".to_owned()
        }
        (_, 0) => "it ended by itself".to_owned(),
        (_, 129..=192) => format!("it was killed by signal {}", code - 128),
        _ => format!("it ended with exit code {code}"),
    }
}

/// Why a pod that has ended did.
fn ended(status: Option<&PodStatus>) -> String {
    let said = status.and_then(|status| match (&status.reason, &status.message) {
        (Some(reason), Some(message)) => Some(format!("{reason}: {message}")),
        (Some(text), None) | (None, Some(text)) => Some(text.clone()),
        (None, None) => None,
    });
    said.unwrap_or_else(|| "its pod has ended".to_owned())
}

fn is(status: Option<&PodStatus>, kind: &str) -> Option<bool> {
    let conditions = status?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == kind).map(|found| found.status == "True")
}

/// All containers of a pod, those that start it first.
pub(crate) fn containers(status: Option<&PodStatus>) -> impl Iterator<Item = &ContainerStatus> {
    status.into_iter().flat_map(|status| {
        let starting = status.init_container_statuses.iter().flatten();
        starting.chain(status.container_statuses.iter().flatten())
    })
}

pub(crate) fn restarts(container: &ContainerStatus) -> u32 {
    u32::try_from(container.restart_count).unwrap_or_default()
}
