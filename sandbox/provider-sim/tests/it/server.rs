//! A cluster of its own, as a browser and a remote driver see it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use akash_sdl::Sdl;
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::port::{
    Changes, EventQuery, EventStream, Exec, ExecInput, ExecOutput, ExecRequest, Execute, Input,
    Inspect, Observe, Output, ReadFailure, ServiceChoice,
};
use provider_engine::cluster::view::{Condition, ViewChange};
use provider_sim::core::{ClusterSpec, Delays, Settings};
use provider_sim::remote::RemoteDriver;
use provider_sim::server::{Server, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

/// A process of its own; one that was dropped keeps its file and its port for a moment.
async fn server(state: &Path, listen: &str) -> Server {
    let settings = Settings { delays: Delays::default().faster(100), ..Settings::default() };
    let config = || ServerConfig {
        state: state.to_owned(),
        listen: listen.parse().unwrap(),
        http: "127.0.0.1:0".parse().unwrap(),
        spec: ClusterSpec::small(),
        settings: settings.clone(),
        seed: 1,
    };
    let started = async {
        loop {
            match Server::start(config()).await {
                Ok(server) => return server,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), started).await.expect("it does not start")
}

/// The workload of each example that is in the repository.
fn examples() -> Vec<Arc<Workload>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut workloads: Vec<Arc<Workload>> = Vec::new();
    for path in files.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let sdl = Sdl::read(&text).unwrap();
        let manifest = sdl.manifest();
        for (index, group) in manifest.groups.iter().enumerate() {
            let dseq = 100 * workloads.len() + index + 1;
            workloads.push(Arc::new(Workload {
                lease: format!("{OWNER}/{dseq}/1/1/{OWNER}").parse().unwrap(),
                version: Some(manifest.version()),
                group: Arc::new(group.clone()),
                cards: BTreeMap::new(),
                withheld: vec![],
                endpoints_to_take: vec![],
                ignored: BTreeMap::new(),
            }));
        }
    }
    assert!(workloads.len() > 3);
    workloads
}

async fn get(address: SocketAddr, host: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {host}:80\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn every_example_runs_and_its_hostnames_say_that_it_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder.path().join("state"), "127.0.0.1:0").await;
    let driver = RemoteDriver::new(server.address());
    let mut pages = 0;
    for workload in examples() {
        driver.execute(Operation::Deploy(Arc::clone(&workload))).await.unwrap();
        // What went over the wire is what was sent.
        let held = driver.manifest(workload.lease).await.unwrap();
        assert_eq!((held.group, held.version), (Arc::clone(&workload.group), workload.version));
        let mut changes = driver.observe();
        loop {
            let lease = match changes.next().await {
                ViewChange::Whole(view) => view.leases.get(&workload.lease).cloned(),
                ViewChange::Lease(lease) => Some(*lease),
                _ => None,
            };
            let ready = |lease: &provider_engine::cluster::view::LeaseView| {
                lease.replicas.iter().all(|replica| replica.condition == Condition::Ready)
            };
            let Some(lease) = lease.filter(|lease| lease.id == workload.lease) else { continue };
            let mut conditions = lease.replicas.iter().map(|replica| &replica.condition);
            if let Some(Condition::Unschedulable(why)) =
                conditions.find(|condition| matches!(condition, Condition::Unschedulable(_)))
            {
                // An example may ask for hardware that the small cluster lacks, and is told so.
                assert!(why.contains("GPU") || why.contains("storage class"), "{why}");
                break;
            }
            if ready(&lease) {
                for host in &lease.hostnames {
                    let page = get(server.http_address(), host).await;
                    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
                    assert!(page.contains("This is a SIMULATED workload"), "{page}");
                    assert!(page.contains(&workload.lease.to_string()), "{page}");
                    pages += 1;
                }
                break;
            }
        }
    }
    assert!(pages > 3, "{pages}");
}

