//! What a tenant's pod cannot do on a real node: use more memory than it pays for, and talk to the
//! cluster.

use std::sync::Arc;
use std::time::Duration;

use akash_sdl::manifest::{ServiceParams, ServicePermissions};
use akash_types::{LeaseId, Memory};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube_bed::{Bed, Image, Node};
use provider_crd::names;
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{
    Exec, ExecOutput, ExecRequest, Execute, Inspect, Output, Phase,
};
use provider_kube::KubeDriver;
use provider_kube::settings::Settings;
use provider_testkit::kube::{Case, workload};
use serde_json::{Value, json};

use crate::bed::{self, account, post, until};

const IMAGE: &str = "localhost/confined:1";
pub(super) const SERVES: &str = "trap 'exit 0' TERM; while :; do sleep 0.3 & wait $!; done";

/// One service that runs `script`, under a lease of this number.
pub(super) fn service(dseq: u64, script: &str) -> Workload {
    let mut wanted = workload(&Case::recorded("01-basic").unwrap()).unwrap();
    let id = wanted.lease.to_string();
    let own = wanted.lease.dseq().to_string();
    wanted.lease = id.replacen(&own, &dseq.to_string(), 1).parse().unwrap();
    let service = &mut Arc::make_mut(&mut wanted.group).services[0];
    service.image = IMAGE.to_owned();
    service.command = Some(["sh", "-c", script].map(str::to_owned).into());
    service.args = None;
    wanted
}

