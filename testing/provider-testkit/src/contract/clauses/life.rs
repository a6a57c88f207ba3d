//! From the manifest to the teardown.

use std::sync::Arc;

use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{Inspect, Missing, ReadFailure};
use provider_engine::cluster::view::Condition;

use super::super::case::{Case, WEB, new_lease, teardown_of};
use super::super::harness::{Harness, Program};
use super::super::report::{Breach, Verdict, holds, same};
use super::super::watch::is_ready;

/// Once `Hold` was answered with `Ok`, a crash of everything does not lose the manifest.
pub async fn a_manifest_is_durable_before_it_is_accepted<H: Harness>(harness: &H) -> Verdict {
    let mut case = Case::new(harness)?;
    let workload = case.runs(Program::Serves, 1);
    case.does(Operation::Hold(Arc::clone(&workload))).await?;
    case.driver = harness.restart().await;
    let held = case.driver.manifest(case.lease).await;
    let held = held.map_err(|why| Breach(format!("after a crash: {why}")))?;
    same("version", &held.version, &workload.version)?;
    same("group", &held.group, &workload.group)?;
    same("deployed", &held.deployed, &false)?;
    let watch = case.watch().await?;
    let replicas = watch.view.leases.get(&case.lease).map(|lease| lease.replicas.len());
    same("replicas of what is only held", &replicas, &Some(0))?;
    case.clears().await
}

/// What is deployed becomes ready, and the manifest is held as deployed.
pub async fn what_is_deployed_becomes_ready<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let workload = case.runs(Program::Serves, 2);
    case.deploys(&workload).await?;
    let watch = case.watch().await?;
    let lease = watch.view.leases.get(&case.lease);
    let lease = lease.ok_or_else(|| Breach("the lease is not in the view".to_owned()))?;
    let held = lease.held.as_ref();
    holds(held.is_some_and(|held| held.deployed), || format!("not deployed: {held:?}"))?;
    for replica in &lease.replicas {
        let node = replica.node.as_ref();
        let known = node.is_some_and(|node| watch.view.nodes.contains_key(node));
        holds(known, || format!("a replica is on no node of the view: {node:?}"))?;
        holds(replica.asks.cpu_milli > 0 && replica.asks.memory > 0, || {
            format!("a replica asks for nothing: {:?}", replica.asks)
        })?;
    }
    case.clears().await
}

/// The second deploy of the same workload changes nothing.
pub async fn to_deploy_twice_is_to_deploy_once<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let workload = case.runs(Program::Serves, 1);
    case.deploys(&workload).await?;
    case.settled_status().await?;
    let before = case.watch().await?.view.leases.get(&case.lease).cloned();
    let status = case.driver.service(case.lease, WEB).await.map_err(read)?;
    case.does(Operation::Deploy(Arc::clone(&workload))).await?;
    let after = case.watch().await?.view.leases.get(&case.lease).cloned();
    same("the lease", &after, &before)?;
    let again = case.driver.service(case.lease, WEB).await.map_err(read)?;
    same("the service", &again, &status)?;
    case.clears().await
}

/// An update changes what runs, and takes no more than one replica out of work at a time.
pub async fn an_update_changes_what_runs_one_replica_at_a_time<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 3)).await?;
    let generation = case.driver.service(case.lease, WEB).await.map_err(read)?.counts.generation;
    let update = case.runs(Program::ServesOther, 3);
    let mut watch = case.watch().await?;
    case.does(Operation::Deploy(Arc::clone(&update))).await?;
    let (mut fewest, mut changed) = (usize::MAX, false);
    watch
        .until_lease("the update", case.patience(), case.lease, |lease| {
            let Some(lease) = lease else { return false };
            let ready =
                lease.replicas.iter().filter(|replica| replica.condition == Condition::Ready);
            fewest = fewest.min(ready.count());
            changed |= fewest < 3;
            changed && is_ready(Some(lease), 3)
        })
        .await?;
    // The last of three may still be to come.
    let deadline = tokio::time::Instant::now() + case.patience();
    loop {
        let counts = case.driver.service(case.lease, WEB).await.map_err(read)?.counts;
        if counts.updated == 3 && counts.ready == 3 && counts.existing == 3 {
            holds(counts.generation > generation, || "the generation did not grow".to_owned())?;
            break;
        }
        holds(tokio::time::Instant::now() < deadline, || format!("stuck at {counts:?}"))?;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    holds(fewest >= 2, || format!("only {fewest} of 3 replicas were left at work"))?;
    let held = case.driver.manifest(case.lease).await.map_err(read)?;
    same("version", &held.version, &update.version)?;
    case.clears().await
}

/// After an update that cannot start, the next update gets through.
pub async fn a_broken_update_can_be_repaired<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    let mut watch = case.watch().await?;
    case.does(Operation::Deploy(case.runs(Program::Missing, 1))).await?;
    watch
        .until_lease("the failure of a missing image", case.patience(), case.lease, |lease| {
            lease.is_some_and(|lease| {
                let mut conditions = lease.replicas.iter().map(|replica| &replica.condition);
                conditions.any(|condition| matches!(condition, Condition::Failing(_)))
            })
        })
        .await?;
    case.deploys(&case.runs(Program::ServesOther, 1)).await?;
    case.clears().await
}

/// After a teardown nothing is left, and to repeat it is no mistake.
pub async fn teardown_leaves_nothing_and_can_be_repeated<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.does(Operation::Deploy(case.runs(Program::Serves, 2))).await?;
    let mut watch = case.watch().await?;
    case.does(case.teardown()).await?;
    case.does(case.teardown()).await?;
    let gone = |lease: Option<&_>| lease.is_none();
    watch.until_lease("the end of the lease", case.patience(), case.lease, gone).await?;
    case.does(case.teardown()).await?;
    let missing = case.driver.manifest(case.lease).await;
    same("the manifest", &missing, &Err(ReadFailure::NotFound(Missing::Lease)))?;
    // The same lease can be there again.
    case.does(Operation::Hold(case.runs(Program::Serves, 1))).await?;
    case.clears().await
}

/// A lease of which nothing is there has been torn down.
pub async fn teardown_of_an_unknown_lease_is_done<H: Harness>(harness: &H) -> Verdict {
    Case::new(harness)?.does(teardown_of(new_lease()?)).await
}

fn read(why: ReadFailure) -> Breach {
    Breach(why.to_string())
}
