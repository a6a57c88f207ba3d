//! The clauses that every driver holds to, on the simulated cluster in this process, and on drivers
//! that are wrong on purpose: the clauses must find out.

use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    Changes, Cluster, EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus,
    LogLines, LogPart, LogQuery, Logs, Missing, Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::{Condition, Held, ViewChange};
use provider_sim::core::{ClusterSpec, Delays, Disturbance, Settings, SimCluster};
use provider_sim::driver::{SimChanges, SimDriver, SimEvents, SimInputEnd, SimLines, SimOutputEnd};
use provider_testkit::contract::{
    Capabilities, Harness, Program, Verdict, exec, life, logs, observe, run_all, safety, status,
};

/// A harness over a driver that may be wrapped.
struct InProcess<D> {
    cluster: SimDriver,
    driver: D,
    patience: Duration,
}

impl<D: Cluster> Harness for InProcess<D> {
    type Driver = D;

    fn driver(&self) -> D {
        self.driver.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn program(&self, program: Program) -> (String, Option<Vec<String>>) {
        let image = match program {
            Program::Serves => "nginx:1",
            Program::ServesOther => "nginx:2",
            Program::Missing => "web:missing",
            Program::Crashes => "web:crash",
            Program::WritesLongLine => "web:long",
        };
        (image.to_owned(), None)
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    async fn restart(&self) -> D {
        self.driver.clone()
    }

    async fn break_api(&self) {
        self.cluster.disturb(Disturbance::ApiDown(None)).await.unwrap();
    }

    async fn restore_api(&self) {
        self.cluster.disturb(Disturbance::ApiUp).await.unwrap();
    }

    async fn lose_node(&self, name: &str) {
        self.cluster.disturb(Disturbance::NodeLost(name.into())).await.unwrap();
    }

    async fn return_node(&self, name: &str) {
        self.cluster.disturb(Disturbance::NodeBack(name.into())).await.unwrap();
    }
}

fn cluster() -> SimDriver {
    let settings = Settings { delays: Delays::default().faster(100), ..Settings::default() };
    SimDriver::start(SimCluster::new(ClusterSpec::small(), settings, 3))
}

#[tokio::test]
async fn the_driver_in_this_process_holds_to_the_contract() {
    let cluster = cluster();
    let driver = cluster.clone();
    let report = run_all(&InProcess { cluster, driver, patience: Duration::from_secs(20) }).await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.left_out, [""; 0]);
    assert_eq!(report.held.len(), 27);
}

/// What a driver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    /// Says that it holds what it does not hold.
    ForgetsHolds,
    /// Says that it has torn down what it has not.
    ForgetsTeardowns,
    /// Takes a cluster that does not answer for one without the lease.
    TakesSilenceForAbsence,
    /// Goes on with an old view when the cluster does not answer.
    HidesLoss,
    /// Says that a pod that fails is on its way.
    HidesFailures,
    /// Forgets maintenance.
    ForgetsMaintenance,
    /// Stops following at the end of a container.
    StopsAtRestarts,
    /// Makes every deploy a change.
    DeploysAnew,
    /// Runs commands that do not exist.
    RunsAnything,
    /// Nothing.
    None,
}

#[derive(Clone)]
struct Wrong {
    inner: SimDriver,
    defect: Defect,
}

impl Execute for Wrong {
    async fn execute(&self, operation: Operation) -> Result<(), CommandFailure> {
        match (self.defect, &operation) {
            (Defect::ForgetsHolds, Operation::Hold(_))
            | (Defect::ForgetsTeardowns, Operation::Teardown { .. })
            | (Defect::ForgetsMaintenance, Operation::Maintain(_)) => return Ok(()),
            (Defect::DeploysAnew, Operation::Deploy(workload)) => {
                self.inner.disturb(Disturbance::KillContainers { per_mille: 1000 }).await.unwrap();
                return self.inner.execute(Operation::Deploy(workload.clone())).await;
            }
            _ => {}
        }
        self.inner.execute(operation).await
    }
}

struct WrongChanges {
    inner: SimChanges,
    defect: Defect,
}

impl Changes for WrongChanges {
    async fn next(&mut self) -> ViewChange {
        loop {
            match (self.defect, self.inner.next().await) {
                (Defect::HidesLoss, ViewChange::Lost) => {}
                (Defect::HidesFailures, ViewChange::Lease(mut lease)) => {
                    for replica in &mut lease.replicas {
                        if matches!(replica.condition, Condition::Failing(_)) {
                            replica.condition = Condition::Starting;
                        }
                    }
                    return ViewChange::Lease(lease);
                }
                (_, change) => return change,
            }
        }
    }
}

impl Observe for Wrong {
    type Changes = WrongChanges;

