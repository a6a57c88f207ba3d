//! Events of transactions and blocks.
//!
//! A typed event has one attribute per field, keys sorted, each the proto3 JSON of the field with
//! original names and defaults. No value here can hold a character that JSON would escape: they are
//! addresses, numbers, denominations, base64 and names of enums.

use akash_types::{
    Address, BidId, DecCoin, DeploymentId, GroupId, LeaseClosedReason, LeaseId, OrderId,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// One thing that happened, as CometBFT reports and indexes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its type, e.g. `akash.market.v1.EventBidCreated` or `transfer`.
    pub kind: String,
    /// Key, value, and whether the node indexes it.
    pub attributes: Vec<(String, String, bool)>,
}

impl Event {
    pub(crate) fn new<const N: usize>(kind: &str, attributes: [(&str, String); N]) -> Self {
        let attributes =
            attributes.into_iter().map(|(key, value)| (key.to_owned(), value, true)).collect();
        Self { kind: kind.to_owned(), attributes }
    }

    pub(crate) fn push(&mut self, key: &str, value: impl Into<String>) {
        self.attributes.push((key.to_owned(), value.into(), true));
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, ..)| name == key).map(|(_, value, _)| value.as_str())
    }

    pub(crate) fn deployment_created(id: DeploymentId, hash: &[u8]) -> Self {
        let attributes = [("hash", bytes(hash)), ("id", deployment_id(id))];
        Self::new("akash.deployment.v1.EventDeploymentCreated", attributes)
    }

    pub(crate) fn deployment_updated(id: DeploymentId, hash: &[u8]) -> Self {
        let attributes = [("hash", bytes(hash)), ("id", deployment_id(id))];
        Self::new("akash.deployment.v1.EventDeploymentUpdated", attributes)
    }

    pub(crate) fn deployment_closed(id: DeploymentId) -> Self {
        Self::new("akash.deployment.v1.EventDeploymentClosed", [("id", deployment_id(id))])
    }

    pub(crate) fn group_started(id: GroupId) -> Self {
        Self::new("akash.deployment.v1.EventGroupStarted", [("id", group_id(id))])
    }

    pub(crate) fn group_paused(id: GroupId) -> Self {
        Self::new("akash.deployment.v1.EventGroupPaused", [("id", group_id(id))])
    }

    pub(crate) fn group_closed(id: GroupId) -> Self {
        Self::new("akash.deployment.v1.EventGroupClosed", [("id", group_id(id))])
    }

    pub(crate) fn order_created(id: OrderId) -> Self {
        Self::new("akash.market.v1.EventOrderCreated", [("id", order_id(id))])
    }

    pub(crate) fn order_closed(id: OrderId) -> Self {
        Self::new("akash.market.v1.EventOrderClosed", [("id", order_id(id))])
    }

    pub(crate) fn bid_created(id: BidId, price: &DecCoin) -> Self {
        Self::new("akash.market.v1.EventBidCreated", [("id", bid_id(id)), ("price", coin(price))])
    }

    pub(crate) fn bid_closed(id: BidId) -> Self {
        Self::new("akash.market.v1.EventBidClosed", [("id", bid_id(id))])
    }

    pub(crate) fn lease_created(id: LeaseId, price: &DecCoin) -> Self {
        let attributes = [("id", bid_id(id.bid_id())), ("price", coin(price))];
        Self::new("akash.market.v1.EventLeaseCreated", attributes)
    }

    pub(crate) fn lease_closed(id: LeaseId, why: LeaseClosedReason) -> Self {
        let attributes = [("id", bid_id(id.bid_id())), ("reason", reason(why))];
        Self::new("akash.market.v1.EventLeaseClosed", attributes)
    }

    pub(crate) fn lease_reclaim_started(
        id: LeaseId,
        why: LeaseClosedReason,
        deadline: i64,
    ) -> Self {
        let attributes = [
            ("deadline", format!("\"{deadline}\"")),
            ("id", bid_id(id.bid_id())),
            ("reason", reason(why)),
        ];
        Self::new("akash.market.v1.EventLeaseReclaimStarted", attributes)
    }

    pub(crate) fn provider(what: &str, owner: Address) -> Self {
        let kind = format!("akash.provider.v1beta4.EventProvider{what}");
        Self::new(&kind, [("owner", format!("\"{owner}\""))])
    }

    pub(crate) fn trusted_auditor(what: &str, owner: Address, auditor: Address) -> Self {
        let kind = format!("akash.audit.v1.EventTrustedAuditor{what}");
        let attributes = [("auditor", format!("\"{auditor}\"")), ("owner", format!("\"{owner}\""))];
        Self::new(&kind, attributes)
    }
}

fn bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", BASE64_STANDARD.encode(bytes))
}

fn coin(coin: &DecCoin) -> String {
    format!(r#"{{"denom":"{}","amount":"{}"}}"#, coin.denom(), coin.amount())
}

/// A number without a name is printed as such.
fn reason(reason: LeaseClosedReason) -> String {
    match reason.name() {
        Some(name) => format!("\"{name}\""),
        None => reason.code().to_string(),
    }
}

fn deployment_id(id: DeploymentId) -> String {
    format!(r#"{{"owner":"{}","dseq":"{}"}}"#, id.owner(), id.dseq())
}

fn group_id(id: GroupId) -> String {
    format!(r#"{{"owner":"{}","dseq":"{}","gseq":{}}}"#, id.owner(), id.dseq(), id.gseq())
}

fn order_id(id: OrderId) -> String {
    let (owner, dseq, gseq, oseq) = (id.owner(), id.dseq(), id.gseq(), id.oseq());
    format!(r#"{{"owner":"{owner}","dseq":"{dseq}","gseq":{gseq},"oseq":{oseq}}}"#)
}

fn bid_id(id: BidId) -> String {
    let (owner, dseq, gseq, oseq) = (id.owner(), id.dseq(), id.gseq(), id.oseq());
    let (provider, bseq) = (id.provider(), id.bseq());
    format!(
        r#"{{"owner":"{owner}","dseq":"{dseq}","gseq":{gseq},"oseq":{oseq},"provider":"{provider}","bseq":{bseq}}}"#
    )
}
