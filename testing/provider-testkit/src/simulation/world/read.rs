//! What the engine asks the chain, answered from one state of it.

use std::time::{Duration, UNIX_EPOCH};

use akash_chain::query::{LeaseFilter, Query, QueryError};
use akash_devnet::node::History;
use akash_devnet::state::State;
use akash_types::{Address, BidState, DeploymentId, EscrowPayment, Lease, LeaseState, OrderId};
use provider_engine::chain::{
    AccountRead, ChainAnswer, ChainQuery, DeploymentRead, Read, Standing, Unavailable,
};
use provider_engine::time::BlockTime;

use super::snapshot::{Snapshot, now};

/// What a node with this past answers.
pub(super) fn read(
    history: &History<State>,
    own: Address,
    query: &ChainQuery,
) -> Result<Read, Unavailable> {
    let height = history.latest();
    let none = |what: &str| Unavailable(what.to_owned());
    if let ChainQuery::BlockTime(wanted) = query {
        let time = history.block(*wanted).map(|block| block_time(block.header.time_unix_nanos));
        return Ok(Read { height, answer: ChainAnswer::BlockTime(time) });
    }
    let state = history.state(height).ok_or_else(|| none("no state"))?;
    let chain = Snapshot::query(state.clone());
    let answer = now(answer(&chain, own, query)).ok_or_else(|| none("it waits"))?;
    let answer = answer.map_err(|error| Unavailable(error.to_string()))?;
    Ok(Read { height, answer })
}

/// A block's time as the engine counts it.
pub(super) fn block_time(nanos: i64) -> BlockTime {
    let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
    let time = UNIX_EPOCH + nanos;
    BlockTime::from_unix(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

async fn answer(
    chain: &Query<Snapshot>,
    own: Address,
    query: &ChainQuery,
) -> Result<ChainAnswer, QueryError> {
    Ok(match query {
        ChainQuery::OpenOrders => ChainAnswer::OpenOrders(chain.open_orders().await?.value.items),
        ChainQuery::OwnBids => {
            let mut bids = Vec::new();
            for state in [BidState::Open, BidState::Active] {
                let listed = chain.bids_of(own, Some(state)).await?.value.items;
                bids.extend(listed.into_iter().map(|info| info.bid));
            }
            ChainAnswer::OwnBids(bids)
        }
        ChainQuery::OwnLeases => {
            let filter = LeaseFilter { provider: Some(own), ..LeaseFilter::default() };
            ChainAnswer::OwnLeases(alive(chain, filter).await?)
        }
        ChainQuery::Order(order) => {
            let order = chain.order(*order).await?.value;
            ChainAnswer::Standing(Box::new(Standing { order, ..Standing::default() }))
        }
        ChainQuery::Standing(order) => {
            ChainAnswer::Standing(Box::new(standing(chain, own, *order).await?))
        }
        ChainQuery::Deployment(id) => {
            let Some(info) = chain.deployment(*id).await?.value else {
                return Ok(ChainAnswer::Deployment(None));
            };
            let filter = LeaseFilter { provider: Some(own), ..of(*id) };
            let leases = alive(chain, filter).await?.into_iter().map(|lease| lease.id).collect();
            let (deployment, groups) = (info.deployment, info.groups);
            ChainAnswer::Deployment(Some(Box::new(DeploymentRead { deployment, groups, leases })))
        }
        ChainQuery::Account(id) => {
            let account = chain.deployment(*id).await?.value.and_then(|info| info.account);
            let Some(account) = account else { return Ok(ChainAnswer::Account(Box::default())) };
            let leases = alive(chain, of(*id)).await?.into_iter().map(Into::into).collect();
            let payments = payments(chain, own, *id).await?;
            let account = Some(account);
            ChainAnswer::Account(Box::new(AccountRead { account, leases, payments }))
        }
        ChainQuery::Provider => {
            let provider = chain.provider(own).await?.value;
            let audits = chain.audits_of(own).await?.value.items;
            let audits = audits.into_iter().map(|entry| entry.audited).collect();
            ChainAnswer::Provider(provider.map(Box::new), audits)
        }
        ChainQuery::Params => {
            let market = Box::new(chain.market_params().await?.value);
            let verification_active = chain.verification_is_active().await?;
            ChainAnswer::Params { market, verification_active }
        }
        ChainQuery::Wallet => {
            ChainAnswer::Wallet(chain.spendable_balances(own).await?.value.items.into())
        }
        // Answered from blocks, not from state.
        ChainQuery::BlockTime(_) => ChainAnswer::BlockTime(None),
    })
}

/// How a provider stands with an order.
pub(crate) async fn standing(
    chain: &Query<Snapshot>,
    own: Address,
    order: OrderId,
) -> Result<Standing, QueryError> {
    let bid = order.bid_id(own);
    Ok(Standing {
        order: chain.order(order).await?.value,
        bid: chain.bid(bid).await?.value.map(|info| info.bid),
        lease: chain.lease(bid.lease_id()).await?.value.map(|info| info.lease),
    })
}

fn of(id: DeploymentId) -> LeaseFilter {
    LeaseFilter { owner: Some(id.owner()), dseq: Some(id.dseq()), ..LeaseFilter::default() }
}

async fn alive(chain: &Query<Snapshot>, filter: LeaseFilter) -> Result<Vec<Lease>, QueryError> {
    let mut leases = Vec::new();
    for state in [LeaseState::Active, LeaseState::Reclaiming] {
        let filter = LeaseFilter { state: Some(state), ..filter };
        let listed = chain.leases(filter).await?.value.items;
        leases.extend(listed.into_iter().map(|info| info.lease));
    }
    Ok(leases)
}

/// What a provider is paid from an account.
pub(crate) async fn payments(
    chain: &Query<Snapshot>,
    own: Address,
    id: DeploymentId,
) -> Result<Vec<EscrowPayment>, QueryError> {
    let filter = LeaseFilter { provider: Some(own), ..of(id) };
    let listed = chain.leases(filter).await?.value.items;
    Ok(listed.into_iter().filter_map(|info| info.payment).collect())
}
