//! The socket as a client sees it, with a provider that is not one.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use akash_types::{Address, DecCoin, DeploymentId, GroupId, LeaseId, OrderId};
use provider_engine::cluster::view::{Amounts, Exclusion};
use provider_engine::engine::{BidStatus, InventoryStatus, LeaseStatus, NodeStatus};
use provider_engine::journal::{Decision, Subject};
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal};
use provider_engine::reconcile::Drift;
use provider_engine::{OperatorRequest, Reply, TenantRequest};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use super::wire::{Attempt, Decided, LONGEST_LINE, Request, Response, Status};
use super::{BindError, CtlServer, Operate, Unavailable};

/// Answers what it is told to, and remembers what it was asked.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<OperatorRequest>>,
    sent: Mutex<Vec<TenantRequest>>,
    unavailable: Option<Unavailable>,
    refuses_manifests: bool,
}

impl Operate for Fake {
    fn status(&self) -> Status {
        Status { provider: "akash1me".to_owned(), height: 7, ..Status::default() }
    }

    fn bids(&self) -> Vec<BidStatus> {
        vec![BidStatus {
            order: order(5, 1),
            price: Some(price()),
            stage: "open",
            created_at: Some(6),
        }]
    }

    fn leases(&self) -> Vec<LeaseStatus> {
        let status = |id| LeaseStatus {
            id,
            price: price(),
            stage: "running",
            alive: true,
            lacks_manifest: false,
            funds: None,
        };
        vec![status(lease(101, 1)), status(lease(102, 1)), status(lease(102, 2))]
    }

    fn inventory(&self) -> Option<InventoryStatus> {
        let node = |name: &str, exclusions| NodeStatus {
            name: name.into(),
            exclusions,
            allocatable: Amounts { cpu_milli: 8000, gpu: 2, ..Amounts::default() },
            // Two replicas hold cards, one of which turned unhealthy.
            available: Amounts { cpu_milli: 500, gpu: -1, ..Amounts::default() },
            ..NodeStatus::default()
        };
        Some(InventoryStatus {
            nodes: vec![node("n1", Vec::new()), node("n2", vec![Exclusion::Cordoned])],
            unsold_storage: vec![("nfs".into(), "its size is not known".into())],
            ..InventoryStatus::default()
        })
    }

    fn subjects(&self, dseq: u64) -> Vec<Subject> {
        match dseq {
            101 => vec![Subject::Order(order(101, 1)), Subject::Deployment(deployment(101))],
            _ => Vec::new(),
        }
    }

    fn decisions(&self, subject: Subject) -> Vec<Decided> {
        match subject {
            Subject::Order(_) => vec![Decided {
                height: 3,
                time: 1_700_000_000,
                decision: Decision::Noticed.to_string(),
            }],
            _ => Vec::new(),
        }
    }

    async fn probe_isolation(&self, image: Option<String>) -> Result<Vec<Attempt>, String> {
        let attempt = |target: &str, reached| Attempt {
            from_node: "one".to_owned(),
            target: target.to_owned(),
            address: "10.0.0.1:6443".to_owned(),
            reached,
        };
        match image.as_deref() {
            None => Ok(vec![attempt("api-server", false)]),
            Some("open") => Ok(vec![attempt("api-server", true), attempt("kubelet", false)]),
            Some(image) => Err(format!("no image {image}")),
        }
    }

    async fn operator(&self, request: OperatorRequest) -> Result<Reply, Unavailable> {
        if let Some(why) = self.unavailable {
            return Err(why);
        }
        self.asked.lock().unwrap().push(request.clone());
        Ok(match request {
            OperatorRequest::Drift => Reply::Drift(vec![Drift::OrderUnnoticed(order(9, 1))]),
            OperatorRequest::CloseLease { lease, .. } if lease.dseq() == 999 => {
                Reply::Refused("there is no such lease".to_owned())
            }
            _ => Reply::Done,
        })
    }

    async fn tenant(&self, request: TenantRequest) -> Result<Reply, Unavailable> {
        self.sent.lock().unwrap().push(request);
        Ok(Reply::Manifest(match self.refuses_manifests {
            true => ManifestAnswer::Refused(ManifestRefusal::NoLease),
            false => ManifestAnswer::Accepted { leases: vec![lease(101, 1)] },
        }))
    }
}

