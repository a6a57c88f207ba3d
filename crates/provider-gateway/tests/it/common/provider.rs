//! A provider as small as it can be: it knows deployments and their hashes, and deploys at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_sdl::{Manifest, Version};
use akash_types::{Address, DeploymentId, GroupSpec, LeaseId, ResourceOffer};
use provider_api::screening::ScreeningRequest;
use provider_api::status::{AkashVersion, Missing, Readiness, VersionDocument};
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::Execute;
use provider_engine::cluster::view::Amounts;
use provider_engine::engine::{
    InventoryStatus, LeaseIndex, LeaseStatus, NodeStatus, Published, Reserved, Status,
};
use provider_engine::manifest::{
    ManifestAnswer, ManifestRefusal, MigrationAnswer, MigrationRefusal,
};
use provider_engine::{Reply, TenantRequest};
use provider_gateway::port::{Busy, Identity, Provider, Screening};
use provider_sim::driver::SimDriver;
use tokio::sync::watch;

use super::{OWNER, PROVIDER, lease};

#[derive(Clone)]
pub(crate) struct TestProvider(Arc<Inner>);

struct Inner {
    published: watch::Sender<Arc<Published>>,
    readiness: watch::Sender<Arc<Readiness>>,
    identity: Mutex<Arc<Identity>>,
    deployments: Mutex<HashMap<DeploymentId, Deployment>>,
    cluster: SimDriver,
    busy: Mutex<Option<Busy>>,
    carried_out: AtomicUsize,
    screened: Mutex<Vec<ScreeningRequest>>,
}

#[derive(Clone)]
struct Deployment {
    version: Version,
    groups: Vec<GroupSpec>,
    lease: Option<LeaseId>,
}

impl TestProvider {
    pub(crate) fn new(cluster: SimDriver) -> Self {
        let published = Published {
            status: Status {
                height: 1,
                ready: true,
                cluster_fresh: true,
                orders: vec![("open", 0)],
                ..Status::default()
            },
            leases: LeaseIndex::default(),
            bids: vec![],
            inventory: Some(InventoryStatus::default()),
            deployments: 0,
            manifests: 0,
            drift: std::collections::BTreeMap::new(),
        };
        let identity = Identity {
            address: PROVIDER.parse().unwrap(),
            public_hostname: "localhost".to_owned(),
            reclamation_window: None,
            version: VersionDocument {
                akash: AkashVersion {
                    server_name: "<appd>".to_owned(),
                    version: "v0.16.2".to_owned(),
                    ..AkashVersion::default()
                },
                kube: None,
            },
        };
        Self(Arc::new(Inner {
            published: watch::Sender::new(Arc::new(published)),
            readiness: watch::Sender::new(Arc::new(Readiness::without(Vec::new()))),
            identity: Mutex::new(Arc::new(identity)),
            deployments: Mutex::default(),
            cluster,
            busy: Mutex::default(),
            carried_out: AtomicUsize::new(0),
            screened: Mutex::default(),
        }))
    }

    /// A deployment that the chain knows, without a lease.
    pub(crate) fn deployment(&self, id: DeploymentId, manifest: &Manifest, groups: &[GroupSpec]) {
        let known = Deployment { version: manifest.version(), groups: groups.into(), lease: None };
        self.0.deployments.lock().unwrap().insert(id, known);
    }

    /// A lease that is active.
    pub(crate) fn lease(&self, lease: LeaseId, manifest: &Manifest, groups: &[GroupSpec]) {
        let (version, groups) = (manifest.version(), groups.to_vec());
        let known = Deployment { version, groups, lease: Some(lease) };
        self.0.deployments.lock().unwrap().insert(lease.deployment_id(), known);
        self.publish(|published| {
            let more = LeaseStatus {
                id: lease,
                price: "1uakt".parse().unwrap(),
                stage: "running",
                alive: true,
                lacks_manifest: false,
                funds: None,
            };
            let others = published.leases.iter().filter(|other| other.id != lease).cloned();
            published.leases = others.chain([more]).collect();
        });
    }

    /// The lease is over.
    pub(crate) fn close(&self, lease: LeaseId) {
        self.publish(|published| {
            let rest = published.leases.iter().filter(|other| other.id != lease).cloned();
            published.leases = rest.collect();
        });
    }

    pub(crate) fn publish(&self, change: impl FnOnce(&mut Published)) {
        let mut next = self.published().as_ref().clone();
        change(&mut next);
        self.0.published.send_replace(Arc::new(next));
    }

    pub(crate) fn misses(&self, what: &'static str) {
        let missing = vec![Missing { what, why: "it is gone".to_owned() }];
        self.0.readiness.send_replace(Arc::new(Readiness::without(missing)));
    }

    pub(crate) fn identify(&self, change: impl FnOnce(&mut Identity)) {
        let mut identity = self.identity().as_ref().clone();
        change(&mut identity);
        *self.0.identity.lock().unwrap() = Arc::new(identity);
    }

    /// How many requests of tenants changed something.
    pub(crate) fn carried_out(&self) -> usize {
        self.0.carried_out.load(Ordering::SeqCst)
    }

    /// What was asked to be screened since this was last called.
    pub(crate) fn screened(&self) -> Vec<ScreeningRequest> {
        std::mem::take(&mut *self.0.screened.lock().unwrap())
    }

    pub(crate) fn be_busy(&self, busy: Busy) {
        *self.0.busy.lock().unwrap() = Some(busy);
    }

