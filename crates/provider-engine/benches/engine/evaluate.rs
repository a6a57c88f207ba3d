//! Evaluations of orders: rules, placement, offer and price, against clusters that are half full.

use std::hint::black_box;
use std::time::Duration;

use akash_types::{
    Address, Attribute, Coin, Endpoint, EndpointKind, GpuVendor, GroupSpec, MarketParams,
    PlacementRequirements, ResourceUnit, Resources, SignedBy, Storage,
};
use figures::{allocations, print, time};
use provider_engine::cluster::view::{
    Amounts, CardState, ClusterView, GpuCard, Node, PortPool, StorageClass,
};
use provider_engine::inventory::{CommitLevels, Free};
use provider_engine::order::evaluate::{Evaluation, Rules, evaluate};
use provider_engine::order::facts::{Ask, Audits, Facts};
use provider_engine::order::policy::Policy;
use provider_engine::order::pricing::Pricing;

const MEASURE: Duration = Duration::from_secs(2);
const GIB: u64 = 1 << 30;
/// How many orders are tried in turn.
const ORDERS: u8 = 5;

pub(crate) fn run() {
    let provider = Provider::new();
    let orders = orders();
    let [first, ..] = &orders;
    for (nodes, figure) in [(100, "evaluate_100_nodes_per_s"), (1000, "evaluate_1000_nodes_per_s")]
    {
        let free = Free::compute(&cluster(nodes), []);
        assert_bids(&provider, &orders, &free);
        let all = time(MEASURE, || {
            for spec in &orders {
                black_box(provider.evaluate(spec, &free));
            }
        });
        let per_second = f64::from(ORDERS) / all.as_secs_f64();
        print(figure, format!("{per_second:.0}"), "1/s");
        if nodes == 1000 {
            let (calls, _) = allocations(|| provider.evaluate(first, &free));
            print("evaluate_allocs", calls, "allocations");
        }
    }
}

/// All orders but the last find a place: what is measured is work, not an early no.
fn assert_bids(provider: &Provider, orders: &[GroupSpec], free: &Free) {
    let bids = orders.iter().map(|spec| provider.evaluate(spec, free));
    let bids: Vec<_> = bids.map(|verdict| matches!(verdict, Evaluation::Bid { .. })).collect();
    assert_eq!(bids, [true, true, true, true, false]);
}

struct Provider {
    attributes: Vec<Attribute>,
    audits: Audits,
    params: MarketParams,
    deposit: Coin,
    fee: Coin,
    policy: Policy,
}

impl Provider {
    fn new() -> Self {
        let hour = Duration::from_secs(3600);
        let attributes: Vec<_> = [
            ("region", "us-west"),
            ("host", "akash"),
            ("tier", "community"),
            ("organization", "example"),
            ("capabilities/storage/1/class", "beta3"),
            ("capabilities/storage/1/persistent", "true"),
            ("capabilities/storage/2/class", "ram"),
            ("capabilities/storage/2/persistent", "false"),
            ("capabilities/gpu/vendor/nvidia/model/a100", "true"),
            ("capabilities/gpu/vendor/nvidia/model/a100/ram/80Gi", "true"),
            ("capabilities/gpu/vendor/nvidia/model/t4", "true"),
        ]
        .into_iter()
        .map(|(key, value)| Attribute::new(key, value))
        .collect();
        Self {
            audits: [("auditor".to_owned(), attributes.clone())].into(),
            attributes,
            params: MarketParams {
                bid_min_deposit: None,
                order_max_bids: 20,
                bid_min_deposits: vec!["500000uakt".parse().unwrap()],
                min_reclamation_window: hour,
                max_reclamation_window: hour * 720,
            },
            deposit: "500000uakt".parse().unwrap(),
            fee: "5000uakt".parse().unwrap(),
            policy: Policy { daily_fees: Some(1_000_000), ..Policy::default() },
        }
    }

