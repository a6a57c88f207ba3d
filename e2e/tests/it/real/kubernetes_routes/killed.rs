//! A provider that is killed again and again while its tenant changes what is asked for.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, bail};
use e2e::network::Network;

use crate::real::installed::insist;
use crate::real::kubernetes_routes::stage::{Routes, Stage};
use crate::real::kubernetes_routes::world::{Dice, World};

const SEED: u64 = 1;
/// Nobody asks for anything about these.
const UNTOUCHED: [u64; 2] = [1, 2];
/// Names move between these, and nothing else happens to them.
const MOVING: [u64; 2] = [3, 4];
/// These get other manifests, and names move between them.
const CHANGING: [u64; 2] = [5, 6];
/// These get other manifests until their tenant closes them.
const CLOSED: [u64; 2] = [7, 8];
const MOVABLE: [(&str, [u64; 2]); 4] = [
    ("moves-1.example.com", [3, 4]),
    ("moves-2.example.com", [3, 4]),
    ("moves-3.example.com", [5, 6]),
    // From a lease that ends to one that goes on.
    ("moves-4.example.com", [4, 7]),
];
/// The longest that a provider lives, in milliseconds. It has read everything after the first few
/// hundred.
const LIFE: u64 = 2500;
/// Within so many milliseconds what was granted is carried out.
const AFTERMATH: u64 = 150;

fn kills() -> usize {
    if std::env::var_os("AKASH_TEST_FULL").is_some() { 100 } else { 12 }
}

/// Ends the provider at random moments, and starts it again as a supervisor would.
struct Fate {
    dice: Dice,
    left: usize,
    /// Who is about to kill the one that runs.
    killer: Option<Killer>,
}

struct Killer {
    thread: JoinHandle<()>,
    /// Tells that a request was granted, whose work may be under way still. Dropped, it is time.
    granted: Sender<()>,
}

impl Fate {
    /// Lets the provider that runs live for a while after its start, or after it has granted
    /// something; by turns.
    fn spin(&mut self, network: &mut Network) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let (granted, is_granted) = mpsc::channel();
        let waits = self.left.is_multiple_of(2);
        let moment = Duration::from_millis(self.dice.roll(if waits { AFTERMATH } else { LIFE }));
        let since = if waits { "the next grant" } else { "the start" };
        eprintln!("seed {SEED}, {} kills later: killed {moment:?} after {since}", self.left);
        let mut process = network.provider.take().unwrap();
        let thread = std::thread::spawn(move || {
            if waits {
                let _ = is_granted.recv();
            }
            std::thread::sleep(moment);
            assert!(process.is_running().unwrap(), "it ended by itself");
            process.kill();
        });
        self.killer = Some(Killer { thread, granted });
    }

    /// Starts the provider again if it is dead.
    fn revive(&mut self, network: &mut Network) {
        if let Some(killer) = self.killer.take_if(|killer| killer.thread.is_finished()) {
            killer.thread.join().unwrap();
            network.start_provider().unwrap();
            self.spin(network);
        }
    }

    fn granted(&self) {
        if let Some(killer) = &self.killer {
            let _ = killer.granted.send(());
        }
    }
}

/// A test that fails leaves no provider behind.
impl Drop for Fate {
    fn drop(&mut self) {
        if let Some(Killer { thread, granted }) = self.killer.take() {
            drop(granted);
            let _ = thread.join();
        }
    }
}

/// A tenant that asks again when nobody answers, as every client does.
fn ask(stage: &mut Stage, fate: &mut Fate, args: &[&str]) {
    insist(&args.join(" "), || {
        fate.revive(&mut stage.network);
        stage.network.run(&[args, &["--from", "tenant"]].concat()).map(Some)
    });
    fate.granted();
}

fn change(stage: &mut Stage, fate: &mut Fate, world: &mut World, dseq: u64) {
    let names = world.change(dseq, &mut fate.dice);
    eprintln!("lease {dseq} lists {names:?}");
    let sdl = stage.announce(dseq, names);
    ask(stage, fate, &["send-manifest", sdl.to_str().unwrap(), "--dseq", &dseq.to_string()]);
}

