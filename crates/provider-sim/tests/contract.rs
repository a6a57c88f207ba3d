//! The clauses that every driver holds to, on the simulated cluster in this process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::time::Duration;

use provider_sim::core::{ClusterSpec, Delays, Disturbance, Settings, SimCluster};
use provider_sim::driver::SimDriver;
use provider_testkit::contract::{Capabilities, Harness, Program, run_all};

struct InProcess(SimDriver);

fn program(program: Program) -> (String, Option<Vec<String>>) {
    let image = match program {
        Program::Serves => "nginx:1",
        Program::ServesOther => "nginx:2",
        Program::Missing => "web:missing",
        Program::Crashes => "web:crash",
        Program::WritesLongLine => "web:long",
    };
    (image.to_owned(), None)
}

impl Harness for InProcess {
    type Driver = SimDriver;

    fn driver(&self) -> SimDriver {
        self.0.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn program(&self, which: Program) -> (String, Option<Vec<String>>) {
        program(which)
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(20)
    }

    async fn restart(&self) -> SimDriver {
        self.0.clone()
    }

    async fn break_api(&self) {
        self.0.disturb(Disturbance::ApiDown(None)).await.unwrap();
    }

    async fn restore_api(&self) {
        self.0.disturb(Disturbance::ApiUp).await.unwrap();
    }

    async fn lose_node(&self, name: &str) {
        self.0.disturb(Disturbance::NodeLost(name.into())).await.unwrap();
    }

    async fn return_node(&self, name: &str) {
        self.0.disturb(Disturbance::NodeBack(name.into())).await.unwrap();
    }
}

#[tokio::test]
async fn the_driver_in_this_process_holds_to_the_contract() {
    let settings = Settings { delays: Delays::hasty(), ..Settings::default() };
    let harness = InProcess(SimDriver::start(SimCluster::new(ClusterSpec::small(), settings, 3)));
    let report = run_all(&harness).await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.left_out, [""; 0]);
    assert_eq!(report.held.len(), 27);
}
