//! What breaks, and when it is whole again.

use std::time::Duration;

use provider_testkit::proxy::{Direction, Mode};

use crate::chaos::chance::Chance;
use crate::chaos::ours::Ours;
use crate::chaos::world::World;

/// Breaks something, or mends everything.
pub(crate) async fn cause(mut world: World, ours: &mut Ours, chance: &mut Chance) -> World {
    let which = usize::try_from(chance.below(3)).unwrap();
    let millis = Duration::from_millis(chance.below(80));
    let times = Some(u32::try_from(1 + chance.below(6)).unwrap());
    let blocks = 1 + chance.below(20);
    let seed = chance.below(1_000);
    let kind = chance.below(26);
    let proxy = world.proxies()[which];
    let faults = world.devnet.faults().clone();
    match kind {
        // Packets that are lost without a FIN.
        0 => proxy.set(Mode::Blackhole(None)),
        1 => proxy.set_open(Mode::Blackhole(None)),
        2 => proxy.set_open(Mode::Blackhole(Some(Direction::ToServer))),
        3 => proxy.set_open(Mode::Blackhole(Some(Direction::ToClient))),
        // A reset, a clean close, nobody listening.
        4 => proxy.set_open(Mode::Reset),
        5 => faults.cut_open_connections(),
        6 => proxy.set(Mode::Refuse),
        // Late and in pieces.
        7 => proxy.set(Mode::Chop { seed }),
        8 => proxy.set(Mode::Delay(millis)),
        // A node that is behind, jumps back, or is still reading.
        9 => faults.change(|plan| plan.lag = 50),
        10 => faults.change(|plan| plan.lag = blocks),
        11 => faults.change(|plan| plan.catching_up = true),
        // Errors.
        12 => faults.fail("block_results", "database is locked", times),
        13 => faults.fail("broadcast_tx_sync", "boom", times),
        14 => faults.fail("abci_query", "boom", times),
        15 => faults.fail("status", "boom", times),
        16 => faults.fail("tx", "boom", times),
        17 => faults.change(|plan| plan.late_results = true),
        18 => faults.change(|plan| plan.mempool_full = true),
        // Subscriptions that tell less than they should.
        19 => faults.change(|plan| plan.drop_block_events = true),
        20 => faults.change(|plan| plan.frame_delay = millis),
        // Ends without warning.
        21 => world = world.kill_node(chance.one_in(2).then_some(millis / 40)).await,
        22 => world = world.restart_node().await,
        23 | 24 => ours.kill(&world).await,
        _ => mend(&world),
    }
    world
}

/// Makes everything whole.
pub(crate) fn mend(world: &World) {
    world.proxies().iter().for_each(|proxy| proxy.set(Mode::Pass));
    world.devnet.faults().clear();
}
