//! What is asked of a cluster in another process. One connection carries one request.

use std::sync::Arc;

use akash_types::{LeaseClosedReason, LeaseId, LeaseState};
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::reconcile::Evidence;
use serde::{Deserialize, Serialize};

use super::nouns::{LeaseIdWire, Unreadable, WorkloadWire, unreadable};
use super::tenant::{QueryWrap, RequestWrap, ServicesWrap};
use crate::core::Disturbance;

/// A request: the first line that a client sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Answered by one `Result<(), CommandFailure>`.
    Execute(Box<OperationWire>),
    /// Answered by lines of changes, without end.
    Observe,
    Status(LeaseIdWire),
    Service(LeaseIdWire, String),
    Manifest(LeaseIdWire),
    /// Answered by results, each with an event; `None` is the end.
    Events {
        lease: LeaseIdWire,
        services: ServicesWrap,
        follow: bool,
    },
    /// Answered by results, each with a part; `None` is the end.
    Logs(LeaseIdWire, QueryWrap),
    /// Answered by one result; then inputs and outputs, a line each.
    Exec(LeaseIdWire, RequestWrap),
    /// Answered by `null`.
    Disturb(Disturbance),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum OperationWire {
    Hold(WorkloadWire),
    Deploy(WorkloadWire),
    Teardown { lease: LeaseIdWire, state: i32, reason: Option<i32>, heights: (u64, u64) },
    Maintain(bool),
}

impl From<&Operation> for OperationWire {
    fn from(operation: &Operation) -> Self {
        match operation {
            Operation::Hold(workload) => Self::Hold(workload.into()),
            Operation::Deploy(workload) => Self::Deploy(workload.into()),
            Operation::Teardown { lease, evidence } => Self::Teardown {
                lease: lease.into(),
                state: evidence.state().code(),
                reason: evidence.reason().map(LeaseClosedReason::code),
                heights: evidence.heights(),
            },
            Operation::Maintain(on) => Self::Maintain(*on),
        }
    }
}

impl TryFrom<OperationWire> for Operation {
    type Error = Unreadable;

    fn try_from(wire: OperationWire) -> Result<Self, Unreadable> {
        Ok(match wire {
            OperationWire::Hold(workload) => Self::Hold(Arc::<Workload>::try_from(workload)?),
            OperationWire::Deploy(workload) => Self::Deploy(Arc::<Workload>::try_from(workload)?),
            OperationWire::Maintain(on) => Self::Maintain(on),
            OperationWire::Teardown { lease, state, reason, heights: (first, confirmed) } => {
                let no = |why: &str| unreadable("evidence", &state.to_string(), why);
                let state = LeaseState::from_code(state).map_err(|why| no(&why.to_string()))?;
                let reason = reason.map(LeaseClosedReason::from_code).transpose();
                let reason = reason.map_err(|why| no(&why.to_string()))?;
                let evidence = Evidence::new(state, reason, first, confirmed);
                let evidence = evidence.ok_or_else(|| no("it does not prove an end"))?;
                Self::Teardown { lease: LeaseId::try_from(lease)?, evidence }
            }
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FailureWrap(#[serde(with = "CommandFailureWire")] pub(crate) CommandFailure);

#[derive(Serialize, Deserialize)]
#[serde(remote = "CommandFailure")]
enum CommandFailureWire {
    Unavailable(String),
    Refused(String),
}