fn move_on(stage: &mut Stage, fate: &mut Fate, world: &mut World, name: &str) {
    let to = world.move_on(name);
    eprintln!("{name} moves to lease {to}");
    ask(stage, fate, &["migrate-hostnames", name, "--dseq", &to.to_string()]);
}

fn close(stage: &mut Stage, fate: &mut Fate, world: &mut World, dseq: u64) {
    let leaving = world.movable.iter().filter(|(_, of)| of[0] == dseq);
    for name in leaving.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
        move_on(stage, fate, world, &name);
    }
    eprintln!("lease {dseq} is closed");
    stage.network.tx("tenant", &["deployment", "close", "--dseq", &dseq.to_string()]).unwrap();
    world.end(dseq);
}

/// Claims and routes are what the tenant asked for, and nothing is left of leases that are over.
fn converges(stage: &Stage, world: &World) {
    let wanted = world.wanted();
    insist("the routes", || {
        let is_so = |what: &str, found: Result<Routes>| {
            let found = found?;
            let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
            let mut wrong = names.into_iter().filter(|&name| found.get(name) != wanted.get(name));
            match wrong.next() {
                None => Ok(()),
                Some(name) => {
                    let (found, wanted) = (found.get(name), wanted.get(name));
                    bail!("{what} of {name}: {found:?}, not {wanted:?}, and {} more", wrong.count())
                }
            }
        };
        is_so("claims", stage.claims())?;
        is_so("routes", stage.routes())?;
        Ok(Some(()))
    });
    insist("the leases", || {
        let there: Vec<u64> = stage.namespaces()?.into_values().collect();
        Ok((there.len() == world.leases.len()).then_some(()))
    });
}

#[test]
fn routes_converge_whenever_the_provider_is_killed_and_nobody_else_is_touched() {
    let mut stage = Stage::start(tempfile::tempdir().unwrap(), &[]);
    let mut world = World::new(8, &MOVABLE);
    stage.deploy(&world.leases);
    world.learn(stage.claims().unwrap());
    converges(&stage, &world);
    let untouched = stage.identities(&UNTOUCHED, true);
    // Of each lease: a namespace, and pod, workload and two names for each service; and the own one.
    assert_eq!(untouched.len(), UNTOUCHED.len() * (1 + 2 * 3 + 1), "{untouched:#?}");
    let moving = stage.identities(&MOVING, false);

    let all = kills();
    let mut fate = Fate { dice: Dice(SEED), left: all, killer: None };
    let mut closing = CLOSED.iter().enumerate();
    let mut next = closing.next();
    fate.spin(&mut stage.network);
    while fate.killer.is_some() {
        if let Some((number, dseq)) = next
            && all - fate.left > all * (number + 1) / (CLOSED.len() + 1)
        {
            close(&mut stage, &mut fate, &mut world, *dseq);
            next = closing.next();
        } else if fate.dice.roll(2) == 0 {
            let names: Vec<String> = world.movable.keys().cloned().collect();
            let name = fate.dice.pick(&names).clone();
            move_on(&mut stage, &mut fate, &mut world, &name);
        } else {
            let open = CHANGING.iter().chain(&CLOSED).filter(|it| world.leases.contains_key(it));
            let dseq = **fate.dice.pick(&open.collect::<Vec<_>>());
            change(&mut stage, &mut fate, &mut world, dseq);
        }
        fate.revive(&mut stage.network);
    }
    assert_eq!((fate.left, next), (0, None));

    converges(&stage, &world);
    insist("every lease runs", || {
        Ok(stage.network.running()?.iter().eq(world.leases.keys()).then_some(()))
    });
    assert_eq!(stage.identities(&UNTOUCHED, true), untouched);
    assert_eq!(stage.identities(&MOVING, false), moving, "a name that moves restarts nobody");
    // It stays so.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(stage.claims().unwrap(), world.wanted());
    assert_eq!(stage.routes().unwrap(), world.wanted());
}