pub(super) async fn deploy(driver: &KubeDriver, wanted: Workload) -> (LeaseId, String) {
    let (lease, name) = (wanted.lease, wanted.group.services[0].name.clone());
    driver.execute(Operation::Deploy(Arc::new(wanted))).await.unwrap();
    (lease, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_is_confined_to_what_its_lease_says() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let node = bed::node().await;
    node.import(&Image::busybox(IMAGE, &["sh"]).unwrap()).unwrap();
    let (driver, _) = bed::driver(&node, Settings::default()).await;
    tokio::join!(
        memory_beyond_the_limit_kills(&driver),
        without_permissions_there_is_no_token_and_no_right(&node, &driver),
        permissions_reach_no_further_than_the_lease(&node, &driver),
    );
}

async fn memory_beyond_the_limit_kills(driver: &KubeDriver) {
    // A line that never ends is kept in memory until it does.
    let mut wanted = service(9101, "tail /dev/zero");
    let resources = &mut Arc::make_mut(&mut wanted.group).services[0].resources;
    resources.memory = Some(Memory { quantity: 32 << 20, attributes: Vec::new() });
    let (lease, name) = deploy(driver, wanted).await;
    let killed = "it was killed because it used more memory than it may";
    until("the service is killed", async || {
        let status = driver.service(lease, &name).await;
        status.is_ok_and(|status| {
            let is_told = status.why.as_ref().is_some_and(|why| why.contains(killed));
            let last = status.last_exit.as_ref();
            status.phase == Phase::Failing
                && is_told
                && last.is_some_and(|last| last.code == 137 && last.reason == killed)
        })
    })
    .await;
}

async fn without_permissions_there_is_no_token_and_no_right(bed: &Bed, driver: &KubeDriver) {
    let (lease, name) = deploy(driver, service(9102, SERVES)).await;
    running(driver, lease, &name).await;
    let look = "find / -xdev -path '*/serviceaccount/token' 2>/dev/null; \
                ls /var/run/secrets /run/secrets 2>/dev/null; echo looked";
    assert_eq!(output(driver, lease, &name, look).await, "looked\n");

    let namespace = names::lease_namespace(&lease);
    let tenant = with_token(bed, &namespace, "default").await;
    for path in paths(&namespace) {
        assert_eq!(answer(&tenant, &path).await, 403, "{path}");
    }
    // What is left is what everybody may ask: who they are, and what they may do.
    for namespace in [namespace.as_str(), "lease", "akash-services", "kube-system"] {
        assert_eq!(rules(&tenant, namespace).await, Vec::<String>::new(), "{namespace}");
    }
    // And so it is for whoever comes with the account's name only.
    let client = account(bed, &namespace, "default").await.client().unwrap();
    assert_eq!(answer(&client, &format!("/api/v1/namespaces/{namespace}/pods")).await, 403);
}

async fn permissions_reach_no_further_than_the_lease(bed: &Bed, driver: &KubeDriver) {
    let mut wanted = service(9103, SERVES);
    let read = vec!["logs".to_owned(), "events".to_owned()];
    let permissions = Some(ServicePermissions { read });
    let params = ServiceParams { permissions, ..ServiceParams::default() };
    Arc::make_mut(&mut wanted.group).services[0].params = Some(params);
    let (lease, name) = deploy(driver, wanted).await;
    running(driver, lease, &name).await;
    let namespace = names::lease_namespace(&lease);
    let read = "cat /var/run/secrets/kubernetes.io/serviceaccount/namespace";
    assert_eq!(output(driver, lease, &name, read).await, namespace);

    let tenant = with_token(bed, &namespace, &name).await;
    let own = format!("/api/v1/namespaces/{namespace}");
    for path in [format!("{own}/pods"), format!("{own}/events")] {
        assert_eq!(answer(&tenant, &path).await, 200, "{path}");
    }
    for path in paths(&namespace) {
        let expected = if path == format!("{own}/pods") { 200 } else { 403 };
        assert_eq!(answer(&tenant, &path).await, expected, "{path}");
    }
    let mut allowed = rules(&tenant, &namespace).await;
    allowed.sort_unstable();
    assert_eq!(allowed, ["deployments", "events", "pods", "pods/log"]);
    assert_eq!(rules(&tenant, "lease").await, Vec::<String>::new());
}

/// What a tenant could want to see: in their own namespace, in others, everywhere.
fn paths(namespace: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for place in [format!("namespaces/{namespace}/"), "namespaces/lease/".to_owned(), String::new()]
    {
        for kind in ["pods", "secrets", "services", "configmaps", "serviceaccounts"] {
            paths.push(format!("/api/v1/{place}{kind}"));
        }
        paths.push(format!("/apis/akash.network/v2beta2/{place}manifests"));
        paths.push(format!("/apis/networking.k8s.io/v1/{place}networkpolicies"));
    }
    paths.extend(["/api/v1/nodes".to_owned(), "/api/v1/namespaces".to_owned()]);
    paths
}

pub(super) async fn running(driver: &KubeDriver, lease: LeaseId, name: &str) {
    until("the service runs", async || {
        let status = driver.service(lease, name).await;
        status.is_ok_and(|status| status.phase == Phase::Ready)
    })
    .await;
}

/// What a script says in a pod of the service.
pub(super) async fn output(
    driver: &KubeDriver,
    lease: LeaseId,
    service: &str,
    script: &str,
) -> String {
    let request = ExecRequest {
        service: service.to_owned(),
        replica: Some(0),
        command: ["sh", "-c", script].map(str::to_owned).into(),
        stdin: false,
        terminal: None,
    };
    let (_input, mut output) = driver.exec(lease, request).await.unwrap();
    let mut text = String::new();
    loop {
        let part = tokio::time::timeout(Duration::from_secs(60), output.next()).await.unwrap();
        match part {
            ExecOutput::Stdout(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
            ExecOutput::Exit(_) => return text,
            other => panic!("{other:?} after {text:?}"),
        }
    }
}

/// A client with a token of a service account, as a pod would have it.
async fn with_token(bed: &Bed, namespace: &str, account: &str) -> kube::Client {
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"});
    let made = post(bed, &path, &request).await.unwrap();
    let token = made["status"]["token"].as_str().unwrap().to_owned();
    let mut kubeconfig = Kubeconfig::read_from(bed.kubeconfig()).unwrap();
    for user in &mut kubeconfig.auth_infos {
        user.auth_info =
            Some(AuthInfo { token: Some(token.clone().into()), ..AuthInfo::default() });
    }
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

/// The status with which a read is answered.
async fn answer(client: &kube::Client, path: &str) -> u16 {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    match client.request::<Value>(request).await {
        Ok(_) => 200,
        Err(kube::Error::Api(refused)) => refused.code,
        Err(other) => panic!("{path}: {other}"),
    }
}

/// What somebody may do with which resources, beyond asking about themselves.
async fn rules(client: &kube::Client, namespace: &str) -> Vec<String> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    });
    let request = http::Request::post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews")
        .header("content-type", "application/json")
        .body(review.to_string().into_bytes())
        .unwrap();
    let answer: Value = client.request(request).await.unwrap();
    let rules = answer["status"]["resourceRules"].as_array().unwrap().clone();
    let resources = rules.iter().flat_map(|rule| rule["resources"].as_array().unwrap());
    resources
        .map(|resource| resource.as_str().unwrap().to_owned())
        .filter(|resource| !resource.starts_with("selfsubject"))
        .collect()
}
