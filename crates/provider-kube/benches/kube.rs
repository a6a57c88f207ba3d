//! Leases on a real API server with real controllers, on nodes that are only said to be there: what
//! one costs, how fast many are, and what a provider weighs that holds them.
//!
//! The one that holds them is another process: this program again, with nothing in it but the
//! driver.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::cast_precision_loss, reason = "figures are for people")]
#![allow(clippy::print_stderr, reason = "a bench says how far it is")]

#[path = "../tests/it/bed/mod.rs"]
mod bed;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use akash_types::LeaseId;
use bed::{Counts, connect, writes};
use figures::print;
use futures_util::{StreamExt, stream};
use kube_access::Access;
use kube_bed::{Bed, FakeNode, FakeNodes};
use provider_crd::names;
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Observe};
use provider_engine::cluster::view::{ClusterView, Condition, ViewChange};
use provider_kube::KubeDriver;
use provider_testkit::kube::{Case, built, workload};
use serde_json::{Value, json};

const LEASES: usize = 500;
const REPLICAS: usize = 10;
/// Leases that are deployed at a time.
const TOGETHER: usize = 16;
/// Changes of pods that are timed.
const CHANGES: usize = 200;
/// How long nothing happens while the rest is measured.
const REST: Duration = Duration::from_secs(20);
const QUIET: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(1_200);
/// The question by which the driver knows that the API server is there.
const PULSE: &str = "readyz-get";
/// The word by which this program becomes the one that holds leases.
const HOLDER: &str = "holder";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |word: &String| word.parse::<usize>().expect("how many leases");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match words.as_slice() {
        [holder, kubeconfig, leases] if holder == HOLDER => {
            runtime.block_on(hold(Path::new(kubeconfig), number(leases)));
        }
        rest => runtime.block_on(run(rest.first().map_or(LEASES, number))),
    }
}

fn case() -> Case {
    Case::recorded("01-basic").unwrap()
}

/// The recorded lease with another number and so many replicas.
fn lease(case: &Case, number: usize, replicas: usize) -> Arc<Workload> {
    let (id, dseq) = (case.lease.to_string(), case.lease.dseq().to_string());
    let id = id.replacen(&dseq, &(100_000 + number).to_string(), 1);
    let mut wanted = Workload { lease: id.parse().unwrap(), ..workload(case).unwrap() };
    Arc::make_mut(&mut wanted.group).services[0].count = u32::try_from(replicas).unwrap();
    Arc::new(wanted)
}

async fn run(leases: usize) {
    let bed = bed::control_plane().await;
    let mut nodes = FakeNode::many(leases * REPLICAS / 800 + 2);
    for node in &mut nodes {
        node.labels.insert("akash.network".to_owned(), "true".to_owned());
    }
    let _nodes = FakeNodes::start(bed.client(), &nodes).await.unwrap();
    let case = case();
    let (driver, counts) = bed::driver(&bed, case.settings.clone()).await;

    one(&driver, &counts, &case).await;
    many(&driver, &case, leases).await;
    // An update replaces pod by pod, long after enough of them are ready.
    settle(&driver).await;
    latency(&bed, &driver, &case).await;
    drop(driver);

    let user = "system:serviceaccount:akash-services:akash-provider";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    let mut holder = Command::new(std::env::current_exe().unwrap());
    holder.arg(HOLDER).arg(kubeconfig).arg(leases.to_string());
    let held = tokio::task::spawn_blocking(move || holder.status()).await.unwrap().unwrap();
    assert!(held.success(), "the holder failed");
}

/// What it takes to deploy one lease.
async fn one(driver: &KubeDriver, counts: &Counts, case: &Case) {
    // The API server lets the first object of a new kind wait for two seconds.
    driver.execute(Operation::Deploy(lease(case, 0, 1))).await.unwrap();
    counts.lock().unwrap().clear();
    let began = Instant::now();
    driver.execute(Operation::Deploy(lease(case, 1, 1))).await.unwrap();
    let took = began.elapsed();
    let calls = counts.lock().unwrap().clone();
    // Whether the API server is there is asked whatever happens.
    let calls: usize = calls.iter().filter(|(call, _)| *call != PULSE).map(|(_, n)| n).sum();
    let written: usize = writes(counts).values().sum();
    let objects = built(case).unwrap().len();
    print("deploy_calls", calls, "calls");
    print("deploy_reads", calls - written, "calls");
    print("deploy_writes_per_object", format!("{:.2}", written as f64 / objects as f64), "writes");
    print("deploy_ms", took.as_millis(), "ms");
}

/// How fast many are deployed, then how fast they are updated, to as many pods as are wanted.
async fn many(driver: &KubeDriver, case: &Case, leases: usize) {
    let rate = deployed(driver, (2..leases).map(|number| lease(case, number, 1))).await;
    print("leases_per_s", format!("{rate:.1}"), "1/s");
    seen(driver, |view| ready(view) == leases).await;
    let began = Instant::now();
    let rate = deployed(driver, (0..leases).map(|number| lease(case, number, REPLICAS))).await;
    print("updates_per_s", format!("{rate:.1}"), "1/s");
    seen(driver, |view| ready(view) == leases * REPLICAS).await;
    print("pods_ready_s", format!("{:.1}", began.elapsed().as_secs_f64()), "s");
}

