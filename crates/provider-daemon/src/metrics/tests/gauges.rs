use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use akash_chain::follow::{FollowStatus, Health, NodeHealth, Unusable};
use akash_chain::tx::lane::{HoldReason, LaneStatus, SequenceStatus};
use akash_types::Class;
use provider_bus::{BusStatus, Connection};
use provider_engine::cluster::view::{
    Amounts, ClusterView, LeaseView, Node, StorageClass, ViewChange,
};
use provider_engine::escrow::{Shortage, WalletState};
use provider_engine::order::isolation::IsolationHold;
use provider_engine::order::pricing::Pricing;
use provider_engine::time::Now;
use provider_engine::{Engine, Input, Settings};

use provider_gateway::tls::TallySnapshot;
use provider_operators::hostname::figures::{Counts, Figures};
use provider_operators::hostname::reconcile::State;

use super::super::{EngineGauges, Format, Metrics, Reserved, Snapshot};
use super::{address, lease, samples, uakt};
use crate::GatewayFigures;
use crate::part::{Lifecycle, Parts};
use crate::store::StoreHealth;

fn page(snapshot: &Snapshot<'_>) -> String {
    Metrics::new().render(snapshot, Format::Prometheus)
}

fn engine() -> Engine {
    let settings = Settings::new(address(2), uakt(5), uakt(1), Pricing::RandomRange);
    Engine::new(settings)
}

fn view() -> ClusterView {
    let node = Node {
        allocatable: Amounts { cpu_milli: 4_500, memory: 1 << 33, ephemeral: 1 << 40, gpu: 2 },
        others: Amounts { cpu_milli: 500, memory: 1 << 30, ephemeral: 0, gpu: 0 },
        ..Node::default()
    };
    let class = StorageClass { allocatable: 1_000, others: 100, ..StorageClass::default() };
    ClusterView {
        nodes: [("a".into(), node.clone()), ("b".into(), node)].into(),
        storage: [("beta3".into(), class)].into(),
        leases: [(lease(1), LeaseView::empty(lease(1)))].into(),
        ..ClusterView::default()
    }
}

#[test]
fn capacity_has_the_units_of_the_contract() {
    let mut engine = engine();
    engine.handle(Now::default(), Input::View(ViewChange::Whole(Box::new(view()))));
    let gauges = EngineGauges::of(&engine.published());
    let page = page(&Snapshot { engine: Some(&gauges), ..Snapshot::default() });
    assert_eq!(
        samples(&page, "provider_inventory_allocatable_total"),
        [
            "{quantity=\"cpu\"} 9",
            "{quantity=\"endpoints\"} 0",
            "{quantity=\"gpu\"} 0.004",
            "{quantity=\"memory\"} 17179869184",
            "{quantity=\"nodes\"} 2",
            "{quantity=\"storage-beta3\"} 1000",
            "{quantity=\"storage-ephemeral\"} 2199023255552",
        ]
    );
    assert_eq!(
        samples(&page, "provider_inventory_available_total"),
        [
            "{quantity=\"cpu\"} 8",
            "{quantity=\"endpoints\"} 0",
            "{quantity=\"memory\"} 15032385536",
            "{quantity=\"storage-beta3\"} 900",
            "{quantity=\"storage-ephemeral\"} 2199023255552",
        ]
    );
    assert_eq!(samples(&page, "provider_cluster_fresh"), ["1"]);
    assert_eq!(samples(&page, "provider_manifest_manager"), ["0"]);
    assert_eq!(samples(&page, "provider_orders").len(), 8);
    assert!(samples(&page, "provider_leases").contains(&"{stage=\"awaiting-manifest\"} 0".into()));
}

