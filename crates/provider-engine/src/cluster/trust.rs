//! Whether the cluster is the right one, and what follows while it is not.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{DeploymentId, EscrowPayment, LeaseId, OrderId};

use crate::chain::Pace;
use crate::cluster::recognition::{
    Content, DeploymentProof, Memory, Recognition, UnknownCluster, withdrawn_after_deadline,
};
use crate::cluster::sight::SightClock;
use crate::effect::{Effect, Fact};
use crate::engine::Engine;
use crate::engine::intents::IntentKey;
use crate::journal::{Decision, Subject};
use crate::lease::{LeaseCause, LeaseContext, LeaseInput, LeaseRecord, ManifestWait, WaitKind};
use crate::time::BlockTime;

/// The manifest deadline of an earlier run that is not known to have had one.
const USUAL_MANIFEST_TIMEOUT: Duration = Duration::from_secs(300);

/// What is known of the cluster's identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterTrust {
    pub(crate) state: Recognition,
    pub(crate) memory: Memory,
    /// Proofs of deployment up to this block are void: the operator accepted a cluster.
    accepted: Option<u64>,
    /// The operator accepted that no lease has its Manifest, until one has.
    without_manifests: bool,
    /// Payments of accounts that were read before the state was decided.
    payments: BTreeMap<DeploymentId, Vec<EscrowPayment>>,
    sight: SightClock,
    /// How often the cluster went out of sight.
    gaps: u64,
}

impl Engine {
    /// Tells what the store of earlier runs remembers, before anything else.
    pub fn remember(&mut self, mut memory: Memory) {
        self.market.bid_fees = std::mem::take(&mut memory.bid_fees);
        self.trust.memory = memory;
    }

    /// Whether anything may be written: everything was read, and the cluster is known.
    pub fn may_act(&self) -> bool {
        self.start.is_ready() && self.trust.state == Recognition::Known
    }

    /// Whether the cluster is the one that leases were deployed to.
    pub const fn recognized(&self) -> Recognition {
        self.trust.state
    }

    fn is_in_sight(&self) -> bool {
        self.may_act() && self.cluster.fresh
    }

    /// Why nothing may be written, in words.
    pub(crate) fn why_not(&self) -> String {
        match self.trust.state {
            Recognition::Unknown(why) => format!("the provider does not know this cluster: {why}"),
            Recognition::Known if !self.cluster.fresh => "the cluster does not answer".to_owned(),
            Recognition::Undecided | Recognition::Known => {
                "the provider has just started and has not seen all of it yet".to_owned()
            }
        }
    }

    pub(crate) fn lease_context(&self) -> LeaseContext {
        LeaseContext {
            time: self.head.time(),
            sight: self.trust.sight.time(),
            gaps: self.trust.gaps,
            patience: self.settings.patience,
        }
    }

    /// The wait of a lease that just became ours.
    pub(crate) fn first_wait(&self, order: OrderId, created_at: u64) -> ManifestWait {
        let LeaseContext { sight: since, gaps, .. } = self.lease_context();
        let watched = self.start.is_ready()
            && created_at > self.start.ready_at().0
            && self.bids.is_signed(order)
            && !self.reconciliation.rival.is_active(self.head.time());
        let (kind, until) = if watched {
            let until = self.settings.manifest_timeout.map(|timeout| since.after(timeout));
            (WaitKind::Created, until)
        } else {
            (WaitKind::Found, None)
        };
        // A wait that begins out of sight is never one that was watched throughout.
        let gaps = if self.is_in_sight() { gaps } else { u64::MAX };
        ManifestWait { kind, since, until, gaps }
    }

    /// The time of the block that made a lease is known.
    pub(crate) fn lease_created(&mut self, order: OrderId, created: BlockTime) {
        // Before that it is not known when this process began to act.
        if !self.start.is_ready() {
            return;
        }
        let timeout = self.settings.manifest_timeout;
        let overdue =
            timeout.is_some_and(|timeout| created.after(timeout) <= self.start.ready_at().1);
        self.step_lease(order, LeaseInput::CreationKnown { overdue, timeout });
        if self.trust.state == Recognition::Undecided {
            self.recognize();
        }
    }

