//! Nothing is lost that nobody meant to lose.

use std::sync::Arc;

use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{Execute, Inspect, ReadFailure};
use provider_engine::cluster::view::Condition;

use super::super::case::Case;
use super::super::harness::{Harness, Program};
use super::super::report::{Breach, Verdict, holds, same};
use super::super::watch::is_ready;

/// After a crash of the driver the view is the same, and no replica was touched.
pub async fn a_restart_of_the_driver_touches_nothing<H: Harness>(harness: &H) -> Verdict {
    let mut case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 2)).await?;
    let status = Ok(case.settled_status().await?);
    let before = case.watch().await?.view.leases.get(&case.lease).cloned();
    case.driver = harness.restart().await;
    let after = case.watch().await?.view.leases.get(&case.lease).cloned();
    same("the lease", &after, &before)?;
    same("its status", &case.driver.status(case.lease).await, &status)?;
    case.clears().await
}

/// While the cluster does not answer, everything says so, nothing is destroyed, and afterwards all
/// is as it was.
pub async fn an_unavailable_api_is_said_and_destroys_nothing<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let workload = case.runs(Program::Serves, 1);
    case.deploys(&workload).await?;
    let mut watch = case.watch().await?;
    let before = watch.view.leases.get(&case.lease).cloned();
    harness.break_api().await;
    let answers = while_broken(&case, &workload).await;
    let told = watch.until("being lost", case.patience(), |_, is_lost| is_lost).await;
    // Whatever was found, the next clause needs a cluster that answers.
    harness.restore_api().await;
    answers?;
    told?;
    watch.until("being found again", case.patience(), |_, is_lost| !is_lost).await?;
    same("the lease", &watch.view.leases.get(&case.lease).cloned(), &before)?;
    case.clears().await
}

async fn while_broken<H: Harness>(
    case: &Case<'_, H>,
    workload: &Arc<provider_engine::cluster::command::Workload>,
) -> Verdict {
    for operation in [
        Operation::Hold(Arc::clone(workload)),
        Operation::Deploy(Arc::clone(workload)),
        Operation::Maintain(true),
    ] {
        let result = case.driver.execute(operation).await;
        let unavailable = matches!(result, Err(CommandFailure::Unavailable(_)));
        holds(unavailable, || format!("expected Unavailable, got {result:?}"))?;
    }
    let status = case.driver.status(case.lease).await;
    let unavailable = matches!(status, Err(ReadFailure::Unavailable(_)));
    holds(unavailable, || format!("status: expected Unavailable, got {status:?}"))
}

/// While a node does not answer its replicas do not count as well, and the lease stays.
pub async fn a_lost_node_is_not_a_lost_lease<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    let mut watch = case.watch().await?;
    let node = watch.view.leases.get(&case.lease).and_then(|lease| lease.replicas.first());
    let node = node.and_then(|replica| replica.node.clone());
    let node = node.ok_or_else(|| Breach("the replica is on no node".to_owned()))?;
    harness.lose_node(&node).await;
    let lost = watch
        .until("the loss of a node", case.patience(), |view, is_lost| {
            let machine = view.nodes.get(&node);
            let lease = view.leases.get(&case.lease);
            !is_lost
                && machine.is_none_or(|machine| !machine.schedulable())
                && lease.is_some_and(|lease| {
                    let mut replicas = lease.replicas.iter();
                    replicas.all(|replica| {
                        replica.node.as_ref() != Some(&node)
                            || replica.condition != Condition::Ready
                    })
                })
        })
        .await;
    harness.return_node(&node).await;
    lost?;
    watch
        .until_lease("being ready again", case.patience(), case.lease, |lease| is_ready(lease, 1))
        .await?;
    case.clears().await
}
