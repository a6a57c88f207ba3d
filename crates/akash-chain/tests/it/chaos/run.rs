//! Runs, each from its seed.

use std::time::{Duration, Instant};

use provider_testkit::bidder::Entry;
use provider_testkit::proxy::Mode;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::chaos::chance::Chance;
use crate::chaos::ours::{LONG, Ours, PATIENCE};
use crate::chaos::tenants::{Tenants, register};
use crate::chaos::trouble::{cause, mend};
use crate::chaos::verdict::{self, Tally};
use crate::chaos::world::World;

/// Fewer runs than these need not show everything.
const FEW: usize = 50;
/// Runs at the same time: they mostly wait.
const TOGETHER: usize = 10;
/// Steps with trouble; each makes a block, some make many.
const STEPS: u64 = 40;
/// Blocks before anything happens, so that a node can be far behind.
const QUIET: u64 = 60;
/// Steps while all is well: what a slow machine had no time for before, it has now.
const CALM: u64 = 12;
/// Shortest time between blocks once all is well.
const PACE: Duration = Duration::from_millis(40);
const SLOWEST_PACE: Duration = Duration::from_secs(1);
/// So many blocks bring an end to some intent once all is well, or something is stuck.
const ENOUGH: u32 = 200;

async fn run(seed: u64) -> Tally {
    let mut chance = Chance::new(seed);
    let mut world = World::start().await;
    let mut tenants = Tenants::new();
    register(&mut world).await;
    for _ in 0..QUIET {
        world.block().await;
    }
    let begin = world.block().await.height();
    let mut ours = Ours::start(&world, begin, chance.one_in(2), chance.one_in(2));

    for step in 0..STEPS {
        if seed.is_multiple_of(16) && step == STEPS / 2 {
            silence(&world).await;
        }
        tenants.act(&mut world, &mut chance).await;
        if chance.one_in(4) {
            world = cause(world, &mut ours, &mut chance).await;
        }
        let blocks = if chance.one_in(20) { 1 + chance.below(16) } else { 1 };
        for _ in 0..blocks {
            tenants.look(&*world.block().await);
        }
        sleep(Duration::from_millis(5 + chance.below(25))).await;
        ours.check().await;
    }

    mend(&world);
    for step in 0..CALM {
        tenants.act(&mut world, &mut chance).await;
        if step == CALM / 2 {
            ours.kill(&world).await;
        }
        let block = world.block().await;
        tenants.look(&block);
        ours.follow(block.height()).await;
        sleep(PACE).await;
    }
    let last = world.block().await.height();
    finish(&world, &mut ours, last).await;
    // Whatever was sent once too often would come now.
    for _ in 0..12 {
        world.block().await;
    }
    let end = world.block().await.height();
    ours.follow(end).await;
    let mut tally = verdict::reach(&world, &ours.entries(), begin, end).await;
    tally.lives = ours.lives;
    tally
}

/// Makes blocks until every intent has ended. A block comes once the one before was followed, and
/// later as long as nothing ends: so as much happens between two blocks on a slow machine as on a
/// fast one, and transactions do not time out because blocks run away.
async fn finish(world: &World, ours: &mut Ours, last: u64) {
    let (mut pace, mut open, mut vain, mut since) = (PACE, usize::MAX, 0, Instant::now());
    // A lease of the last blocks is withdrawn from a few blocks later.
    while ours.progress().0 < last + 5 || ours.progress().1 > 0 {
        ours.follow(world.block().await.height()).await;
        sleep(pace).await;
        let still_open = ours.progress().1;
        if still_open < open {
            (pace, vain, since) = (PACE, 0, Instant::now());
        } else {
            (pace, vain) = ((pace * 11 / 10).min(SLOWEST_PACE), vain + 1);
        }
        open = still_open;
        let stuck = vain > ENOUGH && since.elapsed() > LONG;
        let waiting = || ours.entries().into_iter().filter(Entry::is_open).collect::<Vec<_>>();
        assert!(!stuck, "nothing ends at {:?} of {last}: {:?}", ours.progress(), waiting());
    }
}

/// Nothing passes until our side has given up on every answer that it waits for.
async fn silence(world: &World) {
    world.proxies().iter().for_each(|proxy| proxy.set_open(Mode::Blackhole(None)));
    let until = Instant::now() + PATIENCE + PATIENCE / 4;
    while Instant::now() < until {
        world.block().await;
        sleep(PACE * 4).await;
    }
}

fn seeds() -> Vec<u64> {
    if let Ok(seeds) = std::env::var("CHAOS_SEED") {
        let (first, end) = seeds.split_once("..").unwrap_or((&seeds, ""));
        let first = first.parse().unwrap();
        return (first..end.parse().unwrap_or(first + 1)).collect();
    }
    let runs = if std::env::var_os("AKASH_TEST_FULL").is_some() { 1_000 } else { 50 };
    (0..runs).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missed_lost_or_repeated_whatever_goes_wrong() {
    let mut running = JoinSet::new();
    let (mut failed, mut total) = (Vec::new(), Tally::default());
    let seeds = seeds();
    let are_few = seeds.len() < FEW;
    let mut seeds = seeds.into_iter();
    loop {
        while running.len() < TOGETHER
            && let Some(seed) = seeds.next()
        {
            running.spawn(async move { (seed, tokio::spawn(run(seed)).await) });
        }
        let Some(ended) = running.join_next().await else { break };
        match ended.unwrap() {
            (_, Ok(tally)) => total.add(tally),
            (seed, Err(_)) => {
                eprintln!("failed: CHAOS_SEED={seed}");
                failed.push(seed);
            }
        }
    }
    assert!(failed.is_empty(), "failed seeds, to repeat with CHAOS_SEED: {failed:?}");
    eprintln!("{total:?}");
    // Nobody has shown anything where nothing happened.
    assert!(are_few || total.is_worth_something(), "{total:?}");
}
