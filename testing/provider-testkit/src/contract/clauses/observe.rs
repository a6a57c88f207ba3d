//! What watchers see.

use provider_engine::cluster::command::Operation;

use super::super::case::Case;
use super::super::harness::{Harness, Program};
use super::super::report::{Verdict, same};

/// A view begins whole; what is told from then on leads to the same as beginning again.
pub async fn a_view_begins_whole_and_then_tells_every_change<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    let mut early = case.watch().await?;
    case.does(Operation::Hold(case.runs(Program::Serves, 1))).await?;
    let is_held = |lease: Option<&provider_engine::cluster::view::LeaseView>| {
        lease.is_some_and(|lease| lease.held.as_ref().is_some_and(|held| !held.deployed))
    };
    early.until_lease("the manifest", case.patience(), case.lease, is_held).await?;
    case.does(Operation::Deploy(case.runs(Program::Serves, 1))).await?;
    let late = case.watch().await?;
    // What happens by itself goes on, so the later view is waited for.
    let target = |view: &provider_engine::cluster::view::ClusterView| {
        view.leases.get(&case.lease).map(|lease| lease.held.clone())
    };
    let expected = target(&late.view);
    early.until("the deploy", case.patience(), |view, _| target(view) == expected).await?;
    same("nodes", &early.view.nodes, &late.view.nodes)?;
    same("storage", &early.view.storage, &late.view.storage)?;
    case.clears().await?;
    let gone = |lease: Option<&_>| lease.is_none();
    early.until_lease("the end of the lease", case.patience(), case.lease, gone).await
}

/// Maintenance is told to watchers and survives a crash of the driver.
pub async fn maintenance_is_held<H: Harness>(harness: &H) -> Verdict {
    let mut case = Case::new(harness)?;
    for on in [true, false] {
        let mut watch = case.watch().await?;
        case.does(Operation::Maintain(on)).await?;
        watch.until("maintenance", case.patience(), |view, _| view.maintenance == on).await?;
        case.driver = harness.restart().await;
        same("after a crash", &case.watch().await?.view.maintenance, &on)?;
    }
    Ok(())
}
