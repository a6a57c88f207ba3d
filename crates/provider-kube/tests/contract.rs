//! The clauses that every driver holds to, on a real API server with real controllers. Pods are
//! played: their status follows from their image, and nothing runs.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod bed;

use std::time::Duration;

use bed::{connect, control_plane, kubelet};
use provider_kube::KubeDriver;
use provider_kube::client::Access;
use provider_kube::settings::Settings;
use provider_testkit::contract::{Capabilities, Harness, Program, run_all};
use provider_testkit::proxy::{Mode, Proxy};

struct OnBed {
    access: Access,
    proxy: Proxy,
    driver: std::sync::Mutex<KubeDriver>,
}

impl Harness for OnBed {
    type Driver = KubeDriver;

    fn driver(&self) -> KubeDriver {
        self.driver.lock().unwrap().clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { logs: false, exec: false, ips: false, node_loss: false, ..Capabilities::ALL }
    }

    fn program(&self, program: Program) -> (String, Option<Vec<String>>) {
        let image = match program {
            Program::Serves => "test/serve",
            Program::ServesOther => "test/serve-other",
            Program::Missing => "test/missing",
            Program::Crashes => "test/crash",
            Program::WritesLongLine => "test/long",
        };
        (image.to_owned(), None)
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(30)
    }

    async fn restart(&self) -> KubeDriver {
        let (driver, _) = connect(&self.access, Settings::default()).await;
        *self.driver.lock().unwrap() = driver.clone();
        driver
    }

    async fn break_api(&self) {
        self.proxy.set(Mode::Reset);
    }

    async fn restore_api(&self) {
        self.proxy.set(Mode::Pass);
    }

    async fn lose_node(&self, _: &str) {}

    async fn return_node(&self, _: &str) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_holds_to_the_contract_on_a_real_api_server() {
    let bed = control_plane().await;
    let _kubelet = kubelet::start(bed.client()).await;
    let url: http::Uri = bed.url().parse().unwrap();
    let target = url.authority().unwrap().as_str().parse().unwrap();
    let proxy = Proxy::start(target).await.unwrap();
    let access = Access::find(bed.kubeconfig()).await.unwrap();
    let access = access.at(format!("https://{}", proxy.address()).parse().unwrap());
    let (driver, _) = connect(&access, Settings::default()).await;
    let harness = OnBed { access, proxy, driver: driver.into() };
    let report = run_all(&harness).await;
    println!("{report}");
    assert!(report.is_clean(), "{report}");
    assert!(report.held.len() >= 18, "{report}");
}
