//! What a tenant reads about a lease.

use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{
    EventQuery, EventStream, Exec, ExecFailure, ExecRequest, Inspect, LogQuery, Logs, Missing,
    Phase, ReadFailure, ServiceChoice, ServiceStatus,
};
use provider_engine::cluster::view::Condition;
use tokio::time::{Instant, sleep, timeout};

use super::super::case::{Case, WEB};
use super::super::harness::{Harness, Program};
use super::super::report::{Breach, Verdict, holds, same};

/// An image that cannot be pulled makes a failing replica, with a reason in view and status.
pub async fn a_missing_image_fails_with_a_reason<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let mut watch = case.watch().await?;
    case.does(Operation::Deploy(case.runs(Program::Missing, 1))).await?;
    let mut reason = String::new();
    watch
        .until_lease("a failing replica", case.patience(), case.lease, |lease| {
            let replicas = lease.map(|lease| lease.replicas.iter());
            let failing = replicas.into_iter().flatten().find_map(|replica| {
                let Condition::Failing(why) = &replica.condition else { return None };
                Some(why.clone())
            });
            reason = failing.unwrap_or_default();
            !reason.is_empty()
        })
        .await?;
    let status = until_service(&case, "failing", |status| status.phase == Phase::Failing).await?;
    holds(status.why.is_some_and(|why| !why.is_empty()), || "no reason is given".to_owned())?;
    same("ready", &status.counts.ready, &0)?;
    case.clears().await
}

/// A container that crashes shows with which code, and how often it was started again.
pub async fn a_crash_shows_its_exit_code<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.does(Operation::Deploy(case.runs(Program::Crashes, 1))).await?;
    let status = until_service(&case, "a restart", |status| status.restarts > 0).await?;
    let exit = status.last_exit.ok_or_else(|| Breach("no last exit".to_owned()))?;
    same("exit code", &exit.code, &1)?;
    holds(!exit.reason.is_empty(), || "the exit has no reason".to_owned())?;
    case.clears().await
}

/// What fits on no node says so, in view and status, and does not count as running anywhere.
pub async fn what_fits_nowhere_says_so<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let mut watch = case.watch().await?;
    let mut service = case.service(Program::Serves, 1);
    if let Some(cpu) = &mut service.resources.cpu {
        cpu.units = 4_000_000;
    }
    case.does(Operation::Deploy(case.workload(service))).await?;
    watch
        .until_lease("being unschedulable", case.patience(), case.lease, |lease| {
            let replicas = lease.map(|lease| lease.replicas.iter());
            replicas.into_iter().flatten().any(|replica| {
                replica.node.is_none()
                    && matches!(&replica.condition, Condition::Unschedulable(why) if !why.is_empty())
            })
        })
        .await?;
    let status = until_service(&case, "pending", |status| status.phase == Phase::Pending).await?;
    holds(status.why.is_some(), || "no reason is given".to_owned())?;
    case.clears().await
}

/// Leases, workloads and services that are not there are not found, and nothing else is said.
pub async fn what_is_not_there_is_not_found<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let missing = |what| ReadFailure::NotFound(what);
    let (driver, lease) = (&case.driver, case.lease);
    same("status", &driver.status(lease).await, &Err(missing(Missing::Lease)))?;
    same("manifest", &driver.manifest(lease).await, &Err(missing(Missing::Lease)))?;
    let logs = driver.logs(lease, LogQuery::default()).await.err();
    same("logs", &logs, &Some(missing(Missing::Lease)))?;
    let events = driver.events(lease, EventQuery::default()).await.err();
    same("events", &events, &Some(missing(Missing::Lease)))?;
    let exec = driver.exec(lease, command(WEB)).await.err();
    same("exec", &exec, &Some(ExecFailure::NotFound(Missing::Lease)))?;

    case.does(Operation::Hold(case.runs(Program::Serves, 1))).await?;
    same("status", &driver.status(lease).await, &Err(missing(Missing::Workloads)))?;

    case.does(Operation::Deploy(case.runs(Program::Serves, 1))).await?;
    let unknown = || Missing::Service("nobody".to_owned());
    let service = driver.service(lease, "nobody").await.err();
    same("service", &service, &Some(missing(unknown())))?;
    let services = ServiceChoice::Named(vec!["nobody".to_owned()]);
    let query = LogQuery { services, ..LogQuery::default() };
    let logs = driver.logs(lease, query).await.err();
    same("logs", &logs, &Some(missing(unknown())))?;
    let exec = driver.exec(lease, command("nobody")).await.err();
    same("exec", &exec, &Some(ExecFailure::NotFound(unknown())))?;
    case.clears().await
}

/// Events of a lease are told, those of the past and, when followed, those to come.
pub async fn events_are_told<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    let failed = |why: ReadFailure| Breach(format!("events: {why}"));
    let mut past = case.driver.events(case.lease, EventQuery::default()).await.map_err(failed)?;
    let mut count = 0_usize;
    while let Some(event) = past.next().await.map_err(failed)? {
        holds(!event.reason.is_empty() && !event.object.name.is_empty(), || format!("{event:?}"))?;
        count += 1;
    }
    holds(count > 0, || "a lease that runs has no events".to_owned())?;
    let query = EventQuery { follow: true, ..EventQuery::default() };
    let mut followed = case.driver.events(case.lease, query).await.map_err(failed)?;
    for _ in 0..count {
        followed.next().await.map_err(failed)?;
    }
    case.does(Operation::Deploy(case.runs(Program::ServesOther, 1))).await?;
    let next = timeout(case.patience(), followed.next()).await;
    holds(matches!(next, Ok(Ok(Some(_)))), || format!("an update told no event: {next:?}"))?;
    case.clears().await
}

fn command(service: &str) -> ExecRequest {
    ExecRequest {
        service: service.to_owned(),
        replica: None,
        command: vec!["true".to_owned()],
        stdin: false,
        terminal: None,
    }
}

/// Reads the status until it is as it should be.
pub(super) async fn until_service<H: Harness>(
    case: &Case<'_, H>,
    what: &str,
    holds: impl Fn(&ServiceStatus) -> bool,
) -> Result<ServiceStatus, Breach> {
    let deadline = Instant::now() + case.patience();
    loop {
        let status = case.driver.service(case.lease, WEB).await;
        match status {
            Ok(status) if holds(&status) => return Ok(status),
            _ if Instant::now() < deadline => sleep(std::time::Duration::from_millis(20)).await,
            other => return Err(Breach(format!("{what} did not show in the status: {other:?}"))),
        }
    }
}
