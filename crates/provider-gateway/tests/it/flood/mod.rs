//! A cluster whose containers write without end.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use akash_types::LeaseId;
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus, LogLines, LogPart,
    LogQuery, Logs, Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::Held;
use provider_sim::driver::{SimChanges, SimDriver, SimEvents, SimInputEnd, SimOutputEnd};

/// Lines without an end, and how many were taken.
#[derive(Clone, Debug)]
pub(crate) struct Flood {
    taken: Arc<AtomicUsize>,
    line: Arc<str>,
}

impl Flood {
    /// Lines of so many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self { taken: Arc::default(), line: "x".repeat(bytes).into() }
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl LogLines for Flood {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        // Every so often it is somebody else's turn.
        if self.taken.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
            tokio::task::yield_now().await;
        }
        Ok(Some(LogPart::Text {
            service: "web".to_owned(),
            replica: "web-0".to_owned(),
            text: self.line.to_string(),
            continues: false,
        }))
    }
}

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