fn deployment(dseq: u64) -> DeploymentId {
    DeploymentId::new(Address::from_bytes(&[1; 20]).unwrap(), dseq).unwrap()
}

fn order(dseq: u64, gseq: u32) -> OrderId {
    OrderId::new(GroupId::new(deployment(dseq), gseq).unwrap(), 1).unwrap()
}

fn lease(dseq: u64, gseq: u32) -> LeaseId {
    order(dseq, gseq).bid_id(Address::from_bytes(&[2; 20]).unwrap()).lease_id()
}

fn price() -> DecCoin {
    "1.5uact".parse().unwrap()
}

/// A server that answers until it is dropped.
struct Running {
    folder: TempDir,
    provider: Arc<Fake>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(provider: Fake) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = Arc::new(provider);
        let server = CtlServer::bind(&folder.path().join("sock")).await.unwrap();
        let task = tokio::spawn(server.serve(Arc::clone(&provider)));
        Self { folder, provider, task }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    async fn ask(&self, request: &Request) -> Response {
        let mut client = Client::connect(&self.path()).await;
        client.say(&serde_json::to_string(request).unwrap()).await;
        client.hear().await.unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    async fn connect(path: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(path).await.unwrap()))
    }

    async fn say(&mut self, line: &str) {
        // Whoever is hung up on hears of it when listening.
        let _ = self.0.get_mut().write_all(format!("{line}\n").as_bytes()).await;
    }

    async fn hear(&mut self) -> Option<Response> {
        let mut line = String::new();
        match self.0.read_line(&mut line).await {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }
}

fn error(response: Response) -> (String, Option<String>) {
    match response {
        Response::Error { message, hint } => (message, hint),
        other => panic!("{other:?}"),
    }
}