#[test]
fn reservations_are_shown_by_whether_they_run() {
    let mut gauges = EngineGauges::of(&engine().published());
    let amounts = Amounts { cpu_milli: 1_500, memory: 64, ephemeral: 32, gpu: 1 };
    gauges.active = Reserved { count: 2, amounts, ports: 3 };
    gauges.pending = Reserved { count: 1, amounts: Amounts::default(), ports: 0 };
    gauges.drift = BTreeMap::from([("bid_missing", 2)]);
    gauges.status.leases = vec![("awaiting manifest", 4), ("running", 2)];
    gauges.status.orders = vec![("seen", 1), ("open", 2)];
    gauges.status.isolation = Some(IsolationHold::Unknown("no image".into()));
    let (held, needed) = ("1uakt".parse().unwrap(), "2uakt".parse().unwrap());
    gauges.status.wallet = Some(WalletState::Empty(Shortage { held, needed }));
    let page = page(&Snapshot { engine: Some(&gauges), ..Snapshot::default() });
    let kept = samples(&page, "provider_inventory_reservations_total");
    assert_eq!(
        kept[..5],
        [
            "{classification=\"active\",quantity=\"cpu\"} 1500",
            "{classification=\"active\",quantity=\"endpoints\"} 3",
            "{classification=\"active\",quantity=\"gpu\"} 1",
            "{classification=\"active\",quantity=\"memory\"} 64",
            "{classification=\"active\",quantity=\"storage-ephemeral\"} 0",
        ]
    );
    assert_eq!(
        kept[5..7],
        [
            "{classification=\"none\",quantity=\"allocated\"} 2",
            "{classification=\"none\",quantity=\"quantity\"} 3",
        ]
    );
    assert_eq!(kept.len(), 12);
    for (name, value) in [
        ("provider_order_manager", "3"),
        ("provider_deployment_manager", "6"),
        ("provider_order_watchdog", "4"),
        ("provider_cannot_pay", "1"),
        ("provider_low_balance", "0"),
        ("provider_drift_items", "{kind=\"bid_missing\"} 2"),
    ] {
        assert_eq!(samples(&page, name), [value], "{name}");
    }
    let held = ["{reason=\"findings\"} 0", "{reason=\"unknown\"} 1"];
    assert_eq!(samples(&page, "provider_isolation_hold"), held);
}

#[test]
fn connections_and_limits_of_the_gateway_are_shown_by_listener() {
    let rest = TallySnapshot {
        served: 9,
        full: 5,
        full_of_client: 3,
        failed: 4,
        slow: 1,
        refused: 2,
        crowded_out: 7,
        open: 6,
    };
    let figures = GatewayFigures {
        listeners: vec![("rest", rest), ("grpc", TallySnapshot::default())],
        shared_limits: vec![("streams", 8)],
    };
    let page = page(&Snapshot { gateway: Some(&figures), ..Snapshot::default() });
    assert_eq!(
        samples(&page, "provider_gateway_open_connections"),
        ["{listener=\"grpc\"} 0", "{listener=\"rest\"} 6"]
    );
    assert_eq!(
        samples(&page, "provider_gateway_connections")[4..],
        [
            "{listener=\"rest\",result=\"certificate-refused\"} 2",
            "{listener=\"rest\",result=\"handshake-failed\"} 3",
            "{listener=\"rest\",result=\"handshake-timeout\"} 1",
            "{listener=\"rest\",result=\"served\"} 9",
        ]
    );
    assert_eq!(samples(&page, "provider_gateway_idle_closed")[1], "{listener=\"rest\"} 7");
    assert_eq!(
        samples(&page, "provider_gateway_limit_hits"),
        [
            "{listener=\"both\",limit=\"streams\"} 8",
            "{listener=\"grpc\",limit=\"connections\"} 0",
            "{listener=\"grpc\",limit=\"connections-per-client\"} 0",
            "{listener=\"rest\",limit=\"connections\"} 2",
            "{listener=\"rest\",limit=\"connections-per-client\"} 3",
        ]
    );
}

#[test]
fn the_chain_side_is_shown_without_secrets() {
    let node = |name: &str, height, health| NodeHealth {
        name: name.into(),
        height,
        subscribed: false,
        health,
    };
    let follow = FollowStatus {
        cursor: Some(100),
        head: Some(103),
        lag: 3,
        last_block_time: Some(UNIX_EPOCH + Duration::from_millis(1_700_000_000_250)),
        stalled: true,
        nodes: vec![
            node("https://key:secret@a.example:443/secret", 103, Health::Usable),
            node("https://a.example:443", 50, Health::Unusable(Unusable::NoResults)),
        ],
        ..FollowStatus::default()
    };
    let lane = LaneStatus {
        queued: vec![(Class::Bid, 4), (Class::Close, 0)],
        txs_in_flight: 2,
        sequence: SequenceStatus::Ready { next: 7 },
        held: vec![(None, HoldReason::MempoolFull { log: "x".into() })],
        fees_today: vec![uakt(5)],
        fees_total: vec![uakt(50)],
        ..LaneStatus::default()
    };
    let page = page(&Snapshot { follow: Some(&follow), lane: Some(&lane), ..Snapshot::default() });
    assert!(!page.contains("secret"));
    for (name, value) in [
        ("provider_chain_height", "100"),
        ("provider_chain_head_height", "103"),
        ("provider_chain_lag_blocks", "3"),
        ("provider_chain_block_timestamp_seconds", "1700000000.25"),
        ("provider_chain_stalled", "1"),
        ("provider_tx_in_flight", "2"),
        ("provider_tx_held", "1"),
        ("provider_tx_sequence_ready", "1"),
        ("provider_fees_spent", "{denom=\"uakt\"} 50"),
        ("provider_fees_today", "{denom=\"uakt\"} 5"),
    ] {
        assert_eq!(samples(&page, name), [value], "{name}");
    }
    assert_eq!(
        samples(&page, "provider_chain_node_usable"),
        ["{index=\"0\",node=\"a.example:443\"} 1", "{index=\"1\",node=\"a.example:443\"} 0"]
    );
    assert_eq!(samples(&page, "provider_tx_queue")[0], "{class=\"bid\"} 4");
}

