//! What leases and orders cost: to recover, to compare, to hold.

use std::sync::Arc;
use std::time::{Duration, Instant};

use akash_sdl::Sdl;
use akash_sdl::manifest::Group;
use akash_types::{Action, BidOffer, DecCoin, Deposit, LeaseId, Order};
use figures::{heap, print};
use provider_engine::chain::ChainReply;
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::{Amounts, Node};
use provider_engine::time::Now;
use provider_engine::{Effect, Input};

use crate::world::{SDL, World, order, order_id, provider};

/// Each figure for so many, ten and a hundred times as many: cost shall grow as they do.
const SIZES: [u32; 3] = [100, 1_000, 10_000];

pub(crate) fn run() {
    for leases in SIZES {
        let mut world = with_leases(leases);
        let begun = Instant::now();
        world.start();
        print(&format!("recover_{leases}_leases_ms"), millis(begun.elapsed()), "ms");
        let running = world.engine.leases().filter(|lease| lease.stage == "running").count();
        assert_eq!(running, leases as usize, "every lease was found running");
        assert!(world.commands.is_empty() && world.submitted.is_empty(), "and nothing was touched");
        // The first comparison after a start reads accounts too.
        reconcile(&mut world);
        print(&format!("reconcile_{leases}_leases_ms"), millis(reconcile(&mut world)), "ms");
        print(&format!("lease_bytes_at_{leases}"), weight(world) / u64::from(leases), "bytes");
    }
    for orders in SIZES {
        let mut world = World::new();
        for dseq in 1..=u64::from(orders) {
            let id = order_id(dseq);
            world.chain.orders.insert(id, order(id, 50));
        }
        world.start();
        print(&format!("order_bytes_at_{orders}"), weight(world) / u64::from(orders), "bytes");
    }
}

/// A chain and a cluster with leases that run, and an engine that knows nothing of them.
fn with_leases(count: u32) -> World {
    let mut world = World::new();
    let node = Node {
        allocatable: Amounts {
            cpu_milli: i64::MAX / 4,
            memory: i64::MAX / 4,
            ephemeral: i64::MAX / 4,
            gpu: 0,
        },
        ..Node::default()
    };
    world.cluster.nodes.insert("a".into(), node);
    let sdl = Sdl::read(SDL).unwrap();
    let price: DecCoin = "2000uact".parse().unwrap();
    let template: Order = order(order_id(1), 50);
    for dseq in 1..=u64::from(count) {
        let id = order_id(dseq);
        let lease = LeaseId::new(id, provider());
        world.chain.orders.insert(id, Order { id, ..template.clone() });
        let offer = BidOffer {
            id: lease.bid_id(),
            price: price.clone(),
            deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
            resources_offer: vec![],
            reclamation_window: None,
        };
        world.chain.apply(&Action::CreateBid(Box::new(offer)), 60);
        world.chain.give_lease(lease, price.clone());
        // A group of its own for each: the hostname has to differ as well.
        let mut group: Group = sdl.manifest().groups[0].clone();
        for expose in group.services.iter_mut().flat_map(|it| it.expose.iter_mut().flatten()) {
            expose.hosts = Some(vec![format!("host-{dseq}.example.com")]);
        }
        let group = Arc::new(group);
        let version = Some(sdl.version());
        let cards = std::collections::BTreeMap::new();
        let workload = Workload {
            lease,
            version,
            group,
            cards,
            withheld: vec![],
            endpoints_to_take: vec![],
            ignored: [].into(),
        };
        world.hold(&workload, true);
        if let Some(view) = world.cluster.leases.get_mut(&lease) {
            view.hostnames = vec![format!("host-{dseq}.example.com")];
        }
    }
    world
}

/// The engine's own time in one comparison of everything.
fn reconcile(world: &mut World) -> Duration {
    world.now += Duration::from_secs(61);
    let now = Now::new(world.now);
    let mut spent = Duration::ZERO;
    let mut inputs = vec![Input::Tick];
    while let Some(input) = inputs.pop() {
        let begun = Instant::now();
        let effects = world.engine.handle(now, input);
        spent += begun.elapsed();
        for effect in effects {
            if let Effect::Query(id, query) = effect {
                let result = world.chain.read(&query);
                inputs.push(Input::Chain(ChainReply { id, result }));
            }
        }
    }
    spent
}

/// What the engine alone has on the heap.
fn weight(world: World) -> u64 {
    let World { engine, cluster, .. } = world;
    // What view and engine share is the engine's where there is no test around it.
    drop(cluster);
    let before = heap();
    drop(engine);
    before.saturating_sub(heap())
}

fn millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1_000.0)
}
