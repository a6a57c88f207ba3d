//! Whether a wanted state holds.

use akash_types::{
    Address, BidState, CertificateState, EscrowState, LeaseId, LeaseState, Provider, Wanted,
};

use crate::query::{Query, QueryError, Transport};

/// Whether a state holds for `owner`, as the node knows it now.
pub(super) async fn holds<T: Transport>(
    query: &Query<T>,
    owner: Address,
    wanted: &Wanted,
) -> Result<bool, QueryError> {
    Ok(match wanted {
        Wanted::Bid(bid) => query.bid(*bid).await?.value.is_some(),
        Wanted::BidOver(bid) => {
            let found = query.bid(*bid).await?.value;
            !found.is_some_and(|found| matches!(found.bid.state, BidState::Open | BidState::Active))
        }
        Wanted::Withdrawn { lease, since } => is_withdrawn(query, *lease, *since).await?,
        Wanted::Reclaiming(lease) => {
            let found = query.lease(*lease).await?.value;
            found.is_some_and(|found| found.lease.state != LeaseState::Active)
        }
        Wanted::CertificateValid { serial } => {
            query.certificate(owner, serial, CertificateState::Valid).await?.value.is_some()
        }
        Wanted::CertificateRevoked { serial } => {
            query.certificate(owner, serial, CertificateState::Revoked).await?.value.is_some()
        }
        Wanted::Provider(provider) => {
            let found = query.provider(provider.owner).await?.value;
            found.is_some_and(|found| sorted(found) == sorted(provider.as_ref().clone()))
        }
        Wanted::Unverifiable => false,
    })
}

/// A payment that has ended was paid out. One that goes on was, if its account was settled since
/// and nothing was left on it.
async fn is_withdrawn<T: Transport>(
    query: &Query<T>,
    lease: LeaseId,
    since: u64,
) -> Result<bool, QueryError> {
    let Some(found) = query.lease(lease).await?.value else { return Ok(false) };
    let Some(payment) = found.payment else { return Ok(false) };
    if payment.state != EscrowState::Open {
        return Ok(true);
    }
    if payment.balance.amount().truncate_int() != 0 {
        return Ok(false);
    }
    let deployment = query.deployment(lease.deployment_id()).await?.value;
    let account = deployment.and_then(|deployment| deployment.account);
    Ok(account.is_some_and(|account| account.settled_at >= since))
}

/// The order of attributes says nothing.
fn sorted(mut provider: Provider) -> Provider {
    provider.attributes.sort();
    provider
}
