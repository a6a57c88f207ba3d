//! The metrics that are ours.

use provider_operators::hostname::figures::BOUNDS;

use super::contract::metrics;
use crate::metrics::metric::{Description, Kind, Metric};

const BLOCKS: [u64; 9] = [1, 2, 3, 4, 6, 10, 20, 50, 100];

metrics! {
    CHAIN_HEIGHT: 0 = "provider_chain_height", Kind::Gauge, [],
        "Height of the last block that was handled.";
    CHAIN_HEAD_HEIGHT: 0 = "provider_chain_head_height", Kind::Gauge, [],
        "Height of the newest block that any usable node has.";
    CHAIN_LAG_BLOCKS: 0 = "provider_chain_lag_blocks", Kind::Gauge, [],
        "Blocks that exist and were not handled yet.";
    CHAIN_BLOCK_TIMESTAMP: 0 = "provider_chain_block_timestamp_seconds", Kind::Gauge, [],
        "Time of the last block that was handled, as the chain counts it.";
    CHAIN_STALLED: 0 = "provider_chain_stalled", Kind::Gauge, [],
        "1 while no new block has come for too long, or no node can be used.";
    CHAIN_SUBSCRIBED: 0 = "provider_chain_subscribed", Kind::Gauge, [],
        "1 while some node tells of new blocks by itself.";
    CHAIN_RESYNCS: 0 = "provider_chain_resyncs", Kind::Counter, [],
        "How often blocks were skipped and everything was read again.";
    CHAIN_NODE_USABLE: 2 = "provider_chain_node_usable", Kind::Gauge,
        [("index", "its place in the settings"), ("node", "its host and port")],
        "1 while the node is used.";
    CHAIN_NODE_HEIGHT: 2 = "provider_chain_node_height", Kind::Gauge,
        [("index", "its place in the settings"), ("node", "its host and port")],
        "Height of the node's newest block.";
    READY: 0 = "provider_ready", Kind::Gauge, [],
        "1 while chain and cluster are fresh and the provider acts, as /readyz says.";
    CLUSTER_FRESH: 0 = "provider_cluster_fresh", Kind::Gauge, [],
        "1 while the view of the cluster is fresh.";
    CLUSTER_KNOWN: 0 = "provider_cluster_known", Kind::Gauge, [],
        "1 while the cluster is the one that leases were deployed to; 0 stops every write.";
    RIVAL: 0 = "provider_rival", Kind::Gauge, [],
        "1 while another provider with the same key acted within the last day.";
    BREAKER_OPEN: 0 = "provider_breaker_open", Kind::Gauge, [],
        "1 while too much looks bad at once and nothing is destroyed.";
    MAINTENANCE: 0 = "provider_maintenance", Kind::Gauge, [],
        "1 while the operator has put the provider into maintenance.";
    ISOLATION_HOLD: 1 = "provider_isolation_hold", Kind::Gauge,
        [("reason", "findings, unknown")],
        "1 while there are no new bids because tenants are not known to be kept apart.";
    CANNOT_PAY: 0 = "provider_cannot_pay", Kind::Gauge, [],
        "1 while the wallet cannot pay for bids.";
    LOW_BALANCE: 0 = "provider_low_balance", Kind::Gauge, [],
        "1 while less can be spent than --minimum-balance, and bids can still be paid for.";
    ORDERS: 1 = "provider_orders", Kind::Gauge,
        [("stage", "seen, judged, declined, pricing, bidding, abandoned, open, closing")],
        "Orders that are looked after, by how far they are.";
    LEASES: 1 = "provider_leases", Kind::Gauge,
        [("stage", "awaiting-manifest, manifest-missing, deploying, running, degraded, closing, tearing-down")],
        "Leases that are looked after, by how far they are.";
    DECISIONS: 1 = "provider_decisions", Kind::Counter,
        [("kind", "as in the journal, such as declined")],
        "Everything that was decided.";
    BID_DECLINES: 1 = "provider_bid_declines", Kind::Counter,
        [("reason", "such as no-room-cpu")],
        "Reasons why there was no bid. One order can have several.";
    ORDER_TO_BID_BLOCKS: 0 = "provider_order_to_bid_blocks", Kind::Histogram(&BLOCKS), [],
        "Blocks from the one in which an order was noticed to the one with our bid.";
    PRICE_SCRIPTS: 1 = "provider_price_scripts", Kind::Counter,
        [("result", "success, not_run, timed_out, failed")],
        "How runs of the price script ended.";
    MANIFESTS: 1 = "provider_manifests", Kind::Counter, [("result", "accepted, refused")],
        "Manifests that tenants sent.";
    LEASE_CLOSES: 1 = "provider_lease_closes", Kind::Counter,
        [("cause", "manifest_timeout, manifest_lost, unhealthy, unschedulable, operator")],
        "Leases that we decided to close.";
    LEASES_SPARED: 0 = "provider_leases_spared", Kind::Counter, [],
        "Times that a lease was not closed although it ought to be.";
    DRIFT_ITEMS: 1 = "provider_drift_items", Kind::Gauge,
        [("kind", "such as workload_missing")],
        "Where chain, cluster and provider disagree at the moment.";
    DRIFT_FOUND: 1 = "provider_drift_found", Kind::Counter,
        [("kind", "such as workload_missing")],
        "Disagreements that were found.";
    TX_QUEUE: 1 = "provider_tx_queue", Kind::Gauge,
        [("class", "bid, deadline, close, withdraw, housekeeping")],
        "What waits to be sent to the chain.";
    TX_IN_FLIGHT: 0 = "provider_tx_in_flight", Kind::Gauge, [],
        "Transactions that were sent and are in no block yet.";
    TX_MESSAGES_IN_FLIGHT: 0 = "provider_tx_messages_in_flight", Kind::Gauge, [],
        "Messages in them.";
    TX_DOUBTFUL: 0 = "provider_tx_doubtful", Kind::Gauge, [],
        "What was sent and of which the chain is asked whether it happened.";
    TX_HELD: 0 = "provider_tx_held", Kind::Gauge, [],
        "Reasons that keep the lane, or a class of it, from sending.";
    TX_SEQUENCE_READY: 0 = "provider_tx_sequence_ready", Kind::Gauge, [],
        "1 while the account's sequence is known and transactions can be sent.";
    TX_ENDS: 2 = "provider_tx_ends", Kind::Counter,
        [("class", "bid, deadline, close, withdraw, housekeeping"), ("outcome", "executed, already_holds, refused, invalid, expired, forgotten, unknown")],
        "How what was handed to the lane ended.";
    FEES_SPENT: 1 = "provider_fees_spent", Kind::Counter, [("denom", "such as uakt")],
        "Fees that were paid since the start.";
    FEES_TODAY: 1 = "provider_fees_today", Kind::Gauge, [("denom", "such as uakt")],
        "Fees of the current day (UTC, by block time).";
    WITHDRAWALS: 1 = "provider_withdrawals", Kind::Counter, [("result", "success, fail")],
        "Withdrawals of earnings.";
    EARNED: 1 = "provider_earned", Kind::Counter, [("denom", "such as uakt")],
        "Earnings that arrived since the start.";
    STORE_SIZE: 0 = "provider_store_size_bytes", Kind::Gauge, [],
        "Size of the store's file.";
    STORE_COMMITS: 0 = "provider_store_commits", Kind::Counter, [],
        "Batches that the store kept.";
    STORE_FAILURES: 0 = "provider_store_failures", Kind::Counter, [],
        "Batches that the store could not keep.";
    STORE_COMMIT_SECONDS: 0 = "provider_store_commit_seconds", Kind::Gauge, [],
        "How long the last batch took.";
    STORE_HEALTHY: 0 = "provider_store_healthy", Kind::Gauge, [],
        "1 while the last batch was kept.";
    PART_STATE: 2 = "provider_part_state", Kind::Gauge,
        [("part", "such as block follower"), ("state", "initializing, running, stopping, done")],
        "1 for where a part of the provider is in its life.";
    PART_RESTARTS: 1 = "provider_part_restarts", Kind::Counter,
        [("part", "such as block follower")],
        "How often a part broke down and was started again.";
    BUS_CONNECTED: 0 = "provider_bus_connected", Kind::Gauge, [],
        "1 while everyone who should hear a fact does.";
    BUS_LOST: 0 = "provider_bus_lost_connections", Kind::Counter, [],
        "Connections to Redis that were lost.";
    BUS_SUPERSEDED: 0 = "provider_bus_superseded", Kind::Counter, [],
        "Facts that a newer one replaced before Redis took them.";
    BUS_EVENTS_DROPPED: 0 = "provider_bus_events_dropped", Kind::Counter, [],
        "Events that were dropped because too many waited for Redis.";
    BUS_UNDECODABLE: 0 = "provider_bus_undecodable", Kind::Counter, [],
        "Payloads that were no fact of their topic.";
    GATEWAY_OPEN_CONNECTIONS: 1 = "provider_gateway_open_connections", Kind::Gauge,
        [("listener", "rest, grpc")],
        "Open connections of clients, streams included.";
    GATEWAY_CONNECTIONS: 2 = "provider_gateway_connections", Kind::Counter,
        [("listener", "rest, grpc"), ("result", "served, handshake-failed, handshake-timeout, certificate-refused")],
        "Connections that were accepted, by what became of their TLS handshake.";
    GATEWAY_IDLE_CLOSED: 1 = "provider_gateway_idle_closed", Kind::Counter,
        [("listener", "rest, grpc")],
        "Idle connections that were closed because the listener was nearly full.";
    GATEWAY_LIMIT_HITS: 2 = "provider_gateway_limit_hits", Kind::Counter,
        [
            ("listener", "rest, grpc, both"),
            ("limit", "connections, connections-per-client, stranger-bytes, stranger-bytes-per-client, tenant-bytes, tenant-bytes-per-owner, streams, streams-per-owner, streams-per-lease, public-streams, public-streams-per-client"),
        ],
        "How often a limit of the gateway refused a client.";
    HOSTNAMES: 1 = "provider_hostname_hosts", Kind::Gauge,
        [("state", "routed, without_backends, waiting, refused, conflicting, failing, pending")],
        "Hostnames by how they are, where this process makes their routes.";
    HOSTNAME_QUEUE: 0 = "provider_hostname_queue", Kind::Gauge, [],
        "Hostnames that wait to be looked at, or whose write is under way.";
    HOSTNAME_LEADER: 0 = "provider_hostname_leader", Kind::Gauge, [],
        "1 while this process makes routes; 0 while another replica does.";
    HOSTNAME_WRITES: 2 = "provider_hostname_writes", Kind::Counter,
        [("action", "create, replace, delete"), ("result", "success, fail")],
        "Writes of routes.";
    HOSTNAME_FAILURES: 1 = "provider_hostname_failures", Kind::Counter,
        [("reason", "not_found, conflict, unavailable, refused, quarrel")],
        "Why routes were not written, or were changed back.";
    HOSTNAME_RECONCILE: 0 = "provider_hostname_reconcile_milliseconds", Kind::Histogram(BOUNDS), [],
        "Milliseconds from the first write of a route to the route as it should be.";
    BUILD_INFO: 1 = "provider_build_info", Kind::Gauge, [("version", "of this program")],
        "Always 1.";
    PROCESS_CPU: 0 = "process_cpu_seconds_total", Kind::Counter, [],
        "CPU time that the process took, in user and system mode.";
    PROCESS_RESIDENT: 0 = "process_resident_memory_bytes", Kind::Gauge, [],
        "Memory of the process that is in RAM.";
    PROCESS_VIRTUAL: 0 = "process_virtual_memory_bytes", Kind::Gauge, [],
        "Memory of the process in all.";
    PROCESS_START: 0 = "process_start_time_seconds", Kind::Gauge, [],
        "When the process started, in seconds since 1970.";
    PROCESS_FDS: 0 = "process_open_fds", Kind::Gauge, [],
        "Open file descriptors.";
    PROCESS_MAX_FDS: 0 = "process_max_fds", Kind::Gauge, [],
        "File descriptors that may be open.";
    PROCESS_THREADS: 0 = "process_threads", Kind::Gauge, [],
        "Threads of the process.";
}
