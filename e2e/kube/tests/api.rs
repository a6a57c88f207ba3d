//! etcd and the API server.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::{Api, ResourceExt as _};
use kube_bed::Bed;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(serde_json::json!({"metadata": {"name": name}, "data": {"a": "b"}}))
        .unwrap()
}

#[tokio::test]
async fn an_api_server_keeps_what_it_is_given_also_through_an_outage() {
    let mut bed = Bed::api_server().await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(bed.client());
    let made = maps.create(&PostParams::default(), &config_map("kept")).await.unwrap();

    bed.stop_api();
    assert!(maps.get("kept").await.is_err());
    bed.start_api().await.unwrap();

    assert_eq!(maps.get("kept").await.unwrap().uid(), made.uid());
}

#[tokio::test(flavor = "multi_thread")]
async fn beds_stand_side_by_side_and_leave_nothing() {
    let (one, other) = tokio::join!(Bed::api_server(), Bed::api_server());
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_ne!(one.url(), other.url());
    let maps = |bed: &Bed| Api::<ConfigMap>::default_namespaced(bed.client());
    maps(&one).create(&PostParams::default(), &config_map("mine")).await.unwrap();
    assert_eq!(maps(&other).get_opt("mine").await.unwrap(), None);

    let folder = one.folder().to_owned();
    let processes = processes(&folder);
    assert_eq!(processes.len(), 2);
    drop(one);
    assert!(!folder.exists());
    assert!(!processes.iter().any(|process| process.exists()), "{processes:?}");
    assert_eq!(maps(&other).get_opt("mine").await.unwrap(), None);
}

#[test]
fn a_bed_ends_with_the_process_that_made_it_even_if_that_is_killed() {
    let mut owner = Command::new(env!("CARGO_BIN_EXE_kube-bed"))
        .arg("api-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let kubeconfig = Path::new(line.trim().strip_prefix("export KUBECONFIG=").unwrap());
    let folder = kubeconfig.parent().and_then(Path::parent).unwrap();
    let processes = processes(folder);
    assert!(processes.iter().all(|process| process.exists()), "{processes:?}");

    owner.kill().unwrap();
    owner.wait().unwrap();

    let begun = Instant::now();
    while folder.exists() || processes.iter().any(|process| process.exists()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{folder:?} or {processes:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where the system shows the processes of a bed.
fn processes(folder: &Path) -> Vec<PathBuf> {
    let pids = std::fs::read_dir(folder.join("pids")).unwrap();
    let of = |file: std::io::Result<std::fs::DirEntry>| {
        let line = std::fs::read_to_string(file.unwrap().path()).unwrap();
        Path::new("/proc").join(line.split(' ').next().unwrap())
    };
    pids.map(of).collect()
}
