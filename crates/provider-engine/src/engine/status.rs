//! What there is to see, at once and without asking anybody.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{DecCoin, LeaseId, OrderId};

use super::{Engine, Record, Stage};
use crate::cluster::recognition::{ClusterUid, Recognition};
use crate::cluster::view::ClusterView;
use crate::escrow::{Outlook, WalletState};
use crate::inventory::Booking;
use crate::lease::LeaseRecord;
use crate::order::isolation::IsolationHold;
use crate::reconcile::Drift;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Height of the newest block.
    pub height: u64,
    /// Whether anything is written yet.
    pub ready: bool,
    pub cluster_fresh: bool,
    pub cluster: ClusterStatus,
    /// Whether another provider with the same key acted within the last day.
    pub rival: bool,
    /// Whether destruction is stopped.
    pub breaker_open: bool,
    pub maintenance: bool,
    /// Why there are no bids until tenants are known to be kept apart, if there are none.
    pub isolation: Option<IsolationHold>,
    /// Whether bids can be paid for; `None` while the balances are not known.
    pub wallet: Option<WalletState>,
    /// Every reason why no bids are made at the moment, whatever is ordered.
    pub bid_pauses: Vec<String>,
    /// Orders that are looked after, by the name of their stage.
    pub orders: Vec<(&'static str, usize)>,
    /// Leases, by the name of their stage.
    pub leases: Vec<(&'static str, usize)>,
}

impl Status {
    /// What is wrong with the provider, in words that anybody may read.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        match self.cluster.recognition {
            _ if !self.ready => {
                errors.push("the provider has not read the chain and its cluster yet".to_owned());
            }
            _ if !self.cluster_fresh => errors.push("the cluster does not answer".to_owned()),
            Recognition::Unknown(why) => {
                errors.push(format!("the provider does not know this cluster: {why}"));
            }
            Recognition::Undecided | Recognition::Known => {}
        }
        if self.breaker_open {
            errors.push("circuit breaker open: closes and teardowns suspended".to_owned());
        }
        if self.isolation.is_some() {
            errors.push("no new bids until tenants are known to be kept apart".to_owned());
        }
        errors.extend(self.cannot_pay().map(|why| format!("no new bids: {why}")));
        errors
    }

    /// Why bids cannot be paid for, if they cannot.
    pub fn cannot_pay(&self) -> Option<String> {
        self.wallet.as_ref().filter(|state| !state.allows_bids()).map(ToString::to_string)
    }

    /// Why the balance is less than the operator wants to keep, if bids can still be paid for.
    pub fn low_balance(&self) -> Option<String> {
        let low = |state: &&WalletState| matches!(state, WalletState::Low(_));
        self.wallet.as_ref().filter(low).map(ToString::to_string)
    }
}

/// Whether the cluster is the one that leases were deployed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    pub recognition: Recognition,
    pub uid: Option<ClusterUid>,
    /// The one that was known last, if any.
    pub expected: Option<ClusterUid>,
}

/// A lease, as tenants and operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    pub id: LeaseId,
    /// What it pays per block.
    pub price: DecCoin,
    pub stage: &'static str,
    /// Whether the chain says that it pays.
    pub alive: bool,
    /// Whether its tenant has to send the manifest again.
    pub lacks_manifest: bool,
    /// How long its escrow account can pay; `None` before the account was read, and once the lease
    /// is over.
    pub funds: Option<LeaseFunds>,
}

/// How long the escrow account of a lease can pay, if nobody deposits, joins or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseFunds {
    /// First height that is not paid; `None` if there is none.
    pub dry_at: Option<u64>,
    /// Whether it cannot pay any more.
    pub is_dry: bool,
    /// Blocks after the newest that are still paid, 0 if none; `None` if there is no end.
    pub blocks_left: Option<u64>,
    /// About how long these take.
    pub time_left: Option<Duration>,
    /// Height of the reading from which it was computed.
    pub read_at: u64,
}

/// What is kept for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation<'a> {
    pub order: OrderId,
    pub booking: &'a Booking,
    pub active: bool,
}

impl Engine {
    /// A summary of everything.
    pub fn status(&self) -> Status {
        let (mut orders, mut leases) = (BTreeMap::new(), BTreeMap::new());
        for record in self.records.iter() {
            let stages = if record.lease().is_some() { &mut leases } else { &mut orders };
            *stages.entry(record.stage_name()).or_default() += 1;
        }
        let count = |names: &[&'static str], stages: &BTreeMap<&'static str, usize>| {
            names.iter().map(|name| (*name, stages.get(name).copied().unwrap_or(0))).collect()
        };
        Status {
            height: self.head.height(),
            ready: self.start.is_ready(),
            cluster_fresh: self.cluster.fresh,
            cluster: ClusterStatus {
                recognition: self.trust.state,
                uid: self.cluster.view.uid.clone(),
                expected: self.trust.memory.cluster.clone(),
            },
            rival: self.reconciliation.rival.is_active(self.head.time()),
            breaker_open: self.reconciliation.breaker.is_open(),
            maintenance: self.cluster.view.maintenance,
            isolation: self.isolation.clone(),
            wallet: self.escrow.wallet().cloned(),
            bid_pauses: self.bid_pauses(),
            orders: count(&crate::order::Stage::NAMES, &orders),
            leases: count(&crate::lease::STAGE_NAMES, &leases),
        }
    }

    /// Every order and lease that is looked after.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    pub fn leases(&self) -> impl Iterator<Item = LeaseStatus> {
        self.records.leases().map(|lease| LeaseStatus {
            id: lease.id,
            price: lease.price.clone(),
            stage: lease.stage_name(),
            alive: lease.is_alive(),
            lacks_manifest: lease.lacks_manifest(),
            funds: self.lease_funds(lease),
        })
    }

    fn lease_funds(&self, lease: &LeaseRecord) -> Option<LeaseFunds> {
        let Outlook { dry_at, blocks_left, read_at } =
            self.escrow.outlook(lease.id).filter(|_| lease.is_alive())?;
        Some(LeaseFunds {
            dry_at,
            is_dry: self.escrow.dryness(lease.id).is_some(),
            blocks_left,
            time_left: blocks_left.map(|blocks| self.head.pace().duration_of(blocks)),
            read_at,
        })
    }

    /// Everything that is kept for somebody.
    pub fn reservations(&self) -> impl Iterator<Item = Reservation<'_>> {
        self.records.iter().filter_map(|record| {
            let active = match &record.stage {
                Stage::Lease(lease) => matches!(lease.stage, crate::lease::Stage::Running),
                Stage::Order(_) => false,
            };
            Some(Reservation { order: record.id, booking: record.booking.as_ref()?, active })
        })
    }

    /// The cluster as it was last seen.
    pub const fn cluster_view(&self) -> &ClusterView {
        &self.cluster.view
    }

    /// Where chain, cluster and engine disagreed when they were last compared.
    pub fn drift(&self) -> impl Iterator<Item = &Drift> {
        self.reconciliation.drift()
    }
}
