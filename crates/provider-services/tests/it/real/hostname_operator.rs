//! `operator hostname` as a process, on a real API server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use akash_types::LeaseId;
use kube_access::follow::{Source, WatchEvent, follow};
use kube_access::{Access, CachedObject, Counter, KubeClient, ResourceKind};
use kube_bed::Bed;
use provider_crd::{ProviderHost, names};
use provider_operators::hostname::build::route;
use provider_operators::hostname::claim::Claim;
use provider_operators::hostname::exposed::ExposedPorts;
use provider_operators::hostname::settings::Settings;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::bed::{api_server, until};
use crate::common::{self, case, delete, hosts, ingresses, merged, put, put_namespace, recorded};

/// Hosts that come, move and go.
const HOSTS: u64 = 16;
/// Leases between which they move: of one tenant, and the last of another.
const LEASES: u64 = 4;
/// After so long, a claim that moved is no reason for a route any more, however busy the machine is.
const LAG: Duration = Duration::from_secs(15);
const STRANGER: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27";

/// Numbers that look random, and are the same again for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

struct Operator(Child);

impl Operator {
    /// Starts one; where it answers: REST, and gRPC.
    fn start(kubeconfig: &Path) -> (Self, String, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_provider-services"))
            .args(["operator", "hostname", "--rest-address", "127.0.0.1", "--rest-port", "0"])
            .args(["--grpc-port", "0", "--retry-delay", "200ms", "--web-refresh-interval", "10ms"])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send, lines) = std::sync::mpsc::channel();
        for stream in [Box::new(out) as Box<dyn std::io::Read + Send>, Box::new(err)] {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = send.send(line);
                }
            });
        }
        let line = loop {
            let line = lines.recv_timeout(Duration::from_secs(60)).expect("it does not start");
            if line.contains("answering at ") {
                break line;
            }
        };
        let (_, rest) = line.split_once("answering at ").unwrap();
        let (rest, grpc) = rest.split_once(", gRPC at ").unwrap();
        (Self(child), rest.trim().to_owned(), grpc.trim().to_owned())
    }

    /// SIGKILL.
    fn kill(mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None, "it ended by itself");
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Who claims which host, and until when they did.
#[derive(Default)]
struct Claims(BTreeMap<String, Vec<(LeaseId, Option<Instant>)>>);

impl Claims {
    fn set(&mut self, host: &str, lease: Option<LeaseId>) {
        let all = self.0.entry(host.to_owned()).or_default();
        if let Some((_, until @ None)) = all.last_mut() {
            *until = Some(Instant::now());
        }
        all.extend(lease.map(|lease| (lease, None)));
    }

    fn now(&self, host: &str) -> Option<LeaseId> {
        let (lease, until) = self.0.get(host)?.last()?;
        until.is_none().then_some(*lease)
    }

    fn may_lead_to(&self, host: &str, namespace: &str) -> bool {
        let all = self.0.get(host).into_iter().flatten();
        all.filter(|(_, until)| until.is_none_or(|until| until.elapsed() < LAG))
            .any(|(lease, _)| names::lease_namespace(lease) == namespace)
    }
}

/// Leases with their manifests, and a `ProviderHost` of each.
struct Stage {
    leases: Vec<LeaseId>,
    manifest: Value,
    host: Value,
}

impl Stage {
    async fn set(bed: &Bed) -> Self {
        let case = case("01-basic");
        let manifest = recorded(&case, ResourceKind::MANIFEST).remove(0);
        let host = hosts(&case).remove(0);
        let mut leases = Vec::new();
        for number in 0..LEASES {
            let owner =
                if number + 1 == LEASES { STRANGER } else { &*case.lease.owner().to_string() };
            let text = format!("{owner}/{}/1/1/{}", 100 + number, case.lease.provider());
            let lease: LeaseId = text.parse().unwrap();
            put_namespace(bed, &names::lease_namespace(&lease)).await;
            put(bed, ResourceKind::MANIFEST, &of_lease(&manifest, &lease)).await;
            leases.push(lease);
        }
        Self { leases, manifest, host }
    }

    fn host(&self, name: &str, lease: &LeaseId) -> Value {
        let mut host = self.host.clone();
        host["metadata"]["name"] = name.into();
        host["spec"]["hostname"] = name.into();
        host["spec"]["owner"] = lease.owner().to_string().into();
        host["spec"]["dseq"] = lease.dseq().into();
        host
    }

    /// The routes that an operator makes which is never killed.
    fn wanted(&self, claims: &Claims) -> Vec<Value> {
        let claimed = claims.0.keys().filter_map(|host| Some((host, claims.now(host)?)));
        let routes = claimed.map(|(host, lease)| {
            let host: ProviderHost = serde_json::from_value(self.host(host, &lease)).unwrap();
            let claim = Claim::of(&host).unwrap();
            let manifest = of_lease(&self.manifest, &lease);
            let exposed = ExposedPorts::of(&serde_json::from_value(manifest).unwrap()).unwrap();
            let options = exposed.port(&claim.service, claim.port).unwrap();
            route(&claim, options, &Settings::default().routes)
        });
        routes.collect()
    }
}

