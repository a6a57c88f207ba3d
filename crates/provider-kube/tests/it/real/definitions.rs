//! A cluster whose definitions of our kinds are older than this program.

use std::sync::Arc;
use std::time::Duration;

use akash_sdl::manifest::ProxyOptions;
use kube_access::{KubeClient, ResourceKind};
use kube_bed::Bed;
use provider_crd::{custom_resource_definitions, names};
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Execute, Inspect};
use provider_kube::definitions::lost_fields;
use provider_testkit::kube::{Case, workload};
use serde_json::Value;

use crate::bed::{self, api_server, driver, get, until};

const PROXY: &str = "spec.group.services[0].expose[0].http_options.proxy";

/// A workload whose first service has options of the proxy.
fn with_proxy(case: &Case) -> Arc<Workload> {
    let mut wanted = workload(case).unwrap();
    let services = &mut Arc::make_mut(&mut wanted.group).services;
    let expose = services[0].expose.iter_mut().flatten().next().unwrap();
    expose.http_options.proxy =
        Some(ProxyOptions { buffer_size: Some(8192), ..ProxyOptions::default() });
    Arc::new(wanted)
}

async fn apply(bed: &Bed, definition: &Value) {
    let outbound = akash_net::Outbound::default();
    let access = kube_access::Access::find(bed.kubeconfig(), &outbound).await.unwrap();
    let client = KubeClient::new(
        access.client().unwrap(),
        Duration::from_secs(30),
        Arc::new(|_: &str, _| {}),
    );
    let name = definition["metadata"]["name"].as_str().unwrap();
    client.apply(ResourceKind::DEFINITION, name, definition, "akash-provider").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_an_older_definition_drops_are_told_and_kept_once_it_is_newer() {
    let bed = api_server().await;
    let newer = custom_resource_definitions().remove(0);
    let mut older = newer.clone();
    let versions = older.pointer_mut("/spec/versions").unwrap().as_array_mut().unwrap();
    for version in versions {
        let services =
            "/schema/openAPIV3Schema/properties/spec/properties/group/properties/services";
        let expose = format!("{services}/items/properties/expose/items/properties");
        let options = format!("{expose}/http_options/properties");
        version.pointer_mut(&options).unwrap().as_object_mut().unwrap().remove("proxy").unwrap();
    }
    apply(&bed, &older).await;
    let provider = bed::provider(&bed).await;
    let client = KubeClient::new(
        provider.client().unwrap(),
        Duration::from_secs(10),
        Arc::new(|_: &str, _| {}),
    );
    // A definition that was changed is served a moment later.
    let wanted = [format!("Manifest {PROXY}")];
    until("the older definition", async || {
        lost_fields(&client, "lease").await == Ok(wanted.to_vec())
    })
    .await;

    let case = Case::recorded("01-basic").unwrap();
    let (driver, _) = driver(&bed, case.settings.clone()).await;
    let sent = with_proxy(&case);
    let service = sent.group.services[0].name.clone();
    let path = format!(
        "{}/{}",
        ResourceKind::MANIFEST.path(Some("lease")),
        names::lease_namespace(&case.lease)
    );
    for _ in 0..2 {
        driver.execute(Operation::Hold(Arc::clone(&sent))).await.unwrap();
        driver.execute(Operation::Deploy(Arc::clone(&sent))).await.unwrap();
        let held = driver.manifest(case.lease).await.unwrap();
        let ignored = held.ignored.get(&service).cloned().unwrap_or_default();
        assert_eq!(ignored, ["expose[0].http_options.proxy"]);
        assert!(held.deployed);
    }
    let revision = get(&bed, &path).await.unwrap()["metadata"]["resourceVersion"].clone();
    driver.execute(Operation::Deploy(Arc::clone(&sent))).await.unwrap();
    let there = get(&bed, &path).await.unwrap();
    assert_eq!(there["metadata"]["resourceVersion"], revision, "nothing is written again");

    apply(&bed, &newer).await;
    until("the newer definition", async || lost_fields(&client, "lease").await == Ok(vec![])).await;
    driver.execute(Operation::Deploy(Arc::clone(&sent))).await.unwrap();
    let held = driver.manifest(case.lease).await.unwrap();
    assert!(held.ignored.is_empty(), "{:?}", held.ignored);
    let there = get(&bed, &path).await.unwrap();
    assert_eq!(
        there.pointer("/spec/group/services/0/expose/0/http_options/proxy/buffer_size"),
        Some(&Value::from(8192))
    );
}
