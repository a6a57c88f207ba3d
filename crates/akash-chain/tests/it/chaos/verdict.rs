//! What must be true at the end, by the chain's own account.

use std::collections::{BTreeMap, BTreeSet};

use akash_chain::follow::{FollowConfig, Followed, Follower};
use akash_chain::query::OrderFilter;
use akash_proto::akash::market::v1beta5::MsgWithdrawLease;
use akash_proto::cosmos::tx::v1beta1::{TxBody, TxRaw};
use akash_types::{BidId, BidState, ChainEvent, EscrowState, LeaseId, OrderId};
use prost::Message as _;
use prost_types::Any;
use provider_testkit::bidder::{Entry, Want};

use crate::chaos::ours::LONG;
use crate::chaos::world::{CHAIN, PROVIDER, World, address, insist, rpc};

/// How much a run has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) orders: usize,
    pub(crate) bids: usize,
    /// Orders that were closed before a bid of ours.
    pub(crate) missed: usize,
    pub(crate) closes: usize,
    pub(crate) withdrawals: usize,
    /// Transactions of our key that are not ours.
    pub(crate) foreign: usize,
    /// Intents that a life found done by the one before, or by nobody knows whom.
    pub(crate) found_done: usize,
    pub(crate) lives: usize,
}

impl Tally {
    fn parts(&mut self) -> [&mut usize; 8] {
        let Self { orders, bids, missed, closes, withdrawals, foreign, found_done, lives } = self;
        [orders, bids, missed, closes, withdrawals, foreign, found_done, lives]
    }

    pub(crate) fn add(&mut self, mut other: Self) {
        for (part, more) in self.parts().into_iter().zip(other.parts()) {
            *part += *more;
        }
    }

    pub(crate) fn is_worth_something(mut self) -> bool {
        self.parts().iter().all(|part| **part > 0)
    }
}

#[derive(Default)]
struct Chain {
    orders: BTreeMap<OrderId, u64>,
    closed: BTreeSet<OrderId>,
    bids: BTreeMap<BidId, Vec<u64>>,
    leases: BTreeSet<LeaseId>,
    withdrawals: BTreeMap<LeaseId, Vec<u64>>,
    foreign: usize,
}

async fn read(world: &World, from: u64, to: u64) -> Chain {
    let mut chain = Chain::default();
    let nodes = vec![rpc(world.devnet.rpc_address())];
    let mut follower = Follower::start(FollowConfig::new(CHAIN, nodes), Some(from)).unwrap();
    for height in from + 1..=to {
        let next = tokio::time::timeout(LONG, follower.next()).await;
        let Some(Followed::Block(block)) = next.unwrap() else { panic!("no block {height}") };
        assert_eq!((block.height, block.effects.unreadable), (height, 0));
        for event in block.effects.events {
            match event.event {
                ChainEvent::OrderCreated { id } => drop(chain.orders.insert(id, height)),
                ChainEvent::OrderClosed { id } => drop(chain.closed.insert(id)),
                ChainEvent::BidCreated { id, .. } => chain.bids.entry(id).or_default().push(height),
                ChainEvent::LeaseCreated { id, .. } => drop(chain.leases.insert(id)),
                _ => {}
            }
        }
        if block.effects.txs.is_empty() {
            continue;
        }
        let raw = insist(|| world.node.block(height)).await.txs;
        for (raw, _) in raw.iter().zip(&block.effects.txs).filter(|(_, tx)| tx.is_ok()) {
            let messages = messages(raw);
            chain.foreign += messages.iter().filter(|any| any.type_url.ends_with("Send")).count();
            for lease in withdrawn(&messages) {
                chain.withdrawals.entry(lease).or_default().push(height);
            }
        }
    }
    chain
}

fn messages(raw: &[u8]) -> Vec<Any> {
    let raw = TxRaw::decode(raw).unwrap();
    TxBody::decode(raw.body_bytes.as_slice()).unwrap().messages
}

fn withdrawn(messages: &[Any]) -> Vec<LeaseId> {
    let messages = messages.iter().filter(|any| any.type_url.ends_with(".MsgWithdrawLease"));
    messages
        .map(|any| {
            let message = MsgWithdrawLease::decode(any.value.as_slice()).unwrap();
            LeaseId::try_from(message.id.unwrap()).unwrap()
        })
        .collect()
}

