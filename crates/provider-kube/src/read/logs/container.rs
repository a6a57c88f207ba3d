//! Where a container is in its life, as far as its log is concerned.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use crate::observe::replica::exit;

/// Where a container is in its life. Instances are counted by restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// It never started: it has written nothing.
    Waiting,
    Running(i32),
    Ended(i32, String),
}

pub(super) fn container(pod: &Pod, service: &str) -> Container {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    let Some(status) = statuses.into_iter().flatten().find(|status| status.name == service) else {
        return Container::Waiting;
    };
    let state = status.state.as_ref();
    if state.is_some_and(|state| state.running.is_some()) {
        return Container::Running(status.restart_count);
    }
    match ended(status) {
        Some(how) => Container::Ended(status.restart_count, how),
        None => Container::Waiting,
    }
}

fn ended(status: &ContainerStatus) -> Option<String> {
    let states = [&status.state, &status.last_state];
    let over = states.into_iter().find_map(|state| state.as_ref()?.terminated.as_ref())?;
    Some(exit(over.exit_code, over.reason.as_deref()))
}

/// How many instances there were before the one that runs or ran last.
pub(super) fn has_previous(pod: &Pod, service: &str) -> bool {
    match container(pod, service) {
        Container::Waiting => false,
        Container::Running(restarts) | Container::Ended(restarts, _) => restarts > 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(state: Value, last: Value, restarts: i32) -> Container {
        let pod = json!({"metadata": {}, "status": {"containerStatuses": [{
            "name": "web", "image": "", "imageID": "", "ready": true, "restartCount": restarts,
            "state": state, "lastState": last,
        }]}});
        container(&serde_json::from_value(pod).unwrap(), "web")
    }

    #[test]
    fn a_container_between_two_starts_has_ended() {
        let over = json!({"terminated": {"exitCode": 3}});
        let words = || "it ended with exit code 3".to_owned();
        let waiting = || json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(at(waiting(), json!({}), 0), Container::Waiting);
        assert_eq!(at(json!({"running": {}}), over.clone(), 2), Container::Running(2));
        assert_eq!(at(waiting(), over.clone(), 2), Container::Ended(2, words()));
        assert_eq!(at(over, json!({}), 0), Container::Ended(0, words()));
        assert_eq!(container(&Pod::default(), "web"), Container::Waiting);
    }
}