    async fn manifest(&self, id: DeploymentId, manifest: &Manifest) -> ManifestAnswer {
        match self.accept(id, manifest).await {
            Ok(lease) => ManifestAnswer::Accepted { leases: vec![lease] },
            Err(refusal) => ManifestAnswer::Refused(refusal),
        }
    }

    async fn accept(
        &self,
        id: DeploymentId,
        manifest: &Manifest,
    ) -> Result<LeaseId, ManifestRefusal> {
        manifest.validate()?;
        let known = self.0.deployments.lock().unwrap().get(&id).cloned();
        let known = known.ok_or(ManifestRefusal::UnknownDeployment(id))?;
        let sent = manifest.version();
        if sent != known.version {
            let on_chain = *known.version.as_bytes();
            return Err(ManifestRefusal::Version { sent, on_chain });
        }
        manifest.validate_against(&known.groups)?;
        let lease = known.lease.ok_or(ManifestRefusal::NoLease)?;
        let hosts = manifest.groups[0].services.iter().flat_map(|it| it.expose.iter().flatten());
        for host in hosts.flat_map(|expose| expose.hosts.iter().flatten()) {
            if host == "taken.example.com" {
                return Err(ManifestRefusal::HostnameInUse(host.clone()));
            }
        }
        let workload = Workload {
            lease,
            version: Some(sent),
            group: Arc::new(manifest.groups[0].clone()),
            cards: BTreeMap::new(),
            withheld: vec![],
            endpoints_to_take: vec![],
            ignored: BTreeMap::new(),
        };
        let deployed = self.0.cluster.execute(Operation::Deploy(Arc::new(workload))).await;
        deployed.map_err(|why| ManifestRefusal::ClusterUnavailable(why.to_string()))?;
        Ok(lease)
    }
}

/// Names that begin with `nope` are used nowhere; the tenant's 9002 is the deployment to move them
/// to.
fn migrated(
    names: Vec<String>,
    (owner, dseq): (Address, u64),
    refusal: fn(String) -> MigrationRefusal,
) -> Reply {
    Reply::Migration(match names.iter().find(|name| name.starts_with("nope")) {
        _ if names.is_empty() => MigrationAnswer::Refused(MigrationRefusal::NothingNamed),
        _ if dseq != 9002 || owner.to_string() != OWNER => {
            MigrationAnswer::Refused(MigrationRefusal::NoDestination)
        }
        Some(name) => MigrationAnswer::Refused(refusal(name.clone())),
        None => MigrationAnswer::Transferred(names),
    })
}

impl Provider for TestProvider {
    fn published(&self) -> Arc<Published> {
        self.0.published.borrow().clone()
    }

    fn changes(&self) -> watch::Receiver<Arc<Published>> {
        self.0.published.subscribe()
    }

    fn readiness(&self) -> watch::Receiver<Arc<Readiness>> {
        self.0.readiness.subscribe()
    }

    fn identity(&self) -> Arc<Identity> {
        self.0.identity.lock().unwrap().clone()
    }

    async fn tenant(&self, request: TenantRequest) -> Result<Reply, Busy> {
        if let Some(busy) = *self.0.busy.lock().unwrap() {
            return Err(busy);
        }
        let reply = match request {
            TenantRequest::Manifest { deployment, manifest, .. } => {
                Reply::Manifest(self.manifest(deployment, &manifest).await)
            }
            TenantRequest::MigrateHostnames { hostnames, owner, dseq, .. } => {
                migrated(hostnames, (owner, dseq), MigrationRefusal::HostnameNotUsed)
            }
            TenantRequest::MigrateEndpoints { endpoints, owner, dseq, .. } => {
                migrated(endpoints, (owner, dseq), MigrationRefusal::EndpointNotUsed)
            }
        };
        let refused = matches!(
            &reply,
            Reply::Manifest(ManifestAnswer::Refused(_))
                | Reply::Migration(MigrationAnswer::Refused(_))
        );
        if !refused {
            self.0.carried_out.fetch_add(1, Ordering::SeqCst);
        }
        Ok(reply)
    }

    async fn screen(&self, request: ScreeningRequest) -> Result<Screening, Busy> {
        if let Some(busy) = *self.0.busy.lock().unwrap() {
            return Err(busy);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.0.screened.lock().unwrap().push(request.clone());
        if request.hostnames.iter().any(|host| host == "taken.example.com") {
            return Ok(Screening::Declined(vec!["host in use".to_owned()]));
        }
        let offers = request.group.resources.iter().map(|unit| ResourceOffer {
            resources: unit.resources.clone(),
            count: unit.count,
            prices: None,
        });
        let price = request.group.total_price().unwrap();
        Ok(Screening::Passed { offers: offers.collect(), price })
    }
}

/// What a provider with so many nodes and reservations has.
pub(crate) fn inventory(nodes: u32, reservations: u64) -> InventoryStatus {
    let amounts = Amounts { cpu_milli: 500, memory: 1 << 30, ephemeral: 1 << 30, gpu: 0 };
    let node = |number: u32| NodeStatus {
        name: format!("node-{number}").into(),
        allocatable: amounts,
        available: amounts,
        ..NodeStatus::default()
    };
    let reserved = |dseq| Reserved {
        order: lease(dseq).order_id(),
        active: dseq % 2 == 0,
        amounts,
        storage: [("beta3".into(), 1 << 30)].into(),
        ports: 0,
        ips: 0,
    };
    InventoryStatus {
        nodes: (0..nodes).map(node).collect(),
        reserved: (1..=reservations).map(reserved).collect(),
        ..InventoryStatus::default()
    }
}
