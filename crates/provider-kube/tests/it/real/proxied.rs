//! An API server that is reached through a proxy.

use std::collections::BTreeMap;

use akash_net::{Outbound, Route};
use kube_access::Access;
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{Changes, Execute, Inspect, Observe};
use provider_engine::cluster::view::ViewChange;
use provider_testkit::kube::{Case, workload};
use provider_testkit::proxy::Tunnels;

use crate::bed::{api_server, connect};

const NAME: &str = "kubernetes.test:6443";

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_works_through_a_proxy_that_alone_knows_the_api_server() {
    let bed = api_server().await;
    let url: http::Uri = bed.url().parse().unwrap();
    let target = url.authority().unwrap().as_str().parse().unwrap();
    let proxy = Tunnels::start(BTreeMap::from([(NAME.to_owned(), target)])).await.unwrap();
    let access = async |except: &str| {
        let outbound = Outbound::new(|name| match name {
            "HTTPS_PROXY" => Some(proxy.url()),
            "NO_PROXY" => Some(except.to_owned()),
            _ => None,
        });
        let access = Access::find(bed.kubeconfig(), &outbound.unwrap()).await.unwrap();
        access.at(format!("https://{NAME}").parse().unwrap())
    };
    // What stands in NO_PROXY is compared with the API server, not with the proxy.
    assert_eq!(access("kubernetes.test").await.route(), Route::Direct);
    assert!(access("kubernetes.test").await.client().unwrap().apiserver_version().await.is_err());
    let access = access("127.0.0.1,other.test").await;
    assert!(matches!(access.route(), Route::Via(_)));
    access.client().unwrap().apiserver_version().await.unwrap();
    assert_eq!(proxy.count(NAME), 1);

    let case = Case::recorded("01-basic").unwrap();
    let (driver, _) = connect(&access, case.settings.clone()).await;
    driver.execute(Operation::Deploy(workload(&case).unwrap().into())).await.unwrap();
    let ViewChange::Whole(view) = driver.observe().next().await else { panic!() };
    assert!(view.leases.contains_key(&case.lease));
    driver.status(case.lease).await.unwrap();
    assert!(proxy.count(NAME) > 1);
}