#[tokio::test]
async fn a_watcher_hears_of_the_end_and_of_the_return_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let first = server(&state, "127.0.0.1:0").await;
    let address = first.address();
    let driver = RemoteDriver::new(address);
    let mut changes = driver.observe();
    assert!(matches!(changes.next().await, ViewChange::Whole(_)));
    drop(first);
    assert_eq!(changes.next().await, ViewChange::Lost);
    let maintain = driver.execute(Operation::Maintain(true)).await;
    assert!(matches!(maintain, Err(CommandFailure::Unavailable(_))), "{maintain:?}");
    let lease = examples()[0].lease;
    let status = driver.status(lease).await;
    assert!(matches!(status, Err(ReadFailure::Unavailable(_))), "{status:?}");
    // Nothing more is said until there is something to say.
    let more = tokio::time::timeout(Duration::from_millis(300), changes.next()).await;
    assert!(more.is_err(), "{more:?}");
    let _second = server(&state, &address.to_string()).await;
    assert!(matches!(changes.next().await, ViewChange::Whole(_)));
}

#[tokio::test]
async fn what_is_no_request_ends_the_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder.path().join("state"), "127.0.0.1:0").await;
    for nonsense in ["\n", "GET / HTTP/1.1\r\n\r\n", "{\"Execute\":7}\n", "[[[[", "\u{0}\n"] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(nonsense.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty(), "{nonsense:?}");
    }
    let driver = RemoteDriver::new(server.address());
    assert_eq!(driver.execute(Operation::Maintain(true)).await, Ok(()));
}

/// Deploys the first example and waits until its replicas are ready; its lease and a service.
async fn running(driver: &RemoteDriver) -> (akash_types::LeaseId, String) {
    let workload = examples().swap_remove(0);
    driver.execute(Operation::Deploy(Arc::clone(&workload))).await.unwrap();
    loop {
        let status = driver.status(workload.lease).await.unwrap();
        match status.services.iter().find(|service| service.counts.ready > 0) {
            Some(service) => return (workload.lease, service.name.clone()),
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Counts the connections that go through it.
async fn counting(to: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                // A process that is gone is a connection that ends.
                if let Ok(mut to) = TcpStream::connect(to).await {
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                }
            });
        }
    });
    (address, count)
}

#[tokio::test]
async fn what_only_reads_is_asked_over_one_connection_that_may_end() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let first = server(&state, "127.0.0.1:0").await;
    let address = first.address();
    let (proxy, connections) = counting(address).await;
    let driver = RemoteDriver::new(proxy);
    let (lease, service) = running(&driver).await;
    let before = connections.load(Ordering::Relaxed);
    for _ in 0..5 {
        driver.status(lease).await.unwrap();
        driver.service(lease, &service).await.unwrap();
        driver.manifest(lease).await.unwrap();
        let nothing = driver.service(lease, "nope").await;
        assert!(matches!(nothing, Err(ReadFailure::NotFound(_))), "{nothing:?}");
        let query = EventQuery { services: ServiceChoice::All, follow: false };
        let mut events = driver.events(lease, query).await.unwrap();
        assert!(events.next().await.unwrap().is_some());
        while events.next().await.unwrap().is_some() {}
        assert!(events.next().await.unwrap().is_none());
    }
    assert_eq!(connections.load(Ordering::Relaxed), before);
    // The process starts anew: what was kept is of no use, and nobody notices.
    drop(first);
    let _second = server(&state, &address.to_string()).await;
    driver.status(lease).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_on_after_both_directions_were_full() {
    const PARTS: usize = 4_000;
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder.path().join("state"), "127.0.0.1:0").await;
    let driver = RemoteDriver::new(server.address());
    let (lease, service) = running(&driver).await;
    let request = ExecRequest {
        service,
        replica: None,
        command: vec!["cat".to_owned()],
        stdin: true,
        terminal: None,
    };
    let (mut input, mut output) = driver.exec(lease, request).await.unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let sending = tokio::spawn(async move {
        for _ in 0..PARTS {
            assert!(input.send(ExecInput::Stdin(vec![b'x'; ExecInput::PART])).await);
            counted.fetch_add(1, Ordering::Relaxed);
        }
        assert!(input.send(ExecInput::EndOfStdin).await);
    });
    // Until nothing more is taken.
    let mut before = usize::MAX;
    while before != sent.load(Ordering::Relaxed) {
        before = sent.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!((1..PARTS).contains(&before), "{before}");
    let mut read = 0;
    let reading = async {
        loop {
            match output.next().await {
                ExecOutput::Stdout(bytes) => read += bytes.len(),
                ExecOutput::Exit(0) => return,
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(2), reading).await.expect("it goes on");
    assert_eq!(read, PARTS * ExecInput::PART);
    sending.await.unwrap();
}
