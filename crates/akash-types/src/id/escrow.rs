//! Ids of escrow accounts and payments.
//!
//! Two texts each: the `xid` that messages carry beside a scope, and the key
//! `scope/xid[/payment xid]` that the `xid` filter of escrow queries takes. `Display` and `FromStr`
//! are the key.

use std::str::FromStr;

use super::{
    BidId, DeploymentId, GroupId, IdError, LeaseId, OrderId, account, sequence, split, strip,
};
use crate::causes::shortened;

/// What an escrow account holds money for. Numbers as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}", self.as_str())]
pub enum EscrowScope {
    /// The running costs of a deployment.
    Deployment = 1,
    /// The deposit of a bid.
    Bid = 2,
}

impl EscrowScope {
    /// Number on the wire.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The scope with this number on the wire.
    pub fn from_code(code: i32) -> Result<Self, IdError> {
        match code {
            1 => Ok(Self::Deployment),
            2 => Ok(Self::Bid),
            _ => Err(IdError::Scope { scope: code.to_string() }),
        }
    }

    /// Name in keys and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::Bid => "bid",
        }
    }
}

impl FromStr for EscrowScope {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "deployment" => Ok(Self::Deployment),
            "bid" => Ok(Self::Bid),
            _ => Err(IdError::Scope { scope: shortened(text) }),
        }
    }
}

/// An escrow account, by what it holds money for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}/{}", self.scope(), self.xid())]
pub enum EscrowAccountId {
    /// Pays the leases of this deployment.
    Deployment(DeploymentId),
    /// Holds the deposit of this bid.
    Bid(BidId),
}

impl EscrowAccountId {
    /// The account that messages call `xid` within `scope`.
    pub fn from_xid(scope: EscrowScope, xid: &str) -> Result<Self, IdError> {
        match scope {
            EscrowScope::Deployment => xid.parse().map(Self::Deployment),
            EscrowScope::Bid => xid.parse().map(Self::Bid),
        }
    }

    /// What it holds money for.
    pub const fn scope(&self) -> EscrowScope {
        match self {
            Self::Deployment(_) => EscrowScope::Deployment,
            Self::Bid(_) => EscrowScope::Bid,
        }
    }

    /// Its id within the scope, as messages carry it.
    pub fn xid(&self) -> String {
        match self {
            Self::Deployment(id) => id.to_string(),
            Self::Bid(id) => id.to_string(),
        }
    }
}

impl FromStr for EscrowAccountId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (scope, xid) = text.split_once('/').unwrap_or((text, ""));
        Self::from_xid(scope.parse()?, xid)
    }
}

/// The payment of one lease from the account of its deployment. No other payments exist on chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}/{}", self.account_id(), self.xid())]
pub struct EscrowPaymentId(LeaseId);

impl EscrowPaymentId {
    const KEY_FORM: &'static str = "deployment/owner/dseq/gseq/oseq/provider";

    /// The payment that messages call `xid` of `account`.
    pub fn from_xid(account_id: EscrowAccountId, xid: &str) -> Result<Self, IdError> {
        let EscrowAccountId::Deployment(deployment) = account_id else {
            let text = format!("{account_id}/{xid}");
            let (what, form) = ("escrow payment", Self::KEY_FORM);
            return Err(IdError::Form { what, text: shortened(&text), form });
        };
        let [gseq, oseq, provider] = split("escrow payment xid", "gseq/oseq/provider", xid)?;
        let group = GroupId::new(deployment, sequence("gseq", gseq)?)?;
        let order = OrderId::new(group, sequence("oseq", oseq)?)?;
        Ok(Self(LeaseId::new(order, account("provider", provider)?)))
    }

    /// The lease it pays.
    pub const fn lease_id(&self) -> LeaseId {
        self.0
    }

    /// The account it is paid from.
    pub const fn account_id(&self) -> EscrowAccountId {
        EscrowAccountId::Deployment(self.0.deployment_id())
    }

    /// Its id within the account, as messages carry it: `gseq/oseq/provider`.
    pub fn xid(&self) -> String {
        format!("{}/{}/{}", self.0.gseq(), self.0.oseq(), self.0.provider())
    }
}

impl From<LeaseId> for EscrowPaymentId {
    fn from(lease: LeaseId) -> Self {
        Self(lease)
    }
}

impl FromStr for EscrowPaymentId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        strip("escrow payment", Self::KEY_FORM, "deployment", text)?.parse().map(Self)
    }
}
