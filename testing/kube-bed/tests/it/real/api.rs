//! etcd and the API server.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use kube_bed::Bed;
use serde_json::json;

use crate::real::common::{Owner, wait_for};

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"a": "b"}})).unwrap()
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

#[tokio::test]
async fn a_user_may_do_what_roles_allow() {
    let bed = Bed::api_server().await.unwrap();
    let kubeconfig = bed.kubeconfig_of("someone", None).unwrap();
    let config = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(config, &options).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config).unwrap());
    let refused = maps.get_opt("any").await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 403), "{refused}");

    let roles: Api<ClusterRoleBinding> = Api::all(bed.client());
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": "someone-rules"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "someone"}]
    });
    let binding = serde_json::from_value(binding).unwrap();
    roles.create(&PostParams::default(), &binding).await.unwrap();
    wait_for("the role to be known", async || maps.get_opt("any").await.ok()).await;
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

#[tokio::test]
async fn a_bed_ends_with_the_process_that_made_it_even_if_that_is_killed() {
    let mut owner = Owner::of("api-server");
    let processes = processes(&owner.folder);
    assert!(processes.iter().all(|process| process.exists()), "{processes:?}");
    owner.kill();
    wait_for("nothing to be left", async || {
        let left = owner.folder.exists() || processes.iter().any(|process| process.exists());
        (!left).then_some(())
    })
    .await;
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
