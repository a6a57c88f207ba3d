//! A real Ceph cluster: what its pools have room for, by the client and by metrics.

#![allow(clippy::indexing_slicing, reason = "an answer of another shape is to fail the test")]

use std::collections::BTreeMap;
use std::path::Path;

use kube_bed::Ceph;
use serde_json::Value;

use crate::real::common::wait_for;

/// Bytes stored and available, by pool.
type Pools = BTreeMap<String, (u64, u64)>;

fn pools_of_df(df: &Value) -> Pools {
    let pools = df["pools"].as_array().unwrap().iter();
    pools
        .map(|pool| {
            let stat = |name: &str| pool["stats"][name].as_u64().unwrap();
            (pool["name"].as_str().unwrap().to_owned(), (stat("stored"), stat("max_avail")))
        })
        .collect()
}

fn pools_of_metrics(text: &str) -> Pools {
    let label = |line: &str, name: &str| -> String {
        let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let value = |metric: &str, id: &str| -> u64 {
        let start = format!("{metric}{{pool_id=\"{id}\"}} ");
        let value = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or("0");
        value.strip_suffix(".0").unwrap_or(value).parse().unwrap()
    };
    let named = text.lines().filter(|line| line.starts_with("ceph_pool_metadata{"));
    named
        .map(|line| {
            let id = label(line, "pool_id");
            let stats = (value("ceph_pool_stored", &id), value("ceph_pool_max_avail", &id));
            (label(line, "name"), stats)
        })
        .collect()
}

/// Waits until the client and metrics agree on pools of which something is true.
async fn wait_for_pools(ceph: &Ceph, what: &str, is_so: impl Fn(&Pools) -> bool) -> Pools {
    wait_for(what, async || {
        let by_df = pools_of_df(&ceph.df().unwrap());
        let by_metrics = pools_of_metrics(&ceph.metrics().await.unwrap());
        (by_df == by_metrics && is_so(&by_df)).then_some(by_df)
    })
    .await
}

#[tokio::test]
async fn pools_are_told_alike_fill_up_and_seem_to_grow_while_an_osd_is_down() {
    let mut ceph = Ceph::start(3).await.unwrap();
    ceph.create_replicated_pool("copies", 3).unwrap();
    ceph.create_erasure_coded_pool("coded", 2, 1).unwrap();
    ceph.create_file_system("files").await.unwrap();
    let names = ["copies", "coded", "files-metadata", "files-data"];
    let empty = wait_for_pools(&ceph, "room in all pools", |pools| {
        names.iter().all(|name| pools.get(*name).is_some_and(|(_, room)| *room > 1 << 30))
    })
    .await;
    // One disk in three holds the copy that counts, or two of three parts do.
    let (copies, coded) = (empty["copies"].1, empty["coded"].1);
    assert!((copies * 2).abs_diff(coded) < coded / 100, "{copies} and {coded}");

    let bytes = vec![7; 64 << 20];
    ceph.put("coded", "object", &bytes).unwrap();
    let written = bytes.len() as u64;
    let filled = wait_for_pools(&ceph, "the bytes to be counted", |pools| {
        pools["coded"].0 >= written && pools["coded"].1 < coded
    })
    .await;
    assert_eq!(filled["coded"].0, written);
    assert!(filled["copies"].1 < copies, "all pools share the disks: {filled:?}");

    ceph.stop_osd(2).await.unwrap();
    wait_for_pools(&ceph, "the pool to seem to grow", |pools| pools["coded"].1 > coded + coded / 3)
        .await;
    assert_ne!(ceph.query(&["health"]).unwrap()["status"], "HEALTH_OK");
    ceph.start_osd(2).await.unwrap();
    wait_for_pools(&ceph, "the pool to be as it was", |pools| {
        pools["coded"].0 == written && pools["coded"].1 < coded
    })
    .await;

    let config = ceph.config();
    let folder = config.parent().unwrap();
    assert!(processes_of(folder) >= 6);
    drop(ceph);
    assert!(!folder.exists());
    assert_eq!(processes_of(folder), 0);
}

/// How many processes have the environment of a cluster.
fn processes_of(folder: &Path) -> usize {
    let folder = folder.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().map(|it| it.unwrap().path());
    let ours = |process: &Path| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(folder)
    };
    processes.filter(|process| ours(process)).count()
}
