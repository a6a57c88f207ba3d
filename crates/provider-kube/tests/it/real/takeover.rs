//! In the place of a Go provider of each line, and back: no pod restarts that its tenant did not ask
//! for, on a real API server with a real kubelet.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::Version;
use akash_types::LeaseId;
use kube_access::ResourceKind;
use kube_bed::{Image, Node};
use provider_crd::names;
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Observe};
use provider_engine::cluster::view::ViewChange;
use provider_kube::isolation::{Isolation, PodProfile};
use provider_kube::settings::{Overcommit, Settings};
use provider_kube::{KubeDriver, resolve};
use provider_testkit::kube::{Case, GoLine, workload};
use serde_json::{Value, json};

use crate::bed::{self, get, post, put, until, writes};

const IMAGE: &str = "localhost/takeover:1";
const SERVES: &str = "trap 'exit 0' TERM; while :; do sleep 0.3 & wait $!; done";

/// Services of each lease. The last has no image, so it is never ready and must be left alone.
const SERVICES: [&str; 3] = ["web", "db", "slow"];
/// What each service of a lease is told by its tenant; a change is an update.
type WatchEvent = [u8; 3];

/// Leases, by what wrote them.
const BEFORE_419: u64 = 9201;
const FROM_419: u64 = 9202;
const SINCE_434: u64 = 9203;
/// Made before #419, updated since #434: templates keep an old version.
const OLD_VERSION: u64 = 9204;
/// Made by this provider, under the pod profile `go`.
const OURS: u64 = 9205;
const LEASES: [u64; 5] = [BEFORE_419, FROM_419, SINCE_434, OLD_VERSION, OURS];

/// Kinds that the played Go provider reads before it writes.
const KINDS: [ResourceKind; 4] = [
    ResourceKind::DEPLOYMENT,
    ResourceKind::STATEFUL_SET,
    ResourceKind::SERVICE,
    ResourceKind::NETWORK_POLICY,
];

/// A Deployment, a StatefulSet with storage, and one whose pod never becomes ready.
fn wanted(dseq: u64, told: WatchEvent) -> Workload {
    let mut wanted = workload(&Case::recorded("01-basic").unwrap()).unwrap();
    let stored = workload(&Case::recorded("05-storage").unwrap()).unwrap();
    wanted.lease = lease(dseq);
    wanted.version = Some(Version::from([told[0] + told[1] + told[2]; 32]));
    let db = &stored.group.services[0];
    let services = &mut Arc::make_mut(&mut wanted.group).services;
    services.truncate(1);
    services.extend([db.clone(), db.clone()]);
    for ((service, name), told) in services.iter_mut().zip(SERVICES).zip(told) {
        service.name = name.to_owned();
        service.image = if name == "slow" { "localhost/missing:1" } else { IMAGE }.to_owned();
        service.command = Some(["sh", "-c", SERVES].map(str::to_owned).into());
        service.args = None;
        service.env = Some(vec![format!("TOLD={told}")]);
    }
    wanted
}

fn lease(dseq: u64) -> LeaseId {
    let case = Case::recorded("01-basic").unwrap();
    let own = case.lease.dseq().to_string();
    case.lease.to_string().replacen(&own, &dseq.to_string(), 1).parse().unwrap()
}

