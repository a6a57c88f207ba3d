//! A cluster whose containers write without end.

use akash_types::LeaseId;
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus, LogQuery, Logs,
    Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::Held;
use provider_sim::driver::{SimChanges, SimDriver, SimEvents, SimInputEnd, SimOutputEnd};

use super::Flood;

#[derive(Clone)]
pub(crate) struct Flooded {
    pub(crate) cluster: SimDriver,
    pub(crate) flood: Flood,
}

impl Execute for Flooded {
    async fn execute(&self, operation: Operation) -> Result<(), CommandFailure> {
        self.cluster.execute(operation).await
    }
}

impl Observe for Flooded {
    type Changes = SimChanges;

    fn observe(&self) -> SimChanges {
        self.cluster.observe()
    }
}

impl Inspect for Flooded {
    type Events = SimEvents;

    async fn status(&self, lease: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        self.cluster.status(lease).await
    }

    async fn service(&self, lease: LeaseId, service: &str) -> Result<ServiceStatus, ReadFailure> {
        self.cluster.service(lease, service).await
    }

    async fn manifest(&self, lease: LeaseId) -> Result<Held, ReadFailure> {
        self.cluster.manifest(lease).await
    }

    async fn events(&self, lease: LeaseId, query: EventQuery) -> Result<SimEvents, ReadFailure> {
        self.cluster.events(lease, query).await
    }
}

impl Logs for Flooded {
    type Lines = Flood;

    async fn logs(&self, _: LeaseId, _: LogQuery) -> Result<Flood, ReadFailure> {
        Ok(self.flood.clone())
    }
}

impl Exec for Flooded {
    type Input = SimInputEnd;
    type Output = SimOutputEnd;

    async fn exec(
        &self,
        lease: LeaseId,
        request: ExecRequest,
    ) -> Result<(SimInputEnd, SimOutputEnd), ExecFailure> {
        self.cluster.exec(lease, request).await
    }
}
