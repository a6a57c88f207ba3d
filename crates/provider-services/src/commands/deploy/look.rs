//! What the chain has of a deployment.

use std::collections::BTreeMap;

use akash_chain::query::{BidFilter, LeaseFilter};
use akash_types::{
    Address, BidState, DeploymentId, DeploymentState, GroupState, LeaseState, Provider,
};

use super::plan::{GroupSeen, Offer, Seen};
use crate::chain::Network;

/// Reads deployment, bids and leases. `hash` is that of the SDL at hand.
pub(super) async fn look(
    network: &Network,
    id: DeploymentId,
    hash: &[u8; 32],
) -> anyhow::Result<Seen> {
    let query = network.query();
    let Some(found) = query.deployment(id).await?.value else { return Ok(Seen::Nothing) };
    if found.deployment.state != DeploymentState::Active {
        return Ok(Seen::Closed);
    }
    if found.deployment.hash != *hash {
        return Ok(Seen::Other);
    }
    let (owner, dseq) = (Some(id.owner()), Some(id.dseq()));
    let state = Some(LeaseState::Active);
    let leases = query.leases(LeaseFilter { owner, dseq, state, ..LeaseFilter::default() }).await?;
    let state = Some(BidState::Open);
    let bids = query.bids(BidFilter { owner, dseq, state, ..BidFilter::default() }).await?;
    let groups = found.groups.into_iter().map(|group| {
        let leases = leases.value.items.iter().map(|info| info.lease.id);
        let bids = bids.value.items.iter().map(|info| &info.bid);
        let offers = bids.filter(|bid| bid.id.group_id() == group.id);
        GroupSeen {
            gseq: group.id.gseq(),
            is_open: group.state == GroupState::Open,
            offers: offers.map(|bid| Offer { bid: bid.id, price: bid.price.clone() }).collect(),
            lease: leases.into_iter().find(|lease| lease.group_id() == group.id),
            name: group.spec.name,
        }
    });
    Ok(Seen::Active(groups.collect()))
}

/// What the chain knows of providers; who is not there is left out.
pub(super) async fn providers(
    network: &Network,
    groups: &[GroupSeen],
) -> anyhow::Result<BTreeMap<Address, Provider>> {
    let mut known = BTreeMap::new();
    for offer in groups.iter().flat_map(|group| &group.offers) {
        let address = offer.bid.provider();
        if known.contains_key(&address) {
            continue;
        }
        if let Some(provider) = network.query().provider(address).await?.value {
            known.insert(address, provider);
        }
    }
    Ok(known)
}