fn of_lease(manifest: &Value, lease: &LeaseId) -> Value {
    let mut manifest = manifest.clone();
    manifest["metadata"]["name"] = names::lease_namespace(lease).into();
    manifest["spec"]["lease_id"]["owner"] = lease.owner().to_string().into();
    manifest["spec"]["lease_id"]["dseq"] = lease.dseq().to_string().into();
    manifest
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_converge_whenever_the_operator_is_killed_and_lead_nowhere_else_meanwhile() {
    let (seeds, kills) =
        if std::env::var_os("AKASH_TEST_FULL").is_some() { (6, 20) } else { (1, 10) };
    let bed = api_server().await;
    let stage = Stage::set(&bed).await;
    let claims: Arc<Mutex<Claims>> = Arc::default();
    let wrong: Arc<Mutex<Vec<String>>> = Arc::default();
    let access = Access::find(bed.kubeconfig(), &akash_net::Outbound::default()).await.unwrap();
    let counter: Counter = Arc::new(|_: &str, _| {});
    let client = KubeClient::new(access.client().unwrap(), Duration::from_secs(10), counter);
    let (known, found) = (Arc::clone(&claims), Arc::clone(&wrong));
    let tell = move |told: WatchEvent<CachedObject>| {
        let WatchEvent::Applied(shown) = told else { return };
        if !known.lock().unwrap().may_lead_to(&shown.name, &shown.namespace) {
            found.lock().unwrap().push(format!("{} leads to {}", shown.name, shown.namespace));
        }
    };
    tokio::spawn(follow(client, Source::everything(ResourceKind::INGRESS), tell, Arc::default()));

    let path = ResourceKind::HOST.path(Some("lease"));
    for seed in 1..=seeds {
        let mut dice = Dice(seed);
        for kill in 0..kills {
            let (operator, ..) = Operator::start(bed.kubeconfig());
            let moment = Duration::from_millis(dice.roll(600));
            eprintln!("seed {seed}: kill {kill} after {moment:?}");
            let killer = tokio::task::spawn_blocking(move || {
                std::thread::sleep(moment);
                operator.kill();
            });
            for _ in 0..12 {
                let name = format!("host-{}.example.com", dice.roll(HOSTS));
                let before = claims.lock().unwrap().now(&name);
                // The stranger's hosts move to nobody, and nobody's to the stranger.
                let lease = stage.leases[usize::try_from(dice.roll(LEASES)).unwrap()];
                let moves = before.is_some_and(|before| before.owner() == lease.owner());
                match before {
                    None => {
                        claims.lock().unwrap().set(&name, Some(lease));
                        put(&bed, ResourceKind::HOST, &stage.host(&name, &lease)).await;
                    }
                    Some(_) if moves && dice.roll(3) > 0 => {
                        claims.lock().unwrap().set(&name, Some(lease));
                        let spec = json!({"spec": stage.host(&name, &lease)["spec"]});
                        merged(&bed, &format!("{path}/{name}"), &spec).await;
                    }
                    Some(_) => {
                        delete(&bed, &format!("{path}/{name}")).await;
                        claims.lock().unwrap().set(&name, None);
                    }
                }
                tokio::time::sleep(Duration::from_millis(dice.roll(40))).await;
            }
            killer.await.unwrap();
        }
        let (operator, ..) = Operator::start(bed.kubeconfig());
        let mut wanted = stage.wanted(&claims.lock().unwrap());
        wanted.sort_by_key(|object| common::name(object).to_owned());
        assert!(wanted.len() > 2, "{}", wanted.len());
        until("the routes", async || ingresses(&bed).await == wanted).await;
        operator.kill();
    }
    assert_eq!(*wrong.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_of_its_own_tells_how_it_is() {
    let bed = api_server().await;
    common::put_custom(&bed, &case("01-basic")).await;
    let (operator, rest, grpc) = Operator::start(bed.kubeconfig());
    let ask = async |path: &str| {
        let mut stream = tokio::net::TcpStream::connect(&rest).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    assert!(ask("/health").await.ends_with("OK"));
    let lines = [
        "provider_hostname_hosts{state=\"without_backends\"} 1\n",
        "provider_hostname_hosts{state=\"refused\"} 0\n",
        "provider_hostname_leader 1\n",
        "provider_hostname_queue 0\n",
        "provider_hostname_writes{action=\"create\",result=\"success\"} 1\n",
        "provider_hostname_reconcile_milliseconds_count 1\n",
        "provider_kube_calls{action=\"ingresses-create\",result=\"success\"} 1\n",
    ];
    until("the metrics", async || {
        let page = ask("/metrics").await;
        lines.iter().all(|line| page.contains(line))
    })
    .await;
    let page = ask("/metrics").await;
    assert!(page.contains("content-type: text/plain; version=0.0.4"), "{page}");
    // It is no provider.
    assert!(!page.contains("provider_leases"), "{page}");
    // Both ends speak HTTP/2 there.
    let mut stream = tokio::net::TcpStream::connect(&grpc).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[3], 4, "settings: {head:?}");
    operator.kill();
}
