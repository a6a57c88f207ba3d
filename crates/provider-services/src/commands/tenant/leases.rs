//! Leases of a deployment, and how an id is written.

use akash_chain::query::{LeaseFilter, QueryError};
use akash_types::{DeploymentId, LeaseId, LeaseState};
use serde::Serialize;

use crate::chain::Network;

/// The leases of a deployment that are paid for, in order of their groups.
pub(crate) async fn active_leases(
    network: &Network,
    id: DeploymentId,
) -> Result<Vec<LeaseId>, QueryError> {
    let filter = LeaseFilter {
        owner: Some(id.owner()),
        dseq: Some(id.dseq()),
        state: Some(LeaseState::Active),
        ..LeaseFilter::default()
    };
    let found = network.query().leases(filter).await?.value.items;
    let mut leases: Vec<LeaseId> = found.into_iter().map(|info| info.lease.id).collect();
    leases.sort_by_key(|lease| (lease.gseq(), lease.oseq()));
    Ok(leases)
}

/// The id of a lease, as the Go program prints it beside events and lines of logs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeaseIdDocument {
    owner: String,
    dseq: u64,
    gseq: u32,
    oseq: u32,
    provider: String,
    bseq: u32,
}

impl From<LeaseId> for LeaseIdDocument {
    fn from(id: LeaseId) -> Self {
        Self {
            owner: id.owner().to_string(),
            dseq: id.dseq(),
            gseq: id.gseq(),
            oseq: id.oseq(),
            provider: id.provider().to_string(),
            bseq: id.bseq(),
        }
    }
}
