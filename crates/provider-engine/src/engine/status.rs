//! What there is to see, at once and without asking anybody.

use std::collections::BTreeMap;

use akash_types::{DecCoin, LeaseId, OrderId};

use super::{Engine, Life, Stage};
use crate::bidding::isolation::IsolationHold;
use crate::cluster::recognition::{ClusterUid, Recognition};
use crate::cluster::view::ClusterView;
use crate::escrow::WalletState;
use crate::inventory::Booking;
use crate::reconcile::Drift;

/// A summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Height of the newest block.
    pub height: u64,
    /// Whether anything is written yet.
    pub ready: bool,
    /// Whether the view of the cluster is fresh.
    pub cluster_fresh: bool,
    /// Which cluster it is, and whether it is the right one.
    pub cluster: ClusterStatus,
    /// Whether another provider with the same key acted within the last day.
    pub rival: bool,
    /// Whether destruction is stopped.
    pub breaker_open: bool,
    /// Whether maintenance is on.
    pub maintenance: bool,
    /// Why there are no bids until tenants are known to be kept apart, if there are none.
    pub isolation: Option<IsolationHold>,
    /// Whether bids can be paid for; `None` while the balances are not known.
    pub wallet: Option<WalletState>,
    /// Orders that are looked after, by the name of their stage.
    pub orders: Vec<(&'static str, usize)>,
    /// Leases, by the name of their stage.
    pub leases: Vec<(&'static str, usize)>,
}

impl Status {
    /// Why bids cannot be paid for, if they cannot.
    #[must_use]
    pub fn cannot_pay(&self) -> Option<String> {
        self.wallet.as_ref().filter(|state| !state.allows_bids()).map(ToString::to_string)
    }

    /// Why the balance is less than the operator wants to keep, if bids can still be paid for.
    #[must_use]
    pub fn low_balance(&self) -> Option<String> {
        let low = |state: &&WalletState| matches!(state, WalletState::Low(_));
        self.wallet.as_ref().filter(low).map(ToString::to_string)
    }
}

/// Whether the cluster is the one that leases were deployed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// Whether it is known.
    pub recognition: Recognition,
    /// Its uid, if it has one.
    pub uid: Option<ClusterUid>,
    /// The one that was known last, if any.
    pub expected: Option<ClusterUid>,
}

/// A lease, as tenants and operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Which.
    pub id: LeaseId,
    /// What it pays per block.
    pub price: DecCoin,
    /// Where it is.
    pub stage: &'static str,
    /// Whether the chain says that it pays.
    pub alive: bool,
    /// Whether its tenant has to send the manifest again.
    pub lacks_manifest: bool,
}

/// What is kept for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation<'a> {
    /// For which order, or the lease from it.
    pub order: OrderId,
    /// What.
    pub booking: &'a Booking,
    /// Whether it runs, all of it.
    pub active: bool,
}

impl Engine {
    /// A summary of everything.
    #[must_use]
    pub fn status(&self) -> Status {
        let (mut orders, mut leases) = (BTreeMap::new(), BTreeMap::new());
        for life in self.lives.values() {
            let stages = if life.lease().is_some() { &mut leases } else { &mut orders };
            *stages.entry(life.stage_name()).or_default() += 1;
        }
        let count = |names: &[&'static str], stages: &BTreeMap<&'static str, usize>| {
            names.iter().map(|name| (*name, stages.get(name).copied().unwrap_or(0))).collect()
        };
        Status {
            height: self.head.height(),
            ready: self.start.ready,
            cluster_fresh: self.cluster.fresh,
            cluster: ClusterStatus {
                recognition: self.trust.state,
                uid: self.cluster.view.uid.clone(),
                expected: self.trust.memory.cluster.clone(),
            },
            rival: self.rival.is_active(self.head.time()),
            breaker_open: self.breaker.is_open(),
            maintenance: self.cluster.view.maintenance,
            isolation: self.isolation.clone(),
            wallet: self.escrow.wallet().cloned(),
            orders: count(&crate::bidding::order::Stage::NAMES, &orders),
            leases: count(&crate::lease::STAGE_NAMES, &leases),
        }
    }

    /// Every order and lease that is looked after.
    pub fn lives(&self) -> impl Iterator<Item = &Life> {
        self.lives.values()
    }

    /// Every lease.
    pub fn leases(&self) -> impl Iterator<Item = LeaseStatus> {
        self.lives.values().filter_map(Life::lease).map(|lease| LeaseStatus {
            id: lease.id,
            price: lease.price.clone(),
            stage: lease.stage_name(),
            alive: lease.is_alive(),
            lacks_manifest: lease.lacks_manifest(),
        })
    }

    /// Everything that is kept for somebody.
    pub fn reservations(&self) -> impl Iterator<Item = Reservation<'_>> {
        self.lives.values().filter_map(|life| {
            let active = match &life.stage {
                Stage::Lease(lease) => matches!(lease.stage, crate::lease::Stage::Running),
                Stage::Order(_) => false,
            };
            Some(Reservation { order: life.id, booking: life.booking.as_ref()?, active })
        })
    }

    /// The cluster as it was last seen.
    #[must_use]
    pub const fn cluster_view(&self) -> &ClusterView {
        &self.cluster.view
    }

    /// Where chain, cluster and engine disagreed when they were last compared.
    pub fn drift(&self) -> impl Iterator<Item = &Drift> {
        self.drift.iter()
    }
}
