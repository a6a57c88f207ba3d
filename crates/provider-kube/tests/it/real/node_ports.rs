//! Ports on nodes, as a real API server has and gives them.

use kube_access::ResourceKind;
use provider_engine::cluster::port::{Changes, Observe};
use provider_engine::cluster::view::{PortPool, ViewChange};
use provider_testkit::kube::Case;
use serde_json::json;

use crate::bed::{api_server, driver, post};

#[tokio::test(flavor = "multi_thread")]
async fn ports_of_services_that_are_not_of_leases_are_not_sold() {
    let bed = api_server().await;
    let case = Case::recorded("01-basic").unwrap();
    let (driver, _) = driver(&bed, case.settings).await;
    let mut changes = driver.observe();
    let ViewChange::Whole(view) = changes.next().await else { panic!() };
    // The range of an API server that was started without another one.
    assert_eq!(view.ports, Some(PortPool { total: 2768, others: 0 }));

    let ports =
        json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}, {"name": "c", "port": 82}]);
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "others"},
        "spec": {"type": "NodePort", "ports": ports},
    });
    post(&bed, &ResourceKind::SERVICE.path(Some("default")), &service).await.unwrap();
    let waiting = async {
        loop {
            if let ViewChange::Ports(pool) = changes.next().await {
                return pool;
            }
        }
    };
    let limit = std::time::Duration::from_secs(120);
    let told = tokio::time::timeout(limit, waiting).await.unwrap();
    assert_eq!(told, Some(PortPool { total: 2768, others: 3 }));
}