/// True if the account of a lease is closed and its payment is not. The chain leaves a payment open
/// when it closes an account that was settled in the same block, and then refuses every withdrawal.
async fn is_left_open(world: &World, lease: LeaseId) -> bool {
    let deployment = insist(|| world.query.deployment(lease.deployment_id())).await.value.unwrap();
    let payment = insist(|| world.query.lease(lease)).await.value.unwrap().payment.unwrap();
    let account = deployment.account.unwrap();
    (account.state, payment.state) == (EscrowState::Closed, EscrowState::Open)
}

/// Compares what our side wrote down with what the chain did between two heights.
pub(crate) async fn reach(world: &World, entries: &[Entry], from: u64, to: u64) -> Tally {
    let chain = read(world, from, to).await;
    let ours = address(PROVIDER);
    let of = |pick: fn(&Want) -> bool| entries.iter().filter(move |entry| pick(&entry.want));

    let seen: Vec<(OrderId, u64)> = entries
        .iter()
        .filter_map(|entry| match entry.want {
            Want::Bid(order) => Some((order, entry.height)),
            _ => None,
        })
        .collect();
    assert_eq!(seen.len(), chain.orders.len(), "orders seen and created");
    for (order, height) in seen {
        assert_eq!(chain.orders.get(&order), Some(&height), "{order} was seen elsewhere");
    }

    let state = insist(|| world.query.bids_of(ours, None)).await.value.items;
    let state: BTreeMap<BidId, BidState> =
        state.iter().map(|info| (info.bid.id, info.bid.state)).collect();
    assert_eq!(state.len(), chain.bids.len(), "bids in the state and in blocks");
    let open = insist(|| world.query.orders(OrderFilter::default())).await.value.items;
    assert_eq!(open.len(), chain.orders.len(), "orders in the state and in blocks");

    for entry in entries {
        let said = entry.outcome.as_deref().unwrap_or("nothing");
        match entry.want {
            Want::Bid(order) => {
                let bid = order.bid_id(ours);
                match chain.bids.get(&bid).map(Vec::as_slice) {
                    Some([height]) => {
                        assert!(entry.holds(), "bid on {order} is in block {height}: {said}");
                        if let Some(told) = said.strip_prefix("executed ") {
                            assert_eq!(told, height.to_string(), "bid on {order}");
                        }
                        assert!(state.contains_key(&bid), "{bid} is not in the state");
                    }
                    None => {
                        assert!(chain.closed.contains(&order), "no bid on {order}: {said}");
                        assert!(said.starts_with("refused "), "no bid on {order}: {said}");
                    }
                    Some(several) => panic!("bids on {order} in blocks {several:?}"),
                }
            }
            Want::Close(bid) => {
                assert!(entry.holds(), "closing {bid}: {said}");
                assert_eq!(state.get(&bid), Some(&BidState::Closed), "{bid}: {said}");
            }
            Want::Withdraw(lease) => {
                let is_left_open =
                    said.ends_with("account closed") && is_left_open(world, lease).await;
                assert!(entry.holds() || is_left_open, "withdrawing from {lease}: {said}");
                let effects = chain.withdrawals.get(&lease).map_or(&[][..], Vec::as_slice);
                assert!(effects.len() <= 1, "withdrawn from {lease} in {effects:?}: {said}");
                if let Some(told) = said.strip_prefix("executed ") {
                    assert_eq!(effects.iter().map(u64::to_string).collect::<Vec<_>>(), [told]);
                }
            }
            Want::Lease(lease) => assert!(chain.leases.contains(&lease), "{lease} never was"),
        }
    }
    let leases = of(|want| matches!(want, Want::Lease(_))).count();
    assert_eq!(leases, chain.leases.len(), "leases seen and created");
    let withdrawals = of(|want| matches!(want, Want::Withdraw(_))).count();
    assert_eq!(withdrawals, leases, "withdrawals wanted");
    let closes = of(|want| matches!(want, Want::Close(_))).count();
    assert_eq!(closes, chain.bids.keys().filter(|bid| bid.dseq() % 5 == 0).count());
    Tally {
        orders: chain.orders.len(),
        bids: chain.bids.len(),
        missed: chain.orders.len() - chain.bids.len(),
        closes,
        withdrawals: chain.withdrawals.len(),
        foreign: chain.foreign,
        found_done: entries
            .iter()
            .filter(|entry| entry.outcome.as_deref() == Some("already_holds"))
            .count(),
        lives: 0,
    }
}
