//! Leases.

use akash_proto::akash::market::v1 as wire;

use super::error::{At, ConvertError, defaulted, optional, required};
use super::params::{count, happened, span, wire_count, wire_span};
use crate::lease::{Lease, Reclamation};
use crate::{LeaseClosedReason, LeaseState};

/// A reason of which 0 means that there is none.
fn reason(code: i32) -> Result<Option<LeaseClosedReason>, ConvertError> {
    match code {
        0 => Ok(None),
        _ => LeaseClosedReason::from_code(code).map(Some).at("reason"),
    }
}

fn wire_reason(reason: Option<LeaseClosedReason>) -> i32 {
    reason.map_or(0, LeaseClosedReason::code)
}

impl TryFrom<wire::Lease> for Lease {
    type Error = ConvertError;

    fn try_from(lease: wire::Lease) -> Result<Self, Self::Error> {
        Ok(Self {
            id: required("id", lease.id)?,
            state: LeaseState::from_code(lease.state).at("state")?,
            price: defaulted("price", lease.price)?,
            created_at: count("created_at", lease.created_at)?,
            closed_on: happened("closed_on", lease.closed_on)?,
            reason: reason(lease.reason)?,
            reclamation: optional("reclamation", lease.reclamation)?,
        })
    }
}

impl From<Lease> for wire::Lease {
    fn from(lease: Lease) -> Self {
        Self {
            id: Some(lease.id.into()),
            state: lease.state.code(),
            price: Some(lease.price.into()),
            created_at: wire_count(lease.created_at),
            closed_on: wire_count(lease.closed_on.unwrap_or_default()),
            reason: wire_reason(lease.reason),
            reclamation: lease.reclamation.map(Into::into),
        }
    }
}

impl TryFrom<wire::Reclamation> for Reclamation {
    type Error = ConvertError;

    fn try_from(reclamation: wire::Reclamation) -> Result<Self, Self::Error> {
        Ok(Self {
            window: span("window", reclamation.window)?.unwrap_or_default(),
            started_at: happened("started_at", reclamation.started_at)?,
            deadline: happened("deadline", reclamation.deadline)?,
            reason: reason(reclamation.reason)?,
        })
    }
}

impl From<Reclamation> for wire::Reclamation {
    fn from(reclamation: Reclamation) -> Self {
        Self {
            window: Some(wire_span(reclamation.window)),
            started_at: wire_count(reclamation.started_at.unwrap_or_default()),
            deadline: wire_count(reclamation.deadline.unwrap_or_default()),
            reason: wire_reason(reclamation.reason),
        }
    }
}
