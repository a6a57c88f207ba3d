//! Nodes behind one address that do not know the same blocks.

use akash_chain::tx::message::deployment::close_deployment;
use akash_chain::tx::message::market::create_lease;
use provider_testkit::bidder::Want;

use crate::chaos::ours::Ours;
use crate::chaos::tenants::{Tenants, register};
use crate::chaos::world::World;

/// Blocks that only some nodes know.
const BEHIND: u64 = 4;

/// Makes blocks, each after the one before was followed, until something is so.
async fn blocks_until(world: &World, ours: &mut Ours, is_so: impl Fn(&Ours) -> bool) -> u64 {
    for _ in 0..500 {
        let height = world.block().await.height();
        ours.follow(height).await;
        if is_so(ours) {
            return height;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it never is so: {:?}", ours.entries());
}

/// What became of the only withdrawal.
fn withdrawal(ours: &Ours) -> Option<Option<String>> {
    let mut entries = ours.entries().into_iter();
    entries.find(|entry| matches!(entry.want, Want::Withdraw(_))).map(|entry| entry.outcome)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_ended_where_only_some_nodes_know_is_paid_out_and_not_refused() {
    for with_grpc in [false, true] {
        let mut world = World::start().await;
        register(&mut world).await;
        let begin = world.block().await.height();
        let mut ours = Ours::start(&world, begin, false, with_grpc);
        let (deployment, create) = Tenants::new().one();
        assert!(world.send(crate::chaos::world::TENANT, &[create]).await);
        blocks_until(&world, &mut ours, |ours| !ours.bids().is_empty()).await;
        let lease = create_lease(ours.bids()[0]).unwrap();
        assert!(world.send(crate::chaos::world::TENANT, &[lease]).await);
        let is_lease =
            |ours: &Ours| ours.entries().iter().any(|entry| matches!(entry.want, Want::Lease(_)));
        let leased = blocks_until(&world, &mut ours, is_lease).await;

        // Three blocks later it is withdrawn from, by whoever knows no more than that.
        world.devnet.faults().change(|plan| plan.lag = BEHIND);
        for _ in 0..3 {
            world.block().await;
        }
        assert!(world.send(crate::chaos::world::TENANT, &[close_deployment(deployment)]).await);
        while world.block().await.height() < leased + 3 + BEHIND {}
        ours.follow(leased + 3).await;
        // Simulated where the lease is over, it is asked about where it is not.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(withdrawal(&ours), Some(None), "nobody knows yet");

        world.devnet.faults().clear();
        blocks_until(&world, &mut ours, |ours| withdrawal(ours) != Some(None)).await;
        assert_eq!(withdrawal(&ours), Some(Some("already_holds".to_owned())));
    }
}
