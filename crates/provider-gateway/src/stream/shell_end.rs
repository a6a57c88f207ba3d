//! What a tenant is told of a command that did not run, or whose end nobody saw.
//!
//! The words are those that existing clients know. Where the existing provider calls a failure a
//! success (no such lease, no such program), the code says that it failed.

use provider_api::stream::{CloseCode, ServerFrame, ShellResult};
use provider_engine::cluster::port::{ExecFailure, Missing, ReadFailure};

use super::watch::Ending;

/// What shells say of a program that is not there.
const NO_SUCH_PROGRAM: i32 = 127;

pub(super) type End = (ServerFrame, CloseCode, String);

/// The command ended by itself.
pub(super) fn exited(code: i32) -> End {
    result(code, "")
}

/// Nobody knows how it ended.
pub(super) fn broken(why: String) -> End {
    (ServerFrame::Failure, CloseCode::Failed, why)
}

pub(super) fn no_replicas() -> End {
    // The spelling is what clients know.
    result(0, "no active replicase for service")
}

/// The lease is not here.
pub(super) fn no_lease() -> End {
    result(1, "kube: lease not found")
}

/// How the service is could not be found out.
pub(super) fn not_read(failure: ReadFailure) -> End {
    match failure {
        ReadFailure::NotFound(Missing::Lease) => no_lease(),
        ReadFailure::NotFound(Missing::Workloads) => result(1, "kube: no deployments for lease"),
        ReadFailure::NotFound(Missing::Service(_)) => result(0, "kube: no service for that lease"),
        ReadFailure::Unavailable(why) => result(1, &format!("the cluster does not answer: {why}")),
        ReadFailure::Refused(why) => broken(why),
    }
}

/// The command was not started.
pub(super) fn not_started(failure: ExecFailure) -> End {
    let failed = |code, text: &str| result(code, &format!("remote command execute error: {text}"));
    match failure {
        ExecFailure::NotFound(Missing::Lease) => no_lease(),
        ExecFailure::NotFound(Missing::Workloads) => failed(0, "deployment is not yet active"),
        ExecFailure::NotFound(Missing::Service(_)) => {
            failed(0, "no such service exists with that name")
        }
        ExecFailure::NotRunning(why) if why.is_empty() => {
            failed(0, "service with that name is not running")
        }
        ExecFailure::NotRunning(why) => {
            failed(0, &format!("service with that name is not running: {why}"))
        }
        ExecFailure::NoSuchReplica { existing, .. } => failed(
            0,
            &format!("pod index out of range: valid range is [0, {}]", existing.saturating_sub(1)),
        ),
        ExecFailure::NoSuchCommand(_) => {
            failed(NO_SUCH_PROGRAM, "command could not be executed because it does not exist")
        }
        ExecFailure::Refused(_) => failed(1, "command execution failed"),
        ExecFailure::Unavailable(why) => broken(why),
    }
}

/// It was not left to end by itself.
pub(super) fn ended(ending: Ending) -> End {
    let text = match ending {
        Ending::LeaseClosed => "the lease is closed",
        Ending::Stopping => "the provider stops",
        Ending::Revoked => "the certificate is revoked",
        Ending::TooOld => "the shell has been open for too long",
    };
    let (frame, _, _) = result(1, text);
    let (code, reason) = super::pump::ended(ending);
    (frame, code, reason)
}

fn result(exit_code: i32, message: &str) -> End {
    let result = ShellResult { exit_code, message: message.to_owned() };
    (ServerFrame::Result(result), CloseCode::Done, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(end: End) -> String {
        String::from_utf8(end.0.encode().to_vec()).unwrap()
    }

    #[test]
    fn failures_are_told_as_recorded() {
        let table = [
            (exited(3), "f{\"exit_code\":3}\n"),
            (no_replicas(), "f{\"exit_code\":0,\"message\":\"no active replicase for service\"}\n"),
            (
                not_read(ReadFailure::NotFound(Missing::Service("nope".to_owned()))),
                "f{\"exit_code\":0,\"message\":\"kube: no service for that lease\"}\n",
            ),
            (
                not_started(ExecFailure::NoSuchReplica { asked: 9, existing: 1 }),
                "f{\"exit_code\":0,\"message\":\"remote command execute error: \
                 pod index out of range: valid range is [0, 0]\"}\n",
            ),
            (broken("it went away".to_owned()), "g"),
        ];
        for (end, frame) in table {
            assert_eq!(said(end), frame);
        }
    }

    #[test]
    fn no_lease_and_no_program_are_failures() {
        assert_eq!(said(no_lease()), "f{\"exit_code\":1,\"message\":\"kube: lease not found\"}\n");
        let missing = not_started(ExecFailure::NoSuchCommand("nope".to_owned()));
        assert_eq!(
            said(missing),
            "f{\"exit_code\":127,\"message\":\"remote command execute error: \
             command could not be executed because it does not exist\"}\n"
        );
    }
}
