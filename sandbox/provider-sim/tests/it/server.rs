//! A cluster of its own, as a browser and a remote driver see it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::Sdl;
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Inspect, Observe, ReadFailure};
use provider_engine::cluster::view::{Condition, ViewChange};
use provider_sim::core::{ClusterSpec, Delays, Settings};
use provider_sim::remote::RemoteDriver;
use provider_sim::server::{Server, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

async fn server(state: &Path, listen: &str) -> Server {
    let any = "127.0.0.1:0".parse().unwrap();
    let settings = Settings { delays: Delays::default().faster(100), ..Settings::default() };
    Server::start(ServerConfig {
        state: state.to_owned(),
        listen: listen.parse().unwrap(),
        http: any,
        spec: ClusterSpec::small(),
        settings,
        seed: 1,
    })
    .await
    .unwrap()
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