#[test]
fn store_and_bus_show_whether_they_are_well() {
    let store = StoreHealth {
        size: Some(4096),
        commits: 3,
        failures: 1,
        last_commit: Some(Duration::from_micros(2_500)),
        problem: Some("full".into()),
    };
    let connection =
        Connection::Reconnecting { since: UNIX_EPOCH, attempts: 1, reason: String::new() };
    let bus = BusStatus {
        connection,
        lost_connections: 2,
        superseded: 0,
        undecodable: 1,
        events_dropped: 3,
        events_refused: None,
    };
    let page = page(&Snapshot { store: Some(&store), bus: Some(&bus), ..Snapshot::default() });
    for (name, value) in [
        ("provider_store_size_bytes", "4096"),
        ("provider_store_commit_seconds", "0.0025"),
        ("provider_store_failures", "1"),
        ("provider_store_healthy", "0"),
        ("provider_bus_connected", "0"),
        ("provider_bus_lost_connections", "2"),
        ("provider_bus_undecodable", "1"),
        ("provider_bus_events_dropped", "3"),
    ] {
        assert_eq!(samples(&page, name), [value], "{name}");
    }
}

#[test]
fn parts_say_where_they_are_and_how_often_they_began_again() {
    let parts = Parts::default();
    parts.begin("engine").is(Lifecycle::Running);
    let _chain = parts.begin("block follower");
    let page = page(&Snapshot { parts: &parts.all(), ..Snapshot::default() });
    for line in [
        "provider_part_state{part=\"engine\",state=\"running\"} 1",
        "provider_part_state{part=\"block follower\",state=\"initializing\"} 1",
        "provider_part_restarts{part=\"engine\"} 0",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
}

#[test]
fn hostnames_are_shown_by_how_they_are_and_a_part_shows_nothing_else() {
    let counts = Counts {
        writes: [(("create", true), 7), (("delete", false), 1)].into(),
        failures: [("NotFound", 1)].into(),
        durations: vec![5, 2],
        milliseconds: 80,
    };
    let hosts = [(State::Routed, 6), (State::WithoutBackends, 1), (State::Refused, 0)].into();
    let figures = Figures { hosts, queue: 3, leads: true, counts };
    let snapshot = Snapshot { hostnames: Some(&figures), ..Snapshot::default() };
    let part = Metrics::new().render_part(&snapshot, Format::Prometheus);
    for page in [&page(&snapshot), &part] {
        for line in [
            "provider_hostname_hosts{state=\"routed\"} 6",
            "provider_hostname_hosts{state=\"without_backends\"} 1",
            "provider_hostname_hosts{state=\"refused\"} 0",
            "provider_hostname_queue 3",
            "provider_hostname_leader 1",
            "provider_hostname_writes{action=\"create\",result=\"success\"} 7",
            "provider_hostname_writes{action=\"delete\",result=\"fail\"} 1",
            "provider_hostname_failures{reason=\"not_found\"} 1",
            "provider_hostname_reconcile_milliseconds_bucket{le=\"10\"} 5",
            "provider_hostname_reconcile_milliseconds_bucket{le=\"25\"} 7",
            "provider_hostname_reconcile_milliseconds_count 7",
            "provider_hostname_reconcile_milliseconds_sum 80",
        ] {
            assert!(page.contains(&format!("\n{line}\n")), "{line}: {page}");
        }
    }
    assert!(!part.contains("provider_leases_spared"), "{part}");
}