    fn observe(&self) -> WrongChanges {
        WrongChanges { inner: self.inner.observe(), defect: self.defect }
    }
}

impl Wrong {
    fn read<T>(&self, result: Result<T, ReadFailure>) -> Result<T, ReadFailure> {
        match result {
            Err(ReadFailure::Unavailable(_)) if self.defect == Defect::TakesSilenceForAbsence => {
                Err(ReadFailure::NotFound(Missing::Lease))
            }
            other => other,
        }
    }
}

impl Inspect for Wrong {
    type Events = SimEvents;

    async fn status(&self, lease: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        self.read(self.inner.status(lease).await)
    }

    async fn service(&self, lease: LeaseId, service: &str) -> Result<ServiceStatus, ReadFailure> {
        self.read(self.inner.service(lease, service).await)
    }

    async fn manifest(&self, lease: LeaseId) -> Result<Held, ReadFailure> {
        self.read(self.inner.manifest(lease).await)
    }

    async fn events(&self, lease: LeaseId, query: EventQuery) -> Result<SimEvents, ReadFailure> {
        self.read(self.inner.events(lease, query).await)
    }
}

struct WrongLines {
    inner: SimLines,
    defect: Defect,
}

impl LogLines for WrongLines {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        let part = self.inner.next().await?;
        match part {
            Some(LogPart::Break { .. }) if self.defect == Defect::StopsAtRestarts => Ok(None),
            part => Ok(part),
        }
    }
}

impl Logs for Wrong {
    type Lines = WrongLines;

    async fn logs(&self, lease: LeaseId, query: LogQuery) -> Result<WrongLines, ReadFailure> {
        let inner = self.read(self.inner.logs(lease, query).await)?;
        Ok(WrongLines { inner, defect: self.defect })
    }
}

impl Exec for Wrong {
    type Input = SimInputEnd;
    type Output = SimOutputEnd;

    async fn exec(
        &self,
        lease: LeaseId,
        mut request: ExecRequest,
    ) -> Result<(SimInputEnd, SimOutputEnd), ExecFailure> {
        if self.defect == Defect::RunsAnything {
            "true".clone_into(&mut request.command[0]);
            request.replica = None;
        }
        self.inner.exec(lease, request).await
    }
}

/// Tries the clause that a defect breaks.
async fn tried(defect: Defect) -> Verdict {
    let cluster = cluster();
    let driver = Wrong { inner: cluster.clone(), defect };
    let harness = InProcess { cluster, driver, patience: Duration::from_secs(2) };
    match defect {
        Defect::ForgetsHolds => life::a_manifest_is_durable_before_it_is_accepted(&harness).await,
        Defect::ForgetsTeardowns => {
            life::teardown_leaves_nothing_and_can_be_repeated(&harness).await
        }
        Defect::TakesSilenceForAbsence | Defect::HidesLoss => {
            safety::an_unavailable_api_is_said_and_destroys_nothing(&harness).await
        }
        Defect::HidesFailures => status::a_missing_image_fails_with_a_reason(&harness).await,
        Defect::ForgetsMaintenance => observe::maintenance_is_held(&harness).await,
        Defect::StopsAtRestarts => logs::logs_are_followed_through_restarts(&harness).await,
        Defect::DeploysAnew => life::to_deploy_twice_is_to_deploy_once(&harness).await,
        Defect::RunsAnything => exec::what_cannot_be_run_says_why(&harness).await,
        Defect::None => life::what_is_deployed_becomes_ready(&harness).await,
    }
}

#[tokio::test]
async fn each_wrong_driver_is_found_out() {
    let defects = [
        (Defect::ForgetsHolds, "after a crash"),
        (Defect::ForgetsTeardowns, "the end of the lease did not happen"),
        (Defect::TakesSilenceForAbsence, "status: expected Unavailable"),
        (Defect::HidesLoss, "being lost did not happen"),
        (Defect::HidesFailures, "a failing replica did not happen"),
        (Defect::ForgetsMaintenance, "maintenance did not happen"),
        (Defect::StopsAtRestarts, "followed logs broke off"),
        (Defect::DeploysAnew, "the lease: expected"),
        (Defect::RunsAnything, "command: expected"),
    ];
    // Each has its own cluster, so they need not wait for each other.
    let trying: Vec<_> = defects
        .into_iter()
        .map(|(defect, breach)| (defect, breach, tokio::spawn(tried(defect))))
        .collect();
    for (defect, breach, verdict) in trying {
        let found = verdict.await.unwrap().expect_err(&format!("{defect:?} went unnoticed")).0;
        assert!(found.starts_with(breach), "{defect:?}: {found}");
    }
    tried(Defect::None).await.unwrap();
}