/// How many leases are deployed per second.
async fn deployed(driver: &KubeDriver, leases: impl Iterator<Item = Arc<Workload>>) -> f64 {
    let began = Instant::now();
    let deploys = leases.map(|lease| async move {
        driver.execute(Operation::Deploy(lease)).await.unwrap();
    });
    let count = stream::iter(deploys).buffer_unordered(TOGETHER).count().await;
    count as f64 / began.elapsed().as_secs_f64()
}

/// From a change of a pod to the engine's view of its lease.
async fn latency(bed: &Bed, driver: &KubeDriver, case: &Case) {
    let id = lease(case, 0, REPLICAS).lease;
    let path = format!("/api/v1/namespaces/{}/pods", names::lease_namespace(&id));
    let pods = bed::get(bed, &path).await.unwrap();
    let name = pods["items"][0]["metadata"]["name"].as_str().unwrap();
    let path = format!("{path}/{name}/status");
    let mut changes = driver.observe();
    changes.next().await;
    let mut times = Vec::with_capacity(CHANGES);
    for number in 0..CHANGES {
        let is_ready = number % 2 == 1;
        let wanted = REPLICAS - usize::from(!is_ready);
        mark(bed, &path, is_ready).await;
        // From here on it is so: what it took to write is the API server's.
        let began = Instant::now();
        let told = async { while !is_told(&changes.next().await, id, wanted) {} };
        tokio::time::timeout(Duration::from_secs(30), told).await.expect("a change is seen");
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    print("pod_change_p50_ms", at(50).as_millis(), "ms");
    print("pod_change_p99_ms", at(99).as_millis(), "ms");
}

fn is_told(change: &ViewChange, lease: LeaseId, ready: usize) -> bool {
    match change {
        ViewChange::Lease(seen) if seen.id == lease => {
            let is_ready = |it: &&_| is_ready(it);
            seen.replicas.iter().filter(is_ready).count() == ready
        }
        ViewChange::Lost => panic!("the view was lost"),
        _ => false,
    }
}

fn is_ready(replica: &provider_engine::cluster::view::Replica) -> bool {
    replica.condition == Condition::Ready
}

/// Says that a pod is ready, or not, as its kubelet would.
async fn mark(bed: &Bed, path: &str, is_ready: bool) {
    let status = if is_ready { "True" } else { "False" };
    let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
    let request = http::Request::patch(path)
        .header("content-type", "application/strategic-merge-patch+json")
        .body(patch.to_string().into_bytes())
        .unwrap();
    bed.client().request::<Value>(request).await.unwrap();
}

/// All that a provider does at a start, then nothing.
async fn hold(kubeconfig: &Path, leases: usize) {
    let began = Instant::now();
    let access = Access::find(kubeconfig, &akash_net::Outbound::default()).await.unwrap();
    let (driver, counts) = connect(&access, case().settings).await;
    let ViewChange::Whole(view) = driver.observe().next().await else {
        panic!("what is seen first is everything");
    };
    assert_eq!(ready(&view), leases * REPLICAS, "not everything is seen");
    let held = view.leases.values().filter(|lease| lease.held.as_ref().is_some_and(|h| h.deployed));
    assert_eq!(held.count(), leases, "not everything counts as deployed");
    print("restart_s", format!("{:.2}", began.elapsed().as_secs_f64()), "s");
    // And what is held is deployed again, as at a start of the Go provider.
    let case = case();
    let again = view.leases.values().map(|lease| {
        let held = lease.held.clone().unwrap();
        let known = workload(&case).unwrap();
        let (version, group, cards) = (held.version, held.group, held.cards);
        let same = Arc::new(Workload { lease: lease.id, version, group, cards, ..known });
        let driver = driver.clone();
        async move { driver.execute(Operation::Deploy(same)).await.unwrap() }
    });
    stream::iter(again).buffer_unordered(TOGETHER).count().await;
    print("restart_writes", writes(&counts).values().sum::<usize>(), "writes");
    drop(view);

    settle(&driver).await;
    let before = used();
    tokio::time::sleep(REST).await;
    let share = (used() - before).as_secs_f64() / REST.as_secs_f64() * 100.0;
    print("rest_cpu_percent", format!("{share:.2}"), "%");
    print("rss_mb", resident() / 1_000_000, "MB");
}

/// Waits until controllers have nothing left to write, as far as can be seen, and a while more.
async fn settle(driver: &KubeDriver) {
    let mut changes = driver.observe();
    let began = Instant::now();
    while tokio::time::timeout(QUIET, changes.next()).await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "it is never quiet");
    }
    tokio::time::sleep(QUIET).await;
}

/// How many pods of leases are seen to be ready.
fn ready(view: &ClusterView) -> usize {
    view.leases.values().flat_map(|lease| &lease.replicas).filter(|it| is_ready(it)).count()
}

/// Waits for a view in which something holds.
async fn seen(driver: &KubeDriver, holds: impl Fn(&ClusterView) -> bool) -> ClusterView {
    let began = Instant::now();
    loop {
        // A new observation begins with everything, which is all that is wanted here.
        if let ViewChange::Whole(view) = driver.observe().next().await {
            if holds(&view) {
                return *view;
            }
            eprintln!("{} leases, {} pods ready", view.leases.len(), ready(&view));
        }
        assert!(began.elapsed() < PATIENCE, "it was never seen");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Processor time of this process.
fn used() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let nanos = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
