//! Runs, each from its seed.

use std::time::{Duration, Instant};

use provider_testkit::bidder;
use provider_testkit::proxy::Mode;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::chance::Chance;
use crate::ours::{Ours, PATIENCE};
use crate::tenants::{Tenants, register};
use crate::trouble::{cause, mend};
use crate::verdict::{self, Tally};
use crate::world::World;

/// Runs at the same time: they mostly wait.
const TOGETHER: usize = 10;
/// Steps with trouble; each makes a block, some make many.
const STEPS: u64 = 40;
/// Blocks before anything happens, so that a node can be far behind.
const QUIET: u64 = 60;
/// Time between blocks once all is well.
const PACE: Duration = Duration::from_millis(40);
/// Longer than anything takes once all is well, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);

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
    let last = world.block().await.height();
    let started = Instant::now();
    // A lease of the last blocks is withdrawn from a few blocks later.
    while ours.progress().0 < last + 5 || ours.progress().1 > 0 {
        world.block().await;
        sleep(PACE).await;
        ours.check().await;
        let open = || {
            bidder::with(&ours.journal, |journal| {
                let open = journal.entries().iter().filter(|entry| entry.is_open());
                open.cloned().collect::<Vec<_>>()
            })
        };
        assert!(started.elapsed() < LONG, "at {:?} of {last}: {:?}", ours.progress(), open());
    }
    // Whatever was sent once too often would come now.
    for _ in 0..12 {
        world.block().await;
    }
    let end = world.block().await.height();
    while ours.progress().0 < end {
        ours.check().await;
        assert!(started.elapsed() < LONG, "at {:?} of {end}", ours.progress());
        sleep(Duration::from_millis(5)).await;
    }
    let entries = bidder::with(&ours.journal, |journal| journal.entries().to_vec());
    let mut tally = verdict::reach(&world, &entries, begin, end).await;
    tally.lives = ours.lives;
    tally
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
    if let Ok(seed) = std::env::var("CHAOS_SEED") {
        return vec![seed.parse().unwrap()];
    }
    let runs = if std::env::var_os("AKASH_TEST_FULL").is_some() { 1_000 } else { 50 };
    (0..runs).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missed_lost_or_repeated_whatever_goes_wrong() {
    let mut running = JoinSet::new();
    let (mut failed, mut total) = (Vec::new(), Tally::default());
    let seeds = seeds();
    let is_one = seeds.len() == 1;
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
    assert!(is_one || total.is_worth_something(), "{total:?}");
}
