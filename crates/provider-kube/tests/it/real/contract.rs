//! The clauses that every driver holds to: on a real API server with real controllers, where pods
//! are played by their images and nothing runs, and on a real node, where they do.

use std::sync::Arc;
use std::time::Duration;

use kube_access::Access;
use kube_bed::{Bed, Image, Node};
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{
    Exec, ExecInput, ExecOutput, ExecRequest, Execute, Input, Inspect, Output, Phase, Terminal,
};
use provider_kube::KubeDriver;
use provider_kube::settings::Settings;
use provider_testkit::contract::{Capabilities, Harness, Program, run_together};
use provider_testkit::kube::{Case, workload};
use provider_testkit::proxy::{Mode, Proxy};

use crate::bed::{self, connect, control_plane, kubelet};

/// What a cluster can be tried on, and how it is.
struct OnBed {
    access: Access,
    proxy: Proxy,
    driver: std::sync::Mutex<KubeDriver>,
    capabilities: Capabilities,
    program: fn(Program) -> (String, Option<Vec<String>>),
    patience: Duration,
}

impl OnBed {
    /// A driver that reaches the bed through a proxy.
    async fn new(bed: &Bed, program: fn(Program) -> (String, Option<Vec<String>>)) -> Self {
        let url: http::Uri = bed.url().parse().unwrap();
        let target = url.authority().unwrap().as_str().parse().unwrap();
        let proxy = Proxy::start(target).await.unwrap();
        let access = bed::provider(bed).await;
        let access = access.at(format!("https://{}", proxy.address()).parse().unwrap());
        let (driver, _) = connect(&access, Settings::default()).await;
        let capabilities = Capabilities {
            logs: false,
            exec: false,
            ips: false,
            node_loss: false,
            ..Capabilities::ALL
        };
        let patience = Duration::from_secs(30);
        Self { access, proxy, driver: driver.into(), capabilities, program, patience }
    }
}

impl Harness for OnBed {
    type Driver = KubeDriver;

    fn driver(&self) -> KubeDriver {
        self.driver.lock().unwrap().clone()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn program(&self, program: Program) -> (String, Option<Vec<String>>) {
        (self.program)(program)
    }

    fn patience(&self) -> Duration {
        self.patience
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

/// Namespaces take a while to go, so clauses are tried together.
const AT_ONCE: usize = 8;

/// Images that the played kubelet knows.
fn played(program: Program) -> (String, Option<Vec<String>>) {
    let image = match program {
        Program::Serves => "test/serve",
        Program::ServesOther => "test/serve-other",
        Program::Missing => "test/missing",
        Program::Crashes => "test/crash",
        Program::WritesLongLine => "test/long",
    };
    (image.to_owned(), None)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_holds_to_the_contract_on_a_real_api_server() {
    let bed = control_plane().await;
    let _kubelet = kubelet::start(bed.client()).await;
    let harness = OnBed::new(&bed, played).await;
    let report = run_together(&harness, AT_ONCE).await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.held.len(), 18, "{report}");
}

const IMAGE: &str = "localhost/contract:1";

/// Programs that really run.
fn real(program: Program) -> (String, Option<Vec<String>>) {
    let serves = |first: &str, said: &str| {
        format!("trap 'exit 0' TERM; {first} while :; do echo {said}; sleep 0.3 & wait $!; done")
    };
    let script = match program {
        Program::Serves => serves("", "tick"),
        Program::ServesOther => serves("", "tock"),
        Program::Missing => return ("localhost/missing:1".to_owned(), None),
        Program::Crashes => "echo about to fail; sleep 1; exit 1".to_owned(),
        Program::WritesLongLine => serves("head -c 1100000 /dev/zero | tr '\\0' x; echo;", "tick"),
    };
    let command = ["sh", "-c", &script].map(str::to_owned);
    (IMAGE.to_owned(), Some(command.into()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_holds_to_the_contract_on_a_real_node() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let node = bed::node().await;
    node.import(&Image::busybox(IMAGE, &["sh"]).unwrap()).unwrap();
    let mut harness = OnBed::new(&node, real).await;
    harness.capabilities.logs = true;
    harness.capabilities.exec = true;
    harness.patience = Duration::from_secs(90);
    let report = run_together(&harness, AT_ONCE).await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.held.len(), 25, "{report}");
    a_terminal_has_the_size_that_it_is_given(&harness.driver()).await;
}

/// The clauses run commands without a terminal; this is one with.
async fn a_terminal_has_the_size_that_it_is_given(driver: &KubeDriver) {
    let mut wanted = workload(&Case::recorded("01-basic").unwrap()).unwrap();
    let service = &mut Arc::make_mut(&mut wanted.group).services[0];
    (service.image, service.command) = real(Program::Serves);
    let (lease, name) = (wanted.lease, service.name.clone());
    driver.execute(Operation::Deploy(Arc::new(wanted))).await.unwrap();
    bed::until("the service runs", async || {
        let status = driver.service(lease, &name).await;
        status.is_ok_and(|status| status.phase == Phase::Ready)
    })
    .await;
    // A size is told beside everything else, so the command waits for it.
    let is = |size: &str| format!("while [ \"$(stty size)\" != '{size}' ]; do sleep 0.1; done;");
    let script = format!(
        "{} echo first; read line; {} echo \"got $line\" >&2; exit 7",
        is("24 80"),
        is("50 132")
    );
    let request = ExecRequest {
        service: name,
        replica: Some(0),
        command: ["sh", "-c", &script].map(str::to_owned).into(),
        stdin: true,
        terminal: Some(Terminal { width: 80, height: 24 }),
    };
    let (mut input, mut output) = driver.exec(lease, request).await.unwrap();
    let mut text = String::new();
    let mut is_resized = false;
    let code = loop {
        let part = tokio::time::timeout(Duration::from_secs(60), output.next()).await;
        match part.unwrap_or_else(|_| panic!("nothing after {text:?}")) {
            ExecOutput::Stdout(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
            ExecOutput::Exit(code) => break code,
            other => panic!("{other:?} after {text:?}"),
        }
        if text.contains("first") && !std::mem::replace(&mut is_resized, true) {
            let larger = Terminal { width: 132, height: 50 };
            assert!(input.send(ExecInput::Resize(larger)).await);
            assert!(input.send(ExecInput::Stdin(b"hello\n".to_vec())).await);
        }
    };
    // With a terminal, errors come with the output.
    assert!(text.contains("got hello"), "{text:?}");
    assert_eq!(code, 7);
}