    /// A block came: time counts while the cluster is in sight.
    pub(crate) fn count_sight(&mut self) {
        let in_sight = self.is_in_sight();
        self.trust.sight.tick(in_sight, self.head.time(), self.now);
    }

    pub(crate) fn out_of_sight(&mut self) {
        self.trust.sight.stop();
        self.trust.gaps = self.trust.gaps.saturating_add(1);
    }

    /// A complete and fresh view shows this of a lease.
    pub(crate) fn observe_lease(&mut self, id: LeaseId) {
        let present = self.cluster.view.leases.contains_key(&id);
        let sight = self.trust.sight.time();
        let Some(lease) = self.records.lease_mut(id.order_id()) else { return };
        if lease.observe(present, sight) {
            // Seen is the better proof.
            self.trust.memory.deployed.remove(&id);
            self.publish(Fact::LeaseDeployed(id));
        }
    }

    /// Payments were read: until the cluster is recognized, they may prove deployments.
    pub(crate) fn payments_read(&mut self, deployment: DeploymentId, payments: &[EscrowPayment]) {
        if self.trust.state == Recognition::Undecided {
            self.trust.payments.insert(deployment, payments.to_vec());
            self.recognize();
        }
    }

    /// Decides whether the cluster is known, from what is in sight now.
    pub(crate) fn recognize(&mut self) {
        if !self.start.is_ready() || !self.cluster.fresh {
            return;
        }
        let next = self.recognition();
        match (std::mem::replace(&mut self.trust.state, next), next) {
            (_, Recognition::Undecided) | (Recognition::Known, Recognition::Known) => {}
            (_, Recognition::Known) => self.cluster_known(),
            (Recognition::Unknown(_), Recognition::Unknown(_)) => {}
            (Recognition::Undecided, Recognition::Unknown(_)) if self.was_accepted() => {}
            (_, Recognition::Unknown(why)) => self.cluster_unknown(why),
        }
    }

    fn recognition(&mut self) -> Recognition {
        let content = self.content();
        self.trust.without_manifests &= !content.manifests;
        match content.recognition() {
            Recognition::Unknown(UnknownCluster::NoManifests { .. })
                if self.trust.without_manifests =>
            {
                Recognition::Known
            }
            other => other,
        }
    }

    fn content(&mut self) -> Content {
        let mut content = Content::default();
        let mut unproven = Vec::new();
        for lease in self.records.leases().filter(|lease| lease.is_live()) {
            if let Some(view) = self.cluster.view.leases.get(&lease.id) {
                content.leases += 1;
                if view.held.is_some() {
                    return Content { manifests: true, ..content };
                }
            }
            match lease.deployed {
                Some(_) => content.deployed += 1,
                None => unproven.push(lease.id.order_id()),
            }
        }
        if content.leases > 0 {
            return content;
        }
        for order in unproven {
            match self.proof(order) {
                Proof::Of(proof) => {
                    content.deployed += 1;
                    if let Some(lease) = self.records.lease_mut(order) {
                        lease.deployed = Some(proof);
                    }
                }
                Proof::Pending => content.pending = true,
                Proof::None => {}
            }
        }
        content
    }

    /// What earlier runs left behind that proves a deployment.
    fn proof(&self, order: OrderId) -> Proof {
        let Some(lease) = self.records.lease(order) else { return Proof::None };
        let accepted = self.trust.accepted;
        if self.trust.memory.proves(lease.id, accepted) {
            return Proof::Of(DeploymentProof::Stored);
        }
        // Once the state is decided, withdrawals may be those of this process.
        let is_new = lease.wait().is_some_and(|wait| wait.kind == WaitKind::Created);
        let is_void = accepted.is_some_and(|height| lease.created_at <= height);
        if self.trust.state != Recognition::Undecided || is_new || is_void {
            return Proof::None;
        }
        let payments = self.trust.payments.get(&lease.id.deployment_id());
        let (Some(payments), Some(made)) = (payments, self.head.time_of(lease.created_at)) else {
            return Proof::Pending;
        };
        let deadline = self.manifest_deadline(lease, made);
        let mut own = payments.iter().filter(|payment| payment.id.lease_id() == lease.id);
        match own.any(|payment| withdrawn_after_deadline(payment, deadline)) {
            true => Proof::Of(DeploymentProof::Withdrawn),
            false => Proof::None,
        }
    }

