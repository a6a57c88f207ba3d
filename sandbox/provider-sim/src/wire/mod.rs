//! How the cluster's nouns are written as JSON: in the file of a state, and between processes.
//!
//! The nouns themselves carry no format. Each has a counterpart here; reading one checks what the
//! noun would refuse.

mod nouns;
mod tenant;
mod view;

pub(crate) use nouns::{AmountsWire, ArchWire, CardWire, LeaseIdWire, WorkloadWire, group_to_json};
pub(crate) use tenant::{
    EventWrap, ExecFailureWrap, InputWrap, LogWrap, OutputWrap, QueryWrap, ReadFailureWrap,
    RequestWrap, ServicesWrap, StatusWrap,
};
pub(crate) use view::{Assembly, ChangeWire, HeldWire, lines};

/// Modules for `#[serde(with = …)]`: a noun through its counterpart.
macro_rules! through {
    ($module:ident, $noun:ty, $wire:ty) => {
        pub(crate) mod $module {
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use super::*;

            pub(crate) fn serialize<S: Serializer>(
                noun: &$noun,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                <$wire>::from(noun).serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$noun, D::Error> {
                <$noun>::try_from(<$wire>::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    };
    ($module:ident, $noun:ty, $wire:ty, option) => {
        pub(crate) mod $module {
            use super::*;

            pub(crate) mod option {
                use serde::de::Error;
                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                use super::*;

                pub(crate) fn serialize<S: Serializer>(
                    noun: &Option<$noun>,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    noun.as_ref().map(<$wire>::from).serialize(serializer)
                }

                pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Option<$noun>, D::Error> {
                    let wire = Option::<$wire>::deserialize(deserializer)?;
                    wire.map(<$noun>::try_from).transpose().map_err(D::Error::custom)
                }
            }
        }
    };
}

use std::sync::Arc;

use akash_types::{CpuArch, LeaseClosedReason, LeaseId, LeaseState};
use nouns::{Unreadable, unreadable};
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::view::{Amounts, CardChoice};
use provider_engine::reconcile::Evidence;
use serde::{Deserialize, Serialize};

use crate::core::Disturbance;

through!(amounts, Amounts, AmountsWire);
through!(arch, CpuArch, ArchWire);
through!(lease_id, LeaseId, LeaseIdWire);
through!(card, CardChoice, CardWire, option);
through!(workload, Arc<Workload>, WorkloadWire, option);

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
