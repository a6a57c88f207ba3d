//! One try of one clause: a driver, leases of its own, and what to deploy under them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use akash_sdl::Manifest;
use akash_sdl::manifest::{Group, Protocol, Service, ServiceExpose, ServiceResources};
use akash_types::{
    Address, Cpu, DeploymentId, Gpu, GroupId, LeaseId, LeaseState, Memory, OrderId, Storage,
};
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::port::{Execute, Inspect, LeaseStatus, Observe};
use provider_engine::reconcile::Evidence;
use tokio::time::{Instant, sleep};

use super::harness::{Harness, Program};
use super::report::{Breach, Verdict};
use super::watch::{Watch, is_ready};

/// The service of every workload here.
pub(super) const WEB: &str = "web";

/// Leases are told apart by their deployment's number.
static NEXT: AtomicU64 = AtomicU64::new(1_000_000);

pub(super) struct Case<'h, H: Harness> {
    pub(super) harness: &'h H,
    pub(super) driver: H::Driver,
    pub(super) lease: LeaseId,
}

impl<'h, H: Harness> Case<'h, H> {
    pub(super) fn new(harness: &'h H) -> Result<Self, Breach> {
        Ok(Self { harness, driver: harness.driver(), lease: new_lease()? })
    }

    pub(super) fn patience(&self) -> Duration {
        self.harness.patience()
    }

    pub(super) fn service(&self, program: Program, count: u32) -> Service {
        let (image, command) = self.harness.program(program);
        let disk = Storage { name: "default".to_owned(), quantity: 64 << 20, attributes: vec![] };
        Service {
            name: WEB.to_owned(),
            image,
            command,
            count,
            resources: ServiceResources {
                id: 1,
                cpu: Some(Cpu { units: 50, attributes: vec![] }),
                memory: Some(Memory { quantity: 32 << 20, attributes: vec![] }),
                storage: Some(vec![disk]),
                gpu: Some(Gpu::default()),
                endpoints: None,
            },
            // As clusters give it back, which do not tell no ports from an empty list of them.
            expose: Some(Vec::new()),
            ..Service::default()
        }
    }

    pub(super) fn workload(&self, service: Service) -> Arc<Workload> {
        let group = Group { name: "group".to_owned(), services: vec![service] };
        let version = Manifest { groups: vec![group.clone()] }.version();
        Arc::new(Workload {
            lease: self.lease,
            version: Some(version),
            group: Arc::new(group),
            cards: BTreeMap::new(),
            withheld: vec![],
            endpoints_to_take: vec![],
            ignored: BTreeMap::new(),
        })
    }

    pub(super) fn runs(&self, program: Program, count: u32) -> Arc<Workload> {
        self.workload(self.service(program, count))
    }

    pub(super) async fn watch(&self) -> Result<Watch<<H::Driver as Observe>::Changes>, Breach> {
        Watch::begin(self.driver.observe(), self.patience()).await
    }

    /// Does something that has to succeed.
    pub(super) async fn does(&self, operation: Operation) -> Verdict {
        let what = format!("{operation:?}");
        let failed = |why: CommandFailure| Breach(format!("{what:.60}: {why}"));
        self.driver.execute(operation).await.map_err(failed)
    }

    /// Deploys and waits until all replicas work.
    pub(super) async fn deploys(&self, workload: &Arc<Workload>) -> Verdict {
        let mut watch = self.watch().await?;
        self.does(Operation::Deploy(Arc::clone(workload))).await?;
        let count: u32 = workload.group.services.iter().map(|service| service.count).sum();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let ready = |lease: Option<&_>| is_ready(lease, count);
        watch.until_lease("being ready", self.patience(), self.lease, ready).await
    }

    /// The status, once every replica counts as updated: clusters say so a moment after it works.
    pub(super) async fn settled_status(&self) -> Result<LeaseStatus, Breach> {
        let deadline = Instant::now() + self.patience();
        loop {
            let status = self.driver.status(self.lease).await;
            let is_settled = |status: &LeaseStatus| {
                status.services.iter().all(|it| it.counts.updated == it.counts.wanted)
            };
            match status {
                Ok(status) if is_settled(&status) => return Ok(status),
                _ if Instant::now() < deadline => sleep(Duration::from_millis(50)).await,
                status => return Err(Breach(format!("waiting for all updated: {status:?}"))),
            }
        }
    }

    pub(super) fn teardown(&self) -> Operation {
        teardown_of(self.lease)
    }

    /// Tears down what the case made.
    pub(super) async fn clears(&self) -> Verdict {
        let mut watch = self.watch().await?;
        self.does(self.teardown()).await?;
        let gone = |lease: Option<&_>| lease.is_none();
        watch.until_lease("the end of the lease", self.patience(), self.lease, gone).await
    }
}

pub(super) fn teardown_of(lease: LeaseId) -> Operation {
    // Two heights and an end make evidence; these are.
    match Evidence::new(LeaseState::Closed, None, 1, 2) {
        Some(evidence) => Operation::Teardown { lease, evidence },
        None => Operation::Maintain(false),
    }
}

pub(super) fn new_lease() -> Result<LeaseId, Breach> {
    let made = || -> Result<LeaseId, Box<dyn std::error::Error>> {
        let owner = Address::from_bytes(&[7; 20])?;
        let deployment = DeploymentId::new(owner, NEXT.fetch_add(1, Ordering::Relaxed))?;
        let order = OrderId::new(GroupId::new(deployment, 1)?, 1)?;
        Ok(LeaseId::new(order, Address::from_bytes(&[9; 20])?))
    };
    made().map_err(|why| Breach(why.to_string()))
}

/// A service open to the world at a port.
pub(super) fn exposed(mut service: Service, port: u32, host: Option<String>, ip: &str) -> Service {
    service.expose.get_or_insert_default().push(ServiceExpose {
        port,
        proto: Protocol::Tcp,
        global: true,
        hosts: host.map(|host| vec![host]),
        ip: ip.to_owned(),
        endpoint_sequence_number: u32::from(!ip.is_empty()),
        ..ServiceExpose::default()
    });
    service
}
