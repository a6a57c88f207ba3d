//! 5,000 hosts on an API server: from nothing to a route each, started again, and one that changes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::cast_precision_loss, reason = "figures are for people")]

#[path = "../../provider-kube/tests/it/bed/mod.rs"]
mod bed;
#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::{Running, case, hosts, merged, put, put_custom, start, writes_of};
use figures::print;
use kube_access::ResourceKind;
use provider_crd::names;
use provider_operators::hostname::Settings;
use serde_json::json;

const HOSTS: usize = 5_000;
/// Hosts that are declared at once.
const TOGETHER: usize = 16;
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::main]
async fn main() {
    let bed = bed::api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = hosts(&case).remove(0);
    let named = |number: usize| {
        let (mut host, name) = (host.clone(), format!("host-{number}.example.com"));
        host["metadata"]["name"] = name.as_str().into();
        host["spec"]["hostname"] = name.into();
        host
    };
    for first in (1..HOSTS).step_by(TOGETHER) {
        let mut puts = Vec::new();
        for number in first..HOSTS.min(first + TOGETHER) {
            let (client, host) = (bed.client(), named(number));
            puts.push(tokio::spawn(async move {
                let request = http::Request::post(ResourceKind::HOST.path(Some("lease")))
                    .header("content-type", "application/json")
                    .body(host.to_string().into_bytes())
                    .unwrap();
                client.request::<serde_json::Value>(request).await.unwrap();
            }));
        }
        for put in puts {
            put.await.unwrap();
        }
    }

    let began = Instant::now();
    let operator = start(&bed, Settings::default()).await;
    served(&operator, HOSTS).await;
    let rate = HOSTS as f64 / began.elapsed().as_secs_f64();
    print("hosts_per_s", format!("{rate:.0}"), "1/s");
    let writes: usize = writes_of(&operator).values().sum();
    print("writes_per_host", format!("{:.3}", writes as f64 / HOSTS as f64), "writes");

    let before = operator.calls();
    put(&bed, ResourceKind::HOST, &named(HOSTS)).await;
    served(&operator, HOSTS + 1).await;
    print("calls_for_one_host", operator.calls() - before, "calls");
    drop(operator);

    let began = Instant::now();
    let again = start(&bed, Settings::default()).await;
    served(&again, HOSTS + 1).await;
    print("restart_ms", began.elapsed().as_millis(), "ms");
    print("restart_writes", writes_of(&again).values().sum::<usize>(), "writes");

    // All hosts are of one lease: a change of its options is a change of each.
    let began = Instant::now();
    let manifest = names::lease_namespace(&case.lease);
    let path = format!("{}/{manifest}", ResourceKind::MANIFEST.path(Some("lease")));
    let mut stored = bed::get(&bed, &path).await.unwrap();
    stored["spec"]["group"]["services"][0]["expose"][0]["http_options"]["max_body_size"] =
        4096.into();
    merged(&bed, &path, &json!({"spec": stored["spec"]})).await;
    let wait = async {
        while writes_of(&again).get("ingresses-update").copied() != Some(HOSTS + 1) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap();
    let rate = (HOSTS + 1) as f64 / began.elapsed().as_secs_f64();
    print("updates_per_s", format!("{rate:.0}"), "1/s");
}

async fn served(operator: &Running, hosts: usize) {
    let wait = async {
        while operator.inner.index().served().count() < hosts {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("not all hosts got their routes");
}
