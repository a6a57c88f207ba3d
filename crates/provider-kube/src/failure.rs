//! What a failed request means to the engine.

use kube_access::Failure;
use provider_engine::cluster::command::CommandFailure;
use provider_engine::cluster::port::ReadFailure;

/// What "not found" is about here is never the lease: a namespace of the operator's, a kind.
pub(crate) fn of_command(failure: Failure) -> CommandFailure {
    match failure {
        Failure::Refused(why) => CommandFailure::Refused(why),
        Failure::NotFound(why) | Failure::Conflict(why) | Failure::Unavailable { why, .. } => {
            CommandFailure::Unavailable(why)
        }
    }
}

pub(crate) fn of_read(failure: Failure) -> ReadFailure {
    match of_command(failure) {
        CommandFailure::Refused(why) => ReadFailure::Refused(why),
        CommandFailure::Unavailable(why) => ReadFailure::Unavailable(why),
    }
}
