#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod flow;
mod migrations;
mod recorded;
mod refusals;
mod safety;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::{Manifest, Sdl};
use akash_types::hostname::{BlockedHostnames, generated_host};
use akash_types::{
    Address, Deployment, DeploymentId, DeploymentState, Group, GroupId, GroupState, LeaseId,
    OrderId,
};

use super::*;
use crate::chain::{DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Workload};
use crate::cluster::view::{Held, LeaseView};
use crate::input::TenantRequest;
use crate::time::Now;

/// Tenants and the provider.
pub(super) fn account(number: u8) -> Address {
    Address::from_bytes(&[number; 20]).unwrap()
}

pub(super) fn deployment(owner: u8, dseq: u64) -> DeploymentId {
    DeploymentId::new(account(owner), dseq).unwrap()
}

pub(super) fn lease(deployment: DeploymentId, gseq: u32, oseq: u32) -> LeaseId {
    let order = OrderId::new(GroupId::new(deployment, gseq).unwrap(), oseq).unwrap();
    LeaseId::new(order, account(200))
}

/// A manifest with one group per list of hostnames; `image` tells one from the other.
pub(super) fn sdl(image: &str, groups: &[&[&str]]) -> Sdl {
    let mut services = String::new();
    let mut placements = String::new();
    let mut deployments = String::new();
    for (index, hosts) in groups.iter().enumerate() {
        let hosts = hosts.join(", ");
        let accept = if hosts.is_empty() { String::new() } else { format!("accept: [{hosts}], ") };
        services += &format!(
            "  web{index}: {{image: '{image}', expose: [{{port: 80, {accept}to: [{{global: true}}]}}, \
             {{port: 7000, to: [{{global: true, ip: addr}}], as: {}}}]}}\n",
            7000 + index
        );
        placements += &format!("    dc{index}: {{pricing: {{web: {{denom: uact, amount: 1}}}}}}\n");
        deployments += &format!("  web{index}: {{dc{index}: {{profile: web, count: 1}}}}\n");
    }
    let text = format!(
        "version: '2.0'\nendpoints: {{addr: {{kind: ip}}}}\nservices:\n{services}profiles:\n  compute:\n    \
         web: {{resources: {{cpu: {{units: 100m}}, memory: {{size: 128Mi}}, storage: {{size: 1Gi}}}}}}\n  \
         placement:\n{placements}deployment:\n{deployments}"
    );
    Sdl::read(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// What the chain says of a deployment made from `sdl`, with own leases of groups `leased`.
pub(super) fn facts(id: DeploymentId, sdl: &Sdl, leased: &[u32]) -> DeploymentRead {
    let groups = sdl.groups().iter().zip(1..).map(|(spec, gseq)| Group {
        id: GroupId::new(id, gseq).unwrap(),
        state: GroupState::Open,
        spec: spec.clone(),
        created_at: 1,
    });
    DeploymentRead {
        deployment: Deployment {
            id,
            state: DeploymentState::Active,
            hash: *sdl.version().as_bytes(),
            created_at: 1,
            reclamation_min_window: None,
        },
        groups: groups.collect(),
        leases: leased.iter().map(|gseq| lease(id, *gseq, 1)).collect(),
    }
}

/// The machine with what it looks at.
pub(super) struct World {
    pub(super) now: Now,
    pub(super) submissions: Submissions,
    pub(super) hostnames: Hostnames,
    pub(super) leases: BTreeMap<LeaseId, LeaseView>,
    height: u64,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(ManifestSettings {
            generated_under: Some("ingress.example.com".to_owned()),
            ..ManifestSettings::default()
        })
    }

    pub(super) fn with(settings: ManifestSettings) -> Self {
        Self {
            now: Now::default(),
            submissions: Submissions::new(settings),
            hostnames: Hostnames::default(),
            leases: BTreeMap::new(),
            height: 1,
        }
    }

    pub(super) fn handle(&mut self, input: ManifestInput) -> Vec<ManifestAction> {
        self.submissions.handle(self.now, input, &self.leases, &mut self.hostnames)
    }

    /// The same, without what is only written down.
    pub(super) fn act(&mut self, input: ManifestInput) -> Vec<ManifestAction> {
        let mut effects = self.handle(input);
        effects.retain(|effect| !matches!(effect, ManifestAction::Note(..)));
        effects
    }

    pub(super) fn submit(
        &mut self,
        request: u64,
        deployment: DeploymentId,
        manifest: &Manifest,
    ) -> Vec<ManifestAction> {
        let manifest = Arc::new(manifest.clone());
        let received = crate::Received::default();
        let wanted = TenantRequest::Manifest { deployment, manifest, received };
        self.act(ManifestInput::Tenant(RequestId(request), wanted))
    }

    pub(super) fn read(&mut self, facts: &DeploymentRead) -> Vec<ManifestAction> {
        self.height += 1;
        self.act(ManifestInput::Read {
            deployment: facts.deployment.id,
            height: self.height,
            result: Ok(Some(facts.clone())),
        })
    }

    pub(super) fn held(&mut self, lease: LeaseId, sdl: &Sdl) -> Vec<ManifestAction> {
        self.hold_ended(lease, sdl, Ok(()))
    }

    pub(super) fn hold_ended(
        &mut self,
        lease: LeaseId,
        sdl: &Sdl,
        result: Result<(), CommandFailure>,
    ) -> Vec<ManifestAction> {
        self.act(ManifestInput::HoldEnded { lease, version: sdl.version(), result })
    }

    pub(super) fn pass(&mut self, seconds: u64) -> Vec<ManifestAction> {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.act(ManifestInput::Tick)
    }

    /// The cluster shows that a lease runs its group of `sdl`, with all hostnames but `without`.
    pub(super) fn show(&mut self, lease: LeaseId, sdl: &Sdl, without: &[&str]) {
        let group = &sdl.manifest().groups[lease.gseq() as usize - 1];
        let mut view = LeaseView::empty(lease);
        view.hostnames =
            hostnames::declared(group).filter(|host| !without.contains(&host.as_str())).collect();
        view.held = Some(Held {
            version: Some(sdl.version()),
            group: Arc::new(group.clone()),
            cards: BTreeMap::new(),
            deployed: true,
            ignored: BTreeMap::new(),
        });
        self.hostnames.see(&view);
        self.leases.insert(lease, view);
    }

    /// Sends a manifest to the end of it.
    pub(super) fn accept(&mut self, deployment: DeploymentId, sdl: &Sdl, leased: &[u32]) {
        let effects = self.submit(0, deployment, sdl.manifest());
        assert_eq!(effects, [ManifestAction::Read(deployment)]);
        let holds = self.read(&facts(deployment, sdl, leased));
        assert_eq!(holds.len(), leased.len(), "{holds:?}");
        for gseq in leased {
            self.held(lease(deployment, *gseq, 1), sdl);
        }
        self.pass(6);
    }
}

pub(super) fn refused(request: u64, refusal: ManifestRefusal) -> ManifestAction {
    let answer = ManifestAnswer::Refused(refusal);
    ManifestAction::Reply(RequestId(request), Reply::Manifest(answer))
}

pub(super) fn accepted(request: u64, leases: &[LeaseId]) -> ManifestAction {
    let answer = ManifestAnswer::Accepted { leases: leases.to_vec() };
    ManifestAction::Reply(RequestId(request), Reply::Manifest(answer))
}

pub(super) fn workload(lease: LeaseId, sdl: &Sdl, withheld: &[&str]) -> Arc<Workload> {
    Arc::new(Workload {
        lease,
        version: Some(sdl.version()),
        group: Arc::new(sdl.manifest().groups[lease.gseq() as usize - 1].clone()),
        cards: BTreeMap::new(),
        withheld: withheld.iter().map(|host| (*host).to_owned()).collect(),
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    })
}

pub(super) fn hold(lease: LeaseId, sdl: &Sdl, withheld: &[&str]) -> ManifestAction {
    ManifestAction::Hold(workload(lease, sdl, withheld))
}
