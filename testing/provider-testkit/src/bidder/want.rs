//! What a bidder wants, and when.

use std::fmt;
use std::str::FromStr;

use akash_chain::follow::FollowedBlock;
use akash_types::{
    Action, Address, BidId, BidOffer, ChainEvent, Coin, DecCoin, Deposit, Intent, IntentId,
    LeaseClosedReason, LeaseId, OrderId,
};

use super::journal::Journal;

/// Every bid on a deployment whose number this divides is taken back once it is seen.
const CLOSE_EVERY: u64 = 5;
/// A lease is withdrawn from this many blocks after it began.
const WITHDRAW_AFTER: u64 = 3;

/// Something wanted of the chain, or to be wanted later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// A bid on an order.
    Bid(OrderId),
    /// A bid taken back.
    Close(BidId),
    /// What a lease has earned.
    Withdraw(LeaseId),
    /// Nothing yet: a lease was seen, and will be withdrawn from.
    Lease(LeaseId),
}

/// What a block leads to: a bid on every new order, some bids closed, every lease withdrawn from
/// once.
pub fn wants(journal: &Journal, block: &FollowedBlock, provider: Address) -> Vec<Want> {
    let mut wanted = Vec::new();
    for event in &block.effects.events {
        match &event.event {
            ChainEvent::OrderCreated { id } => wanted.push(Want::Bid(*id)),
            ChainEvent::BidCreated { id, .. }
                if id.provider() == provider && is_closed_again(*id) =>
            {
                wanted.push(Want::Close(*id));
            }
            ChainEvent::LeaseCreated { id, .. } if id.provider() == provider => {
                wanted.push(Want::Lease(*id));
            }
            _ => {}
        }
    }
    let begun = block.height.saturating_sub(WITHDRAW_AFTER);
    wanted.extend(journal.leases_of(begun).map(Want::Withdraw));
    wanted
}

fn is_closed_again(bid: BidId) -> bool {
    bid.dseq().is_multiple_of(CLOSE_EVERY)
}

impl Want {
    /// The intent, if there is anything to want yet.
    pub(super) fn intent(self, id: IntentId, height: u64, provider: Address) -> Option<Intent> {
        let action = match self {
            Self::Bid(order) => Action::CreateBid(Box::new(BidOffer {
                id: order.bid_id(provider),
                price: "500uact".parse::<DecCoin>().ok()?,
                deposit: Deposit::from_balance("500000uakt".parse::<Coin>().ok()?),
                resources_offer: Vec::new(),
                reclamation_window: None,
            })),
            Self::Close(bid) => Action::CloseBid { bid, reason: LeaseClosedReason::UNSPECIFIED },
            Self::Withdraw(lease) => Action::Withdraw { lease },
            Self::Lease(_) => return None,
        };
        Some(Intent::new(id, action, height))
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bid(id) => write!(f, "bid:{id}"),
            Self::Close(id) => write!(f, "close:{id}"),
            Self::Withdraw(id) => write!(f, "withdraw:{id}"),
            Self::Lease(id) => write!(f, "lease:{id}"),
        }
    }
}

impl FromStr for Want {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = text.split_once(':').and_then(|(kind, id)| match kind {
            "bid" => id.parse().ok().map(Self::Bid),
            "close" => id.parse().ok().map(Self::Close),
            "withdraw" => id.parse().ok().map(Self::Withdraw),
            "lease" => id.parse().ok().map(Self::Lease),
            _ => None,
        });
        read.ok_or_else(|| format!("{text:?} is nothing to want"))
    }
}
