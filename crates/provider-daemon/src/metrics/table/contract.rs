//! The metrics of the Go program: names, labels and units as dashboards know them, oddities
//! included.

use crate::metrics::metric::{Description, Kind, Metric};

/// 0.15 s to 77 s, in microseconds.
const DURATIONS: [u64; 10] = [
    150_000, 300_000, 600_000, 1_200_000, 2_400_000, 4_800_000, 9_600_000, 19_200_000, 38_400_000,
    76_800_000,
];

macro_rules! metrics {
    ($($constant:ident: $count:literal = $name:literal, $kind:expr, $labels:expr, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub(in crate::metrics) static $constant: Metric<$count> =
                Metric { name: $name, kind: $kind, labels: $labels, help: $help };
        )*
        pub(super) static ALL: &[Description] = &[$($constant.describe()),*];
    };
}
pub(super) use metrics;

metrics! {
    ORDER_HANDLER: 1 = "provider_order_handler", Kind::Counter, [("action", "start, stop")],
        "Orders that were begun, and that are over or won.";
    ORDER_MANAGER: 0 = "provider_order_manager", Kind::Gauge, [],
        "Orders that are looked after.";
    BID: 2 = "provider_bid", Kind::Counter,
        [("action", "open, close"), ("result", "success, fail")],
        "Bids that were opened or closed on chain, or were meant to be.";
    BID_PRICING_DURATION: 0 = "provider_bid_pricing_duration", Kind::Histogram(&DURATIONS), [],
        "Microseconds that the price script took to answer, waiting for its turn included. Other strategies take none.";
    RESERVATION_DURATION: 0 = "provider_reservation_duration", Kind::Histogram(&DURATIONS), [],
        "Microseconds from noticing an order to keeping capacity for it.";
    RESERVATION: 2 = "provider_reservation", Kind::Counter,
        [("action", "open, close"), ("result", "success, fail")],
        "Capacity that was kept for an order, given back, or was not there.";
    SHOULD_BID: 1 = "provider_should_bid", Kind::Counter, [("result", "accept, decline")],
        "Orders that were judged. One that is only short of room counts as accepted.";
    ORDER_COMPLETE: 1 = "provider_order_complete", Kind::Counter,
        [("result", "lease-won, lease-lost, order-closed, bid-closed-external, bid-timeout")],
        "How orders ended for us.";
    MANIFEST_MANAGER: 0 = "provider_manifest_manager", Kind::Gauge, [],
        "Deployments whose manifest is held.";
    ORDER_WATCHDOG: 0 = "provider_order_watchdog", Kind::Gauge, [],
        "Leases that wait for their manifest.";
    DEPLOYMENT_MANAGER: 0 = "provider_deployment_manager", Kind::Gauge, [],
        "Leases that are looked after.";
    DEPLOYMENT: 2 = "provider_deployment", Kind::Counter,
        [("action", "reserve-hostnames, deploy, teardown"), ("result", "success, fail; err for hostnames")],
        "What was done in the cluster for leases.";
    DEPLOYMENT_MONITOR: 1 = "provider_deployment_monitor", Kind::Counter,
        [("action", "start, stop")],
        "Workloads that came under watch, and that are gone.";
    DEPLOYMENT_MONITOR_HEALTH: 1 = "provider_deployment_monitor_health", Kind::Counter,
        [("state", "up, down, err, failed")],
        "Changes of a workload's health; err: the cluster did not answer; failed: unhealthy for too long.";
    INVENTORY_REQUESTS: 2 = "provider_inventory_requests", Kind::Counter,
        [("action", "reserve, unreserve"), ("result", "create, insufficient-capacity; destroyed")],
        "Capacity that was asked for or given back.";
    INVENTORY_RESERVATIONS: 2 = "provider_inventory_reservations_total", Kind::Gauge,
        [("classification", "none, active, pending"), ("quantity", "quantity, allocated; cpu, gpu, memory, storage-ephemeral, endpoints")],
        "What is kept: under none how many reservations there are and how many of them run, else thousandths of CPU, cards, bytes, 0 and ports.";
    INVENTORY_ALLOCATABLE: 1 = "provider_inventory_allocatable_total", Kind::Gauge,
        [("quantity", "nodes, cpu, gpu, memory, storage-ephemeral, storage-CLASS, endpoints")],
        "What all nodes have: CPU in cores, cards divided by 1000, bytes, endpoints always 0.";
    INVENTORY_AVAILABLE: 1 = "provider_inventory_available_total", Kind::Gauge,
        [("quantity", "cpu, memory, storage-ephemeral, storage-CLASS, endpoints")],
        "What is left: CPU in cores, bytes, ports where they are limited, else 0.";
    KUBE_CALLS: 2 = "provider_kube_calls", Kind::Counter,
        [("action", "such as manifests-get"), ("result", "success, fail")],
        "Calls of the Kubernetes API.";
}
