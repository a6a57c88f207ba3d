use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::Manifest;
use provider_engine::cluster::command::{Command, CommandId, Operation, Workload};

use super::*;
use crate::core::{ClusterSpec, Settings, SimInput};

const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn workload(dseq: u64, image: &str) -> Arc<Workload> {
    let manifest = format!(
        r#"[{{"name":"g","services":[{{"name":"web","image":"{image}","count":1,"resources":
        {{"id":1,"cpu":{{"units":{{"val":"100"}}}},"memory":{{"size":{{"val":"1000"}}}},
        "storage":[{{"name":"default","size":{{"val":"1000"}}}}],"gpu":{{"units":{{"val":"0"}}}},"endpoints":[]}},"expose":[]}}]}}]"#
    );
    let manifest = Manifest::from_json(manifest.as_bytes()).unwrap().manifest;
    Arc::new(Workload {
        lease: format!("{OWNER}/{dseq}/1/1/{OWNER}").parse().unwrap(),
        version: Some(manifest.version()),
        group: Arc::new(manifest.groups[0].clone()),
        cards: BTreeMap::new(),
        withheld: vec![],
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    })
}

fn run(cluster: &mut SimCluster, store: &mut Store, operation: Operation) {
    let command = Command { id: CommandId(1), operation };
    cluster.step(cluster.now(), SimInput::Command(command));
    store.keep(cluster).unwrap();
}

fn open(path: &Path) -> (Store, SimCluster) {
    let (store, kept) = Store::open(path).unwrap();
    let (spec, settings) = (ClusterSpec::small(), Settings::default());
    let cluster =
        SimCluster::restore(spec, settings, 1, Duration::ZERO, kept.maintenance, kept.leases);
    (store, cluster)
}

#[test]
fn what_was_kept_is_there_again_and_half_a_line_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (mut store, mut cluster) = open(&path);
    run(&mut cluster, &mut store, Operation::Deploy(workload(1, "nginx")));
    run(&mut cluster, &mut store, Operation::Hold(workload(2, "nginx")));
    run(&mut cluster, &mut store, Operation::Maintain(true));
    assert!(matches!(Store::open(&path), Err(StoreError::InUse(_))));
    let before = cluster.view();
    drop(store);
    let whole = std::fs::metadata(&path).unwrap().len();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"Lease\":{\"id\":\"aka").unwrap();
    drop(file);
    let (store, cluster) = open(&path);
    assert_eq!(cluster.view(), before);
    drop(store);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), whole);
}

#[test]
fn to_deploy_again_what_was_kept_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (mut store, mut cluster) = open(&path);
    let mut workload = Workload::clone(&workload(1, "nginx"));
    // JSON has no word for this.
    Arc::make_mut(&mut workload.group).services[0].resources.storage = Some(vec![]);
    let deploy = Operation::Deploy(Arc::new(workload));
    run(&mut cluster, &mut store, deploy.clone());
    drop(store);
    let (mut store, mut cluster) = open(&path);
    let before = cluster.view();
    run(&mut cluster, &mut store, deploy);
    assert_eq!(cluster.changed_leases().count(), 0);
    assert_eq!(cluster.view(), before);
}

#[test]
fn damage_in_the_middle_is_said_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    for (content, line) in [("nonsense\n", 2), ("{\"Maintenance\":true}\n{}\n", 3)] {
        std::fs::write(&path, format!("{HEAD}\n{content}")).unwrap();
        let failed = Store::open(&path).unwrap_err();
        assert!(matches!(failed, StoreError::Line { line: at, .. } if at == line), "{failed}");
    }
    std::fs::write(&path, "other").unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Foreign(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "other");
    // A beginning that was never finished is a beginning.
    std::fs::write(&path, &HEAD[..5]).unwrap();
    Store::open(&path).unwrap();
}

#[test]
fn history_is_thrown_away_when_there_is_much_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (mut store, mut cluster) = open(&path);
    let image = "x".repeat(20_000);
    for number in 0..100 {
        run(&mut cluster, &mut store, Operation::Deploy(workload(1, &format!("{image}{number}"))));
    }
    assert!(store.length < SMALL, "{}", store.length);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, PRIVATE);
    let before = cluster.view();
    drop(store);
    let (_store, cluster) = open(&path);
    assert!(cluster.view() == before);
}