    /// How many blocks after its creation the manifest deadline of a lease was.
    fn manifest_deadline(&self, lease: &LeaseRecord, made: BlockTime) -> u64 {
        let timeout = self.settings.manifest_timeout.unwrap_or(USUAL_MANIFEST_TIMEOUT);
        let blocks = self.head.height().saturating_sub(lease.created_at);
        let pace = Pace::new(self.head.time().since(made), blocks);
        pace.unwrap_or_else(|| self.head.pace()).blocks_in(timeout).saturating_add(1)
    }

    fn cluster_known(&mut self) {
        let uid = self.cluster.view.uid.clone();
        let expected = std::mem::replace(&mut self.trust.memory.cluster, uid.clone());
        let instead_of =
            expected.filter(|expected| uid.as_ref().is_some_and(|uid| uid != expected));
        self.note(Subject::Provider, Decision::ClusterKnown { uid: uid.clone(), instead_of });
        self.publish(Fact::ClusterKnown { uid });
        self.trust.payments.clear();
        self.act_on_everything();
    }

    fn cluster_unknown(&mut self, why: UnknownCluster) {
        self.trust.payments.clear();
        self.out_of_sight();
        let uid = self.cluster.view.uid.clone();
        let expected = self.trust.memory.cluster.clone();
        self.note(Subject::Provider, Decision::ClusterUnknown { why, uid, expected });
        self.publish(Fact::ClusterUnknown(why.to_string()));
        self.forget_intents();
    }

    /// What was handed to the lane and follows from a cluster that is not the right one.
    fn forget_intents(&mut self) {
        let by_operator = |order: &OrderId| {
            let lease = self.records.lease(*order);
            let closing = lease.and_then(|lease| lease.closing);
            lease.is_none() || matches!(closing, Some(LeaseCause::Operator(_)))
        };
        let forgotten: Vec<_> = self
            .intents
            .iter()
            .filter(|(key, _)| match key {
                IntentKey::Bid(_) | IntentKey::Withdraw(_) => true,
                IntentKey::Close(order) | IntentKey::Reclaim(order) => !by_operator(order),
            })
            .map(|(_, id)| Effect::Forget(id))
            .collect();
        self.out.extend(forgotten);
    }

    /// Whether the operator said before this start that the cluster is the right one, in the
    /// settings or to an earlier run; if so, it is known now.
    fn was_accepted(&mut self) -> bool {
        let Some(uid) = self.cluster.view.uid.clone() else { return false };
        if self.settings.accept_cluster.as_ref() == Some(&uid) {
            self.accept_cluster();
            return true;
        }
        let earlier = self.trust.memory.accepted.clone();
        earlier.is_some_and(|accepted| accepted.cluster == uid && self.accept(accepted.height))
    }

    /// The operator says that this cluster, which is unknown, is the right one.
    pub(crate) fn accept_cluster(&mut self) {
        self.trust.without_manifests = true;
        self.publish(Fact::ClusterAccepted { uid: self.cluster.view.uid.clone() });
        self.accept(self.head.height());
    }

    /// Voids the proofs of deployment up to `height`. False if the cluster stays unknown all the
    /// same.
    fn accept(&mut self, height: u64) -> bool {
        self.trust.accepted = Some(height);
        let mut lost = Vec::new();
        for lease in self.records.leases_mut() {
            if lease.is_live() && !lease.is_present() {
                lease.deployed = None;
                lost.push(lease.id.order_id());
            }
        }
        if self.recognition() != Recognition::Known {
            return false;
        }
        self.trust.state = Recognition::Known;
        for order in lost {
            self.step_lease(order, LeaseInput::ClusterAccepted);
        }
        self.cluster_known();
        true
    }
}

/// Whether something proves that a lease was deployed.
enum Proof {
    Of(DeploymentProof),
    None,
    /// What could prove it was not read yet.
    Pending,
}
