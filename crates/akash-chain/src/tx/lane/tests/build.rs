//! Intents by number.

use akash_types::{
    Action, Address, BidId, BidOffer, DecCoin, DeploymentId, Deposit, GroupId, Intent, IntentId,
    LeaseClosedReason, LeaseId, OrderId, Wanted,
};

use super::super::LaneConfig;
use crate::tx::FeeRule;

pub(super) fn account() -> Address {
    "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap()
}

pub(super) fn lease(dseq: u64, gseq: u32) -> LeaseId {
    let tenant = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
    let deployment = DeploymentId::new(tenant, dseq).unwrap();
    LeaseId::new(OrderId::new(GroupId::new(deployment, gseq).unwrap(), 1).unwrap(), account())
}

pub(super) fn bid(dseq: u64) -> BidId {
    lease(dseq, 1).bid_id()
}

pub(super) fn create_bid(dseq: u64) -> Action {
    Action::CreateBid(Box::new(BidOffer {
        id: bid(dseq),
        price: "5uact".parse::<DecCoin>().unwrap(),
        deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
        resources_offer: Vec::new(),
        reclamation_window: None,
    }))
}

pub(super) fn close_bid(dseq: u64) -> Action {
    Action::CloseBid { bid: bid(dseq), reason: LeaseClosedReason::UNSPECIFIED }
}

pub(super) fn withdraw(dseq: u64, gseq: u32) -> Action {
    Action::Withdraw { lease: lease(dseq, gseq) }
}

/// A message of which nobody can say afterwards whether it was executed.
pub(super) fn transfer(id: u64) -> Action {
    Action::Message(Box::new(akash_types::intent::PackedMessage {
        type_url: "/test.Transfer".to_owned(),
        value: id.to_le_bytes().to_vec(),
        signer: account(),
        subject: None,
        wanted: Wanted::Unverifiable,
    }))
}

pub(super) fn intent(id: u64, action: Action, height: u64) -> Intent {
    Intent::new(IntentId(id), action, height)
}

pub(super) fn config() -> LaneConfig {
    LaneConfig::new(account(), FeeRule::parse("", "0.025uakt").unwrap())
}