    fn evaluate(&self, spec: &GroupSpec, free: &Free) -> Evaluation {
        let owner = Address::from_bytes(&[7; 20]).unwrap();
        let ask = Ask { owner: Some(owner), spec, reclamation_min_window: None };
        let facts = Facts {
            own_attributes: &self.attributes,
            order_filter: &[],
            audits: &self.audits,
            params: &self.params,
            verification_active: false,
            reclamation_window: None,
            deposit: &self.deposit,
            price_denoms: &[],
            levels: CommitLevels::from_percent(50, 0, 25),
            maintenance: false,
            isolation: None,
            wallet: None,
            bid_fee: &self.fee,
            fees_today: 0,
            open_bids_of_owner: 0,
            bids_on_order: Some(3),
        };
        let pricing = &Pricing::RandomRange;
        let rules = Rules { policy: &self.policy, pricing, draw: 7, stand_in: owner };
        evaluate(&ask, &facts, free, &rules)
    }
}

/// Nodes of four sizes, filled to different degrees; one in ten has cards.
fn cluster(nodes: usize) -> ClusterView {
    let mut view = ClusterView {
        ports: Some(PortPool { total: 10_000, others: 0 }),
        ..ClusterView::default()
    };
    view.storage.insert(
        "beta3".into(),
        StorageClass { allocatable: 1 << 50, others: 1 << 49, ..StorageClass::default() },
    );
    for index in 0..nodes {
        let cores = 8_i64 << (index % 4);
        let whole = |per_core: i64| cores * per_core;
        let allocatable = Amounts {
            cpu_milli: whole(1000),
            memory: whole(4 << 30),
            ephemeral: whole(20 << 30),
            gpu: 0,
        };
        let share = |amount: i64| amount * i64::try_from(index * 7 % 10).unwrap() / 10;
        let mut node = Node {
            allocatable,
            others: Amounts {
                cpu_milli: share(allocatable.cpu_milli),
                memory: share(allocatable.memory),
                ephemeral: share(allocatable.ephemeral),
                gpu: 0,
            },
            cards: Vec::new(),
            storage_classes: vec!["beta3".into()],
            ..Node::default()
        };
        if index % 10 == 0 {
            let model = if index % 20 == 0 { "a100" } else { "t4" };
            let card = GpuCard {
                vendor: GpuVendor::Nvidia,
                model: model.into(),
                memory_gib: Some(if model == "t4" { 16 } else { 80 }),
                interface: None,
                state: CardState::Usable,
            };
            node.cards = vec![card; 8];
            node.allocatable.gpu = 8;
        }
        view.nodes.insert(format!("node-{index:04}").into(), node);
    }
    view
}

/// A web server, replicas with a volume, a model to serve, an application of four parts, and one
/// that is too large for any node.
fn orders() -> [GroupSpec; ORDERS as usize] {
    let persistent = [("class", "beta3"), ("persistent", "true")];
    let mut cards = unit(1, 2, 4000, 16, &[(100, &[])]);
    cards.resources.gpu.units = 4;
    cards.resources.gpu.attributes = vec![
        Attribute::new("vendor/nvidia/model/a100/ram/80Gi", "true"),
        Attribute::new("vendor/nvidia/model/t4", "true"),
    ];
    [
        group(vec![unit(1, 1, 500, 1, &[(5, &[])])]),
        group(vec![unit(1, 10, 2000, 4, &[(5, &[]), (50, &persistent)])]),
        group(vec![cards]),
        group((1..=4).map(|id| unit(id, id, 1000, 2, &[(10, &[])])).collect()),
        group(vec![unit(1, 1, 128_000, 1, &[(5, &[])])]),
    ]
}

fn group(resources: Vec<ResourceUnit>) -> GroupSpec {
    let signed_by = SignedBy { all_of: Some(vec!["auditor".to_owned()]), any_of: None };
    let attributes = vec![Attribute::new("host", "akash")];
    let requirements = PlacementRequirements { signed_by, attributes, verification: None };
    GroupSpec { name: "akash".to_owned(), requirements, resources }
}

fn unit(
    id: u32,
    count: u32,
    cpu: u64,
    memory: u64,
    volumes: &[(u64, &[(&str, &str)])],
) -> ResourceUnit {
    let mut resources = Resources { id, ..Resources::default() };
    resources.cpu.units = cpu;
    resources.memory.quantity = memory * GIB;
    for (index, (gib, pairs)) in volumes.iter().enumerate() {
        let attributes = pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
        let name = format!("volume-{index}");
        resources.storage.push(Storage { name, quantity: gib * GIB, attributes });
    }
    resources.endpoints = vec![Endpoint { kind: EndpointKind::SharedHttp, sequence_number: 0 }];
    ResourceUnit { resources, count, price: "1000uact".parse().unwrap() }
}
