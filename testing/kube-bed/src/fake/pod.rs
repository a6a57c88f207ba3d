//! What a fake kubelet does about a pod: a function of the pod and the time.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Write this status: everything in it runs.
    Run(Value),
    /// Say that nothing of it is left.
    Remove,
}

/// The next step of a pod on a fake node; `None` where there is nothing to do. A status that a test
/// wrote is left alone.
pub(super) fn next(pod: &Pod, now: Timestamp) -> Option<Step> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(Step::Remove);
    }
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, None | Some("Pending")).then(|| Step::Run(running(pod, now)))
}

fn running(pod: &Pod, now: Timestamp) -> Value {
    let now = Time(now);
    let spec = pod.spec.as_ref();
    let started = spec.into_iter().flat_map(|spec| &spec.containers).map(|container| {
        json!({
            "name": container.name, "image": container.image, "imageID": "",
            "ready": true, "started": true, "restartCount": 0,
            "state": {"running": {"startedAt": now}}
        })
    });
    let initial = spec.into_iter().flat_map(|spec| spec.init_containers.iter().flatten());
    let finished = initial.map(|container| {
        json!({
            "name": container.name, "image": container.image, "imageID": "",
            "ready": true, "restartCount": 0,
            "state": {"terminated": {
                "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now
            }}
        })
    });
    let conditions = ["Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": now}));
    let ip = address(pod.metadata.uid.as_deref().unwrap_or_default());
    json!({
        "phase": "Running", "startTime": now, "conditions": conditions,
        "hostIP": "127.0.0.1", "podIP": ip, "podIPs": [{"ip": ip}],
        "containerStatuses": started.collect::<Vec<_>>(),
        "initContainerStatuses": finished.collect::<Vec<_>>()
    })
}

/// An address of 10.128.0.0/9 that a pod keeps. Two pods may share one: nobody answers there.
fn address(uid: &str) -> Ipv4Addr {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    let [_, .., b, c, d] = hasher.finish().to_be_bytes();
    Ipv4Addr::new(10, 128 | b, c, d)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn pod(value: Value) -> Pod {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_pod_that_waits_is_run_once_and_with_all_its_containers() {
        let spec = json!({"containers": [{"name": "a"}, {"name": "b"}],
                          "initContainers": [{"name": "i"}]});
        let waiting = pod(json!({"metadata": {"uid": "u"}, "spec": spec,
                                 "status": {"phase": "Pending"}}));
        let Some(Step::Run(status)) = next(&waiting, Timestamp::UNIX_EPOCH) else {
            unreachable!("it waits")
        };
        assert_eq!(status.pointer("/containerStatuses/1/name"), Some(&json!("b")));
        assert_eq!(
            status.pointer("/initContainerStatuses/0/state/terminated/exitCode"),
            Some(&json!(0))
        );
        let ran = pod(json!({"metadata": {"uid": "u"}, "spec": spec, "status": status}));
        assert_eq!(next(&ran, Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn a_pod_that_ended_or_fails_by_a_test_is_left_alone_and_a_deleted_one_goes() {
        for phase in ["Succeeded", "Failed", "Running"] {
            let pod = pod(json!({"metadata": {}, "status": {"phase": phase}}));
            assert_eq!(next(&pod, Timestamp::UNIX_EPOCH), None, "{phase}");
        }
        let deleted = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        let deleted = pod(json!({"metadata": deleted, "status": {"phase": "Failed"}}));
        assert_eq!(next(&deleted, Timestamp::UNIX_EPOCH), Some(Step::Remove));
    }
}