fn done(response: Response) -> String {
    match response {
        Response::Done { message } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_connection_answers_many_questions_in_order() {
    let running = Running::start(Fake::default()).await;
    let mut client = Client::connect(&running.path()).await;
    for request in [Request::Status, Request::Bids, Request::Leases, Request::Drift] {
        client.say(&serde_json::to_string(&request).unwrap()).await;
    }
    let Some(Response::Status(status)) = client.hear().await else { panic!() };
    assert_eq!((status.provider.as_str(), status.height), ("akash1me", 7));
    let Some(Response::Bids { bids }) = client.hear().await else { panic!() };
    assert_eq!(bids[0].order, order(5, 1).to_string());
    assert_eq!(bids[0].since_height, Some(6));
    let Some(Response::Leases { leases }) = client.hear().await else { panic!() };
    assert_eq!(leases.len(), 3);
    assert_eq!(leases[0].id, lease(101, 1).to_string());
    let Some(Response::Drift { drift }) = client.hear().await else { panic!() };
    assert_eq!(drift[0].code, "order_unnoticed");
}

#[tokio::test]
async fn the_inventory_says_what_is_left_and_why_something_is_not_sold() {
    let running = Running::start(Fake::default()).await;
    let Response::Inventory(inventory) = running.ask(&Request::Inventory).await else { panic!() };
    assert!(!inventory.fresh);
    let [n1, n2] = &*inventory.nodes else { panic!("{inventory:?}") };
    assert!(n1.excluded.is_empty());
    assert_eq!(n2.excluded, ["cordoned"]);
    assert_eq!((n1.cpu_milli.allocatable, n1.cpu_milli.available), (8000, 500));
    // Never less than nothing.
    assert_eq!((n1.gpu.allocatable, n1.gpu.available), (2, 0));
    let [nfs] = &*inventory.storage else { panic!("{inventory:?}") };
    assert_eq!(nfs.unsold.as_deref(), Some("its size is not known"));
}

#[tokio::test]
async fn why_takes_an_order_a_lease_or_a_number() {
    let running = Running::start(Fake::default()).await;
    for subject in [order(101, 1).to_string(), lease(101, 1).to_string(), "101".to_owned()] {
        let Response::Why { subjects } = running.ask(&Request::Why { subject }).await else {
            panic!()
        };
        // The deployment has nothing to say and is left out.
        assert_eq!(subjects.len(), 1);
        assert_eq!(subjects[0].subject, order(101, 1).to_string());
        assert_eq!(subjects[0].decisions[0].decision, "the order was noticed");
        assert_eq!(subjects[0].decisions[0].time, 1_700_000_000);
    }
    for (subject, wanted) in
        [("77", "nothing was decided about 77"), ("what", "\"what\" names nothing")]
    {
        let (message, hint) = error(running.ask(&Request::Why { subject: subject.into() }).await);
        assert_eq!(message, wanted);
        assert!(hint.is_some());
    }
}

#[tokio::test]
async fn a_lease_is_closed_by_its_number_if_that_is_enough() {
    let running = Running::start(Fake::default()).await;
    let close = |lease: &str, reason: &str| Request::LeaseClose {
        lease: lease.to_owned(),
        reason: reason.to_owned(),
    };
    done(running.ask(&close("101", "decommission")).await);
    done(running.ask(&close(&lease(102, 2).to_string(), "10777")).await);
    {
        let asked = running.provider.asked.lock().unwrap();
        let OperatorRequest::CloseLease { lease: first, reason } = &asked[0] else { panic!() };
        assert_eq!((*first, reason.code()), (lease(101, 1), 10_001));
        let OperatorRequest::CloseLease { lease: second, reason } = &asked[1] else { panic!() };
        assert_eq!((*second, reason.code()), (lease(102, 2), 10_777));
    }
    for (request, wanted) in [
        (close("102", "unstable"), "102 is the number of several leases"),
        (close("7", "unstable"), "the provider has no lease 7"),
        (close("101", "spite"), "\"spite\" is not a reason"),
        (close("101", "20000"), "\"20000\" is not a reason"),
        (close(&lease(999, 1).to_string(), "unstable"), "there is no such lease"),
    ] {
        let (message, _) = error(running.ask(&request).await);
        assert!(message.contains(wanted), "{message}");
    }
}

#[tokio::test]
async fn maintenance_withdrawals_and_the_breaker_reach_the_engine() {
    let running = Running::start(Fake::default()).await;
    for request in [
        Request::Maintenance { on: true },
        Request::Withdraw { lease: None },
        Request::Withdraw { lease: Some("101".to_owned()) },
        Request::BreakerReset,
    ] {
        assert!(!done(running.ask(&request).await).is_empty());
    }
    assert_eq!(
        *running.provider.asked.lock().unwrap(),
        [
            OperatorRequest::Maintenance(true),
            OperatorRequest::Withdraw(None),
            OperatorRequest::Withdraw(Some(lease(101, 1))),
            OperatorRequest::ResetBreaker,
        ]
    );
}

#[tokio::test]
async fn a_probe_that_found_nothing_out_is_an_error_and_not_isolation() {
    let running = Running::start(Fake::default()).await;
    let probe = async |image: Option<&str>| {
        running.ask(&Request::ProbeIsolation { image: image.map(str::to_owned) }).await
    };
    let is_isolated = |response: Response| match response {
        Response::Isolation { isolated, attempts } => (isolated, attempts.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(is_isolated(probe(None).await), (true, 1));
    assert_eq!(is_isolated(probe(Some("open")).await), (false, 2));
    let Response::Error { message, .. } = probe(Some("missing")).await else { panic!() };
    assert!(message.contains("isolation is unknown") && message.contains("missing"), "{message}");
}

#[tokio::test]
async fn a_manifest_is_sent_as_sdl_or_as_json() {
    let sdl = include_str!("../../../../examples/hello.yaml");
    let manifest = akash_sdl::Sdl::read(sdl).unwrap().into_parts().1;
    let running = Running::start(Fake::default()).await;
    for text in [sdl.to_owned(), manifest.to_json_pretty()] {
        let request = Request::SendManifest { subject: "102".to_owned(), manifest: text };
        assert!(done(running.ask(&request).await).contains("accepted"));
    }
    for request in &*running.provider.sent.lock().unwrap() {
        let TenantRequest::Manifest { deployment: sent, manifest: what, .. } = request else {
            panic!()
        };
        assert_eq!(*sent, deployment(102));
        assert_eq!(what.version(), manifest.version());
    }
    for (subject, text, wanted) in [
        ("102", "services: [", "the SDL is not valid"),
        ("102", "[{]", "the manifest cannot be read"),
        ("55", sdl, "the provider has no lease 55"),
    ] {
        let request =
            Request::SendManifest { subject: subject.to_owned(), manifest: text.to_owned() };
        let (message, hint) = error(running.ask(&request).await);
        assert!(message.contains(wanted), "{message}");
        assert!(hint.is_some());
    }
    let running = Running::start(Fake { refuses_manifests: true, ..Fake::default() }).await;
    let request = Request::SendManifest { subject: "101".to_owned(), manifest: sdl.to_owned() };
    assert_eq!(error(running.ask(&request).await).0, "no lease for deployment");
}

#[tokio::test]
async fn a_provider_without_an_answer_says_why() {
    for (why, said, remedy) in [
        (Unavailable::Busy, "the provider has too much to do", "try again in a moment"),
        (Unavailable::Stopping, "the provider is stopping", "start it again, then ask"),
        (
            Unavailable::TimedOut,
            "the provider did not answer in time; it may have been done all the same",
            "see `provider-services ctl status` and `ctl leases`",
        ),
    ] {
        let running = Running::start(Fake { unavailable: Some(why), ..Fake::default() }).await;
        let (message, hint) = error(running.ask(&Request::Drift).await);
        assert_eq!(message, said);
        assert_eq!(hint.as_deref(), Some(remedy));
        // What is only read needs nobody's time.
        assert!(matches!(running.ask(&Request::Status).await, Response::Status(_)));
    }
}

#[tokio::test]
async fn what_cannot_be_read_ends_the_connection_with_a_reason() {
    let running = Running::start(Fake::default()).await;
    for line in ["nonsense", "{\"request\":\"frobnicate\"}", "{}"] {
        let mut client = Client::connect(&running.path()).await;
        client.say(line).await;
        let (message, _) = error(client.hear().await.unwrap());
        assert!(message.contains("cannot be read"), "{message}");
        assert_eq!(client.hear().await, None);
    }
    assert!(matches!(running.ask(&Request::Status).await, Response::Status(_)));
}

#[tokio::test]
async fn a_line_without_end_is_cut_off() {
    let running = Running::start(Fake::default()).await;
    let stream = UnixStream::connect(running.path()).await.unwrap();
    let (read, mut write) = stream.into_split();
    let writing = tokio::spawn(async move {
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..=LONGEST_LINE >> 20 {
            if write.write_all(&chunk).await.is_err() {
                return;
            }
        }
    });
    let mut line = String::new();
    BufReader::new(read).read_line(&mut line).await.unwrap();
    assert!(line.contains("too long"), "{line}");
    writing.await.unwrap();
}

#[tokio::test]
async fn the_socket_is_its_owners_alone() {
    let running = Running::start(Fake::default()).await;
    let mode = std::fs::metadata(running.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_socket_in_use_is_left_alone_and_a_stale_one_replaced() {
    let running = Running::start(Fake::default()).await;
    let path = running.path();
    let refused = CtlServer::bind(&path).await;
    assert!(matches!(refused, Err(BindError::InUse(_))), "{refused:?}");
    assert!(matches!(running.ask(&Request::Status).await, Response::Status(_)));

    // A process that is killed leaves its file behind.
    let stale = running.folder.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert!(stale.exists());
    let server = CtlServer::bind(&stale).await.unwrap();
    let task = tokio::spawn(server.serve(Arc::new(Fake::default())));
    Client::connect(&stale).await;
    task.abort();
    let _ = task.await;
    assert!(!stale.exists(), "the file goes with the server");
}

#[tokio::test]
async fn what_is_not_a_socket_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("precious");
    std::fs::write(&file, "data").unwrap();
    let refused = CtlServer::bind(&file).await;
    assert!(matches!(refused, Err(BindError::NotASocket(_))), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "data");
    let long = folder.path().join("x".repeat(120));
    let refused = CtlServer::bind(&long).await;
    assert!(matches!(refused, Err(BindError::TooLong(_))), "{refused:?}");
}
