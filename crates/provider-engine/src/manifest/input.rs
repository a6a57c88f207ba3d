//! What happens to manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use akash_sdl::Version;
use akash_types::{DeploymentId, LeaseId};

use super::subject::{Holding, Subject, Submission, Waiter};
use super::{Hostnames, ManifestAction, ManifestAnswer, ManifestRefusal};
use crate::chain::{DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Workload};
use crate::cluster::view::LeaseView;
use crate::effect::Reply;
use crate::input::TenantRequest;
use crate::journal::{self, Decision};
use crate::time::Now;

/// Names a request, so that its answer finds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

#[derive(Clone, Debug)]
pub enum ManifestInput {
    Tenant(RequestId, TenantRequest),
    /// The chain was asked about a deployment.
    Read {
        deployment: DeploymentId,
        height: u64,
        /// What it said; `None` if there is no such deployment.
        result: Result<Option<DeploymentRead>, Unavailable>,
    },
    /// A manifest was to be kept in the cluster.
    HoldEnded {
        lease: LeaseId,
        version: Version,
        result: Result<(), CommandFailure>,
    },
    /// A lease was to run what its manifest says, for whatever reason.
    DeployEnded {
        /// As it was given to the cluster.
        workload: Arc<Workload>,
        result: Result<(), CommandFailure>,
    },
    /// The chain says that a lease is over.
    LeaseEnded {
        lease: LeaseId,
    },
    Tick,
}

/// One input, with what may be looked at and what comes out.
pub(super) struct Turn<'a> {
    pub(super) now: Now,
    pub(super) leases: &'a BTreeMap<LeaseId, LeaseView>,
    pub(super) hostnames: &'a mut Hostnames,
    pub(super) actions: Vec<ManifestAction>,
}

impl Turn<'_> {
    pub(super) fn note(&mut self, subject: journal::Subject, decision: Decision) {
        self.actions.push(ManifestAction::Note(subject, decision));
    }

    pub(super) fn note_lease(&mut self, lease: LeaseId, decision: Decision) {
        self.note(journal::Subject::Order(lease.order_id()), decision);
    }

    fn reply(&mut self, request: RequestId, answer: ManifestAnswer) {
        self.actions.push(ManifestAction::Reply(request, Reply::Manifest(answer)));
    }

    pub(super) fn refuse(
        &mut self,
        deployment: DeploymentId,
        requests: impl IntoIterator<Item = RequestId>,
        refusal: &ManifestRefusal,
    ) {
        for request in requests {
            self.reply(request, ManifestAnswer::Refused(refusal.clone()));
            let why = refusal.to_string();
            self.note(journal::Subject::Deployment(deployment), Decision::Refused { why });
        }
    }

    pub(super) fn refuse_waiting(
        &mut self,
        deployment: DeploymentId,
        subject: &mut Subject,
        which: impl FnMut(&mut Submission) -> bool,
        refusal: &ManifestRefusal,
    ) {
        let refused: Vec<Submission> = subject.waiting.extract_if(.., which).collect();
        for submission in refused {
            self.refuse(deployment, [submission.waiter.request], refusal);
        }
    }

    /// The tenant hears that its manifest was accepted once every lease is held.
    pub(super) fn accept_if_held(&mut self, subject: &mut Subject) {
        let Some(holding) = subject.holding.take_if(|holding| holding.left.is_empty()) else {
            return;
        };
        let Holding { version, waiters, leases, .. } = holding;
        let leases: Vec<LeaseId> = leases.into_iter().collect();
        for request in requests(&waiters) {
            self.reply(request, ManifestAnswer::Accepted { leases: leases.clone() });
        }
        for lease in leases {
            self.note_lease(lease, Decision::Accepted { version: Some(version) });
        }
    }

    pub(super) fn expire(&mut self, deployment: DeploymentId, subject: &mut Subject) {
        let now = self.now;
        let late = |submission: &mut Submission| submission.waiter.deadline <= now;
        // What waits was not judged yet, because the chain did not say what the deployment is.
        let why = "context deadline exceeded".to_owned();
        let refusal = ManifestRefusal::Chain(Unavailable(why));
        self.refuse_waiting(deployment, subject, late, &refusal);
        if let Some(holding) = &mut subject.holding {
            let late: Vec<Waiter> =
                holding.waiters.extract_if(.., |waiter| waiter.deadline <= now).collect();
            let refusal = ManifestRefusal::TimedOut;
            self.refuse(deployment, requests(&late), &refusal);
        }
        subject.holding.take_if(|holding| holding.waiters.is_empty());
    }

    /// Names whose holder is gone go to who waited for them, with a deployment of its own.
    pub(super) fn give_freed_names(&mut self) {
        let mut redeploy = BTreeSet::new();
        for (lease, hostname) in self.hostnames.give_freed() {
            self.note_lease(lease, Decision::Moved(hostname));
            redeploy.insert(lease);
        }
        self.actions.extend(redeploy.into_iter().map(ManifestAction::Redeploy));
    }
}

pub(super) fn requests(waiters: &[Waiter]) -> Vec<RequestId> {
    waiters.iter().map(|waiter| waiter.request).collect()
}
