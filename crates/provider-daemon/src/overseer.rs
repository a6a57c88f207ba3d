//! What operators, probes and tenants' status ask: answered from what was last seen, at once.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use akash_chain::follow::FollowStatus;
use akash_chain::tx::lane::LaneStatus;
use akash_types::Address;
use provider_bus::BusStatus;
use provider_engine::engine::{BidStatus, InventoryStatus, LeaseStatus};
use provider_engine::journal::Subject;
use provider_engine::{OperatorRequest, Reply, TenantRequest};
use provider_operators::hostname::HostnameOperator;
use tokio::sync::watch;

use crate::ctl::{self, Operate, wire};
use crate::engine_task::{Busy, Handle};
use crate::gateway_figures::GatewayCounters;
use crate::health::{Probe, Readiness};
use crate::isolation::{Isolation, attempts};
use crate::metrics::{EngineGauges, Format, Metrics, ProcessStats, Snapshot};
use crate::part::Parts;
use crate::store::Store;

/// Decisions that are shown of one subject at most.
const DECISIONS: usize = 200;

/// Who we are, as long as the process runs.
#[derive(Clone, Debug)]
pub struct Identity {
    pub provider: Address,
    pub chain_id: String,
    /// What runs the workloads.
    pub cluster: &'static str,
    /// When the process began.
    pub started: Instant,
}

/// Sees every part, and waits for none.
#[derive(Clone, Debug)]
pub struct Overseer {
    pub(crate) identity: Identity,
    pub(crate) handle: Handle,
    pub(crate) parts: Parts,
    pub(crate) chain: watch::Receiver<FollowStatus>,
    pub(crate) readiness: watch::Receiver<Arc<Readiness>>,
    pub(crate) lane: watch::Receiver<LaneStatus>,
    pub(crate) bus: watch::Receiver<BusStatus>,
    pub(crate) store: Arc<Store>,
    pub(crate) metrics: Arc<Metrics>,
    /// What the gateway counts; empty until it serves.
    pub(crate) gateway: Arc<OnceLock<GatewayCounters>>,
    /// Who makes routes of hostnames, if this process does.
    pub(crate) hostnames: Option<HostnameOperator>,
    /// What probes the isolation of tenants, on Kubernetes.
    pub(crate) isolation: Option<Isolation>,
}

impl Probe for Overseer {
    fn metrics(&self, format: Format) -> String {
        let gauges = EngineGauges::of(&self.handle.published());
        let (follow, lane) = (self.chain.borrow().clone(), self.lane.borrow().clone());
        let (bus, store) = (self.bus.borrow().clone(), self.store.health());
        let (parts, process) = (self.parts.all(), ProcessStats::read());
        let hostnames = self.hostnames.as_ref().map(HostnameOperator::figures);
        let gateway = self.gateway.get().map(GatewayCounters::read);
        let readiness = self.readiness();
        let snapshot = Snapshot {
            engine: Some(&gauges),
            readiness: Some(&readiness),
            follow: Some(&follow),
            lane: Some(&lane),
            store: Some(&store),
            bus: Some(&bus),
            parts: &parts,
            gateway: gateway.as_ref(),
            hostnames: hostnames.as_ref(),
            process: Some(&process),
        };
        self.metrics.render(&snapshot, format)
    }

    fn readiness(&self) -> Readiness {
        Readiness::clone(&self.readiness.borrow())
    }
}

impl Operate for Overseer {
    fn status(&self) -> wire::Status {
        let parts = self.parts.all().into_iter().map(|part| wire::Part {
            name: part.name.to_owned(),
            state: part.lifecycle.to_string(),
            restarts: part.restarts,
            detail: part.problem.unwrap_or_default(),
        });
        let Readiness { ready, missing } = self.readiness();
        let missing =
            missing.into_iter().map(|missing| format!("{}: {}", missing.what, missing.why));
        wire::Status {
            ready,
            missing: missing.collect(),
            provider: self.identity.provider.to_string(),
            chain_id: self.identity.chain_id.clone(),
            cluster: self.identity.cluster.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_seconds: self.identity.started.elapsed().as_secs(),
            parts: parts.collect(),
            ..wire::Status::default()
        }
        .with_engine(&self.handle.published().status)
    }

    fn bids(&self) -> Vec<BidStatus> {
        self.handle.published().bids.clone()
    }

    fn leases(&self) -> Vec<LeaseStatus> {
        self.handle.published().leases.iter().cloned().collect()
    }

    fn inventory(&self) -> Option<InventoryStatus> {
        self.handle.published().inventory.clone()
    }

    fn subjects(&self, dseq: u64) -> Vec<Subject> {
        match self.store.subjects(dseq) {
            Ok(subjects) => subjects,
            Err(error) => {
                tracing::warn!(%error, dseq, "the journal cannot be read");
                Vec::new()
            }
        }
    }

    fn decisions(&self, subject: Subject) -> Vec<wire::Decided> {
        let records = self.store.why(subject, DECISIONS).unwrap_or_else(|error| {
            tracing::warn!(%error, %subject, "the journal cannot be read");
            Vec::new()
        });
        let decided = records.into_iter().map(|record| wire::Decided {
            height: record.height,
            time: record.time,
            decision: record.words,
        });
        decided.collect()
    }

    async fn operator(&self, request: OperatorRequest) -> Result<Reply, ctl::Unavailable> {
        self.handle.operator(request).await.map_err(unavailable)
    }

    async fn probe_isolation(&self, image: Option<String>) -> Result<Vec<wire::Attempt>, String> {
        let isolation = self.isolation.as_ref();
        let isolation = isolation.ok_or("the cluster is simulated; this needs Kubernetes")?;
        let report = isolation.probe(image, &self.handle).await;
        report.map(|report| attempts(&report)).map_err(|error| error.to_string())
    }

    async fn tenant(&self, request: TenantRequest) -> Result<Reply, ctl::Unavailable> {
        self.handle.tenant(request).await.map_err(unavailable)
    }
}

pub(crate) const fn unavailable(busy: Busy) -> ctl::Unavailable {
    match busy {
        Busy::Full => ctl::Unavailable::Busy,
        Busy::TimedOut => ctl::Unavailable::TimedOut,
        Busy::Stopping => ctl::Unavailable::Stopping,
    }
}