fn namespace(dseq: u64) -> String {
    names::lease_namespace(&lease(dseq))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Our settings, which differ from those of the Go providers in all that stands in pods.
fn ours() -> Settings {
    Settings {
        public_hostname: "ours.localhost".to_owned(),
        generated_hosts: Some("apps.localhost".to_owned()),
        overcommit: Overcommit { cpu: 100, memory: 100, storage: 100 },
        pull_secret: Some("registry".to_owned()),
        ..Settings::default()
    }
}

struct Stage {
    node: Node,
    /// Settings of the Go providers.
    settings: Settings,
}

impl Stage {
    async fn start() -> Self {
        let node = bed::node().await;
        node.import(&Image::busybox(IMAGE, &["sh"]).unwrap()).unwrap();
        let class = json!({"metadata": {"name": "beta2"},
            "provisioner": "kubernetes.io/no-provisioner"});
        post(&node, "/apis/storage.k8s.io/v1/storageclasses", &class).await.unwrap();
        for number in 0..LEASES.len() * 2 {
            let path = node.folder().join(format!("volume-{number}"));
            let volume = json!({
                "metadata": {"name": format!("volume-{number}")},
                "spec": {"storageClassName": "beta2", "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "hostPath": {"path": path, "type": "DirectoryOrCreate"}},
            });
            post(&node, "/api/v1/persistentvolumes", &volume).await.unwrap();
        }
        let settings = Settings {
            public_hostname: "provider.localhost".to_owned(),
            generated_hosts: Some("localhost".to_owned()),
            ..Settings::default()
        };
        Self { node, settings }
    }

    async fn manifest(&self, dseq: u64) -> Option<Value> {
        let path = format!("{}/{}", ResourceKind::MANIFEST.path(Some("lease")), namespace(dseq));
        get(&self.node, &path).await.ok()
    }

    /// Objects of a kind, with their kind, which lists leave out.
    async fn list(&self, kind: ResourceKind, namespace: &str) -> Vec<Value> {
        let list = get(&self.node, &kind.path(Some(namespace))).await.unwrap();
        let mut items = list["items"].as_array().unwrap().clone();
        for item in &mut items {
            item["kind"] = kind.name.into();
            item["apiVersion"] = list["apiVersion"].clone();
        }
        items
    }

    async fn there(&self, dseq: u64) -> Vec<Value> {
        let namespace = namespace(dseq);
        let mut there: Vec<_> =
            get(&self.node, &format!("/api/v1/namespaces/{namespace}")).await.into_iter().collect();
        for kind in KINDS {
            there.extend(self.list(kind, &namespace).await);
        }
        there.extend(self.list(ResourceKind::HOST, "lease").await);
        there
    }

    /// Writes an object as the Go provider does: a new one, or over the one that it read.
    async fn write(&self, object: &Value) -> Value {
        let kind = ResourceKind::named(text(object, "/kind")).unwrap();
        let path = kind.path(object.pointer("/metadata/namespace").and_then(Value::as_str));
        let one = format!("{path}/{}", text(object, "/metadata/name"));
        if object.pointer("/metadata/resourceVersion").is_none() {
            let made = post(&self.node, &path, object).await;
            return made.unwrap_or_else(|error| panic!("{one}: {error}"));
        }
        let mut object = object.clone();
        loop {
            match put(&self.node, &one, &object).await {
                Ok(written) => return written,
                // A controller wrote its status meanwhile.
                Err(kube::Error::Api(refused)) if refused.code == 409 => {
                    let now = get(&self.node, &one).await.unwrap();
                    object["metadata"]["resourceVersion"] =
                        now["metadata"]["resourceVersion"].clone();
                }
                Err(error) => panic!("{one}: {error}"),
            }
        }
    }

    /// A Go provider gets a manifest.
    async fn go_deploys(&self, line: GoLine, dseq: u64, told: WatchEvent) {
        let sent = resolve::manifest(&wanted(dseq, told), &self.settings).unwrap();
        let sent = provider_kube::build::Object::from(sent).to_json().unwrap();
        let manifest = line.manifest(sent, self.manifest(dseq).await.as_ref());
        let manifest = self.write(&manifest).await;
        let there = self.there(dseq).await;
        for object in line.objects(&manifest, &self.settings, &there).unwrap() {
            self.write(&object).await;
        }
    }

    /// A Go provider starts, with these leases.
    async fn go_starts(&self, line: GoLine, leases: &[u64]) {
        for dseq in leases {
            let manifest = self.manifest(*dseq).await.unwrap();
            let there = self.there(*dseq).await;
            for object in line.start(&manifest, &self.settings, &there).unwrap() {
                self.write(&object).await;
            }
        }
    }

    /// Our provider starts, with other settings than the Go providers have: every lease counts as
    /// deployed, so nothing is written. New leases would be hardened; these are not.
    async fn we_start(&self) -> KubeDriver {
        let isolation = Isolation { profile: PodProfile::Hardened, ..Isolation::default() };
        let settings = Settings { isolation, ..ours() };
        let (driver, counts) = bed::driver(&self.node, settings).await;
        let ViewChange::Whole(view) = driver.observe().next().await else { panic!() };
        for dseq in LEASES {
            let held = view.leases[&lease(dseq)].held.as_ref().unwrap();
            assert!(held.deployed, "{dseq}");
        }
        assert_eq!(writes(&counts), BTreeMap::new());
        driver
    }

    /// Waits until exactly these pods run, or fail for their image.
    async fn runs(&self, what: &str, told: impl Fn(u64) -> WatchEvent) {
        until(what, async || {
            for dseq in LEASES {
                let pods = self.list(ResourceKind::POD, &namespace(dseq)).await;
                for (service, told) in SERVICES.into_iter().zip(told(dseq)) {
                    let is_it = |pod: &&Value| {
                        pod["metadata"]["labels"]["akash.network/manifest-service"] == service
                    };
                    let of: Vec<_> = pods.iter().filter(is_it).collect();
                    let [pod] = of[..] else { return false };
                    let env = pod["spec"]["containers"][0]["env"].as_array().unwrap();
                    let is_told = env.contains(&json!({"name": "TOLD", "value": told.to_string()}));
                    let status = &pod["status"]["containerStatuses"][0];
                    let why = text(status, "/state/waiting/reason");
                    let is_there = match service {
                        "slow" => why.contains("ImagePull"),
                        _ => status["ready"] == true,
                    };
                    if !is_told || !is_there || pod["metadata"].get("deletionTimestamp").is_some() {
                        return false;
                    }
                }
            }
            true
        })
        .await;
    }

    /// Pods with their restarts, and the templates that controllers know, once these have seen all
    /// that was written.
    async fn rollouts(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for dseq in LEASES {
            let namespace = namespace(dseq);
            until("controllers have seen everything", async || {
                let mut all = self.list(ResourceKind::DEPLOYMENT, &namespace).await;
                all.extend(self.list(ResourceKind::STATEFUL_SET, &namespace).await);
                all.iter()
                    .all(|it| it["status"]["observedGeneration"] == it["metadata"]["generation"])
            })
            .await;
            for set in self.list(ResourceKind::STATEFUL_SET, &namespace).await {
                let name = text(&set, "/metadata/name");
                let revision = text(&set, "/status/updateRevision").to_owned();
                found.insert(format!("{dseq} {name} revision"), revision);
            }
            let sets = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
            for set in get(&self.node, &sets).await.unwrap()["items"].as_array().unwrap() {
                let name = text(set, "/metadata/name");
                found.insert(format!("{dseq} {name}"), set["spec"]["replicas"].to_string());
            }
            for pod in self.list(ResourceKind::POD, &namespace).await {
                let status = &pod["status"]["containerStatuses"][0];
                assert_eq!(status["restartCount"], 0, "{status}");
                let name = text(&pod, "/metadata/name");
                found.insert(format!("{dseq} {name} pod"), text(&pod, "/metadata/uid").to_owned());
            }
        }
        found
    }
}

async fn send(driver: &KubeDriver, leases: &[u64], told: WatchEvent) {
    for dseq in leases {
        driver.execute(Operation::Deploy(Arc::new(wanted(*dseq, told)))).await.unwrap();
    }
}

/// What of `after` was not so before.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let is_new = |(key, value): &(&String, &String)| before.get(*key) != Some(*value);
    after.iter().filter(is_new).map(|(key, _)| key.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_pod_restarts_at_takeover_from_any_go_line_nor_at_rollback_to_one() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let mut stage = Stage::start().await;
    let first: WatchEvent = [1, 1, 1];
    stage.go_deploys(GoLine::Before419, BEFORE_419, first).await;
    stage.go_deploys(GoLine::From419, FROM_419, first).await;
    stage.go_deploys(GoLine::Since434, SINCE_434, first).await;
    stage.go_deploys(GoLine::Before419, OLD_VERSION, [0, 0, 1]).await;
    {
        let (driver, _) = bed::driver(&stage.node, stage.settings.clone()).await;
        send(&driver, &[OURS], first).await;
    }
    stage.runs("services run", |dseq| if dseq == OLD_VERSION { [0, 0, 1] } else { first }).await;
    stage.go_starts(GoLine::From419, &[FROM_419]).await;
    stage.go_deploys(GoLine::Since434, OLD_VERSION, first).await;
    stage.runs("services run", |_| first).await;
    let before = stage.rollouts().await;

    // Takeover, the same manifest again, whose hash is stored then, a restart.
    let driver = stage.we_start().await;
    assert_eq!(stage.rollouts().await, before, "takeover");
    for dseq in LEASES {
        let manifest = stage.manifest(dseq).await;
        send(&driver, &[dseq], first).await;
        assert_eq!(stage.manifest(dseq).await, manifest, "{dseq}");
    }
    assert_eq!(stage.rollouts().await, before, "the same manifest again");
    drop(driver);
    drop(stage.we_start().await);
    assert_eq!(stage.rollouts().await, before, "restart");

    // Back to Go before any update, and here again. Before #419 it would write its label into the
    // templates of other lines.
    stage.go_starts(GoLine::Since434, &LEASES).await;
    stage.go_starts(GoLine::Before419, &[BEFORE_419, OURS]).await;
    assert_eq!(stage.rollouts().await, before, "rollback");
    let driver = stage.we_start().await;

    // The tenant of one lease changes the service that does not work: its pod is deleted for it, and
    // none of the others that are not ready.
    send(&driver, &[BEFORE_419], [1, 1, 2]).await;
    let slow = |dseq| if dseq == BEFORE_419 { [1, 1, 2] } else { first };
    stage.runs("the stuck pod is replaced", slow).await;
    let after = stage.rollouts().await;
    let expected = ["slow revision", "slow-0 pod"].map(|what| format!("{BEFORE_419} {what}"));
    assert_eq!(changed(&before, &after), expected);

    // An update restarts what it changes.
    send(&driver, &[FROM_419, SINCE_434, OLD_VERSION, OURS], [2, 1, 1]).await;
    send(&driver, &[BEFORE_419], [2, 1, 2]).await;
    stage.runs("services are updated", |dseq| [2, 1, slow(dseq)[2]]).await;
    let updated = stage.rollouts().await;
    let others: Vec<_> =
        changed(&after, &updated).into_iter().filter(|it| !it.contains(" web-")).collect();
    assert_eq!(others, Vec::<String>::new());
    let last: WatchEvent = [3, 3, 3];
    send(&driver, &LEASES, last).await;
    stage.runs("everything is updated", |_| last).await;
    let before = stage.rollouts().await;
    drop(driver);

    // Restart, back to Go of each line with the settings that stand in pods by now, and here again
    // after each.
    stage.settings = ours();
    drop(stage.we_start().await);
    for line in [GoLine::Since434, GoLine::Before419, GoLine::From419] {
        stage.go_starts(line, &LEASES).await;
        assert_eq!(stage.rollouts().await, before, "rollback to {line:?}");
        drop(stage.we_start().await);
        assert_eq!(stage.rollouts().await, before, "takeover from {line:?}");
    }
    // The start after that restarts pods, with or without us: what this test looks at shows it.
    stage.go_starts(GoLine::From419, &[FROM_419]).await;
    assert_ne!(stage.rollouts().await, before, "Go from #419 to #433 restarts pods itself");
}
