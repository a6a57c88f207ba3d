//! GPUs and persistent storage of a real node and a real Ceph cluster, from an order to what is left.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use e2e::network::{Network, Settings};
use kube_bed::{Ceph, DevicePlugin, Node};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::real::installed::{get, insist, send};
use crate::real::kubernetes::{Cluster, IMAGE};

const GIB: i64 = 1 << 30;
/// The label that counts the node's cards.
const CARDS: &str = "akash.network/capabilities.gpu.vendor.nvidia.model.a100";

/// An SDL of one service with these resources.
fn sdl(resources: &str, params: &str) -> String {
    format!(
        r#"
version: "2.0"
services:
  web:
    image: localhost/hello:1
    command: [sh, -c, "mkdir -p /data; echo kept > /data/index.html; exec httpd -f -p 8080 -h /data"]
    {params}
    expose:
      - port: 8080
        as: 80
        to: [{{global: true}}]
profiles:
  compute:
    web: {{resources: {{cpu: {{units: 0.1}}, memory: {{size: 32Mi}}, {resources}}}}}
  placement:
    anywhere: {{pricing: {{web: {{denom: uact, amount: 1000000}}}}}}
deployment:
  web: {{anywhere: {{profile: web, count: 1}}}}
"#
    )
}

fn gpu_sdl() -> String {
    sdl(
        "storage: {size: 64Mi}, gpu: {units: 1, attributes: {vendor: {nvidia: [{model: a100}]}}}",
        "",
    )
}

fn volume_sdl(class: &str, size: &str) -> String {
    let volume = format!(
        "storage: [{{size: 64Mi}}, \
         {{name: data, size: {size}, attributes: {{persistent: true, class: {class}}}}}]"
    );
    sdl(&volume, "params: {storage: {data: {mount: /data}}}")
}

/// What runs for a test, and how it is asked.
struct Bench {
    cluster: Cluster,
    network: Network,
    folder: PathBuf,
}

impl Bench {
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        send(&self.cluster.runtime, &self.cluster.node, method, path, body).unwrap()
    }

    fn inventory(&self) -> Result<Value> {
        self.network.ctl(&["inventory"])
    }

    /// Waits until the inventory satisfies `is`.
    fn until(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        insist(what, || {
            let inventory = self.inventory()?;
            Ok(is(&inventory).then_some(inventory))
        })
    }

    /// Creates a deployment; its SDL's path.
    fn order(&self, dseq: &str, sdl: &str) -> PathBuf {
        let path = self.folder.join(format!("{dseq}.yaml"));
        std::fs::write(&path, sdl).unwrap();
        let sdl = path.to_str().unwrap();
        let create = ["deployment", "create", sdl, "--dseq", dseq, "--deposit", "5act"];
        self.network.tx("tenant", &create).unwrap();
        path
    }

    fn has_bid(&self, dseq: &str) {
        insist("a bid", || {
            let why = self.network.ctl(&["why", dseq]).unwrap_or_default().to_string();
            assert!(!why.contains("no bid: "), "{why}");
            let bids = self.network.ctl(&["bids"])?;
            let id = format!("/{dseq}/");
            let of = |bid: &Value| {
                bid["stage"] == "open" && bid["order"].as_str().is_some_and(|it| it.contains(&id))
            };
            Ok(bids["bids"].as_array().is_some_and(|bids| bids.iter().any(of)).then_some(()))
        });
    }

    /// Waits until an order was declined; why.
    fn declined(&self, dseq: &str) -> String {
        insist("a decline", || {
            let why = self.network.ctl(&["why", dseq])?.to_string();
            Ok(why.contains("short of").then_some(why))
        })
    }

    /// Takes the bid, and runs the SDL.
    fn run(&self, dseq: &str, sdl: &Path) {
        let address = |key| self.network.address(key).unwrap();
        let (tenant, operator) = (address("tenant"), address("operator"));
        let lease = ["market", "lease", "create", "--owner", &tenant, "--dseq", dseq];
        self.network.tx("tenant", &[&lease[..], &["--provider", &operator]].concat()).unwrap();
        insist("the manifest is taken", || {
            self.network.ctl(&["send-manifest", dseq, sdl.to_str().unwrap()]).map(Some)
        });
        insist("the lease runs", || {
            let leases = self.network.ctl(&["leases"])?;
            let runs = |lease: &Value| {
                lease["stage"] == "running"
                    && lease["id"].as_str().is_some_and(|id| id.contains(&format!("/{dseq}/")))
            };
            Ok(leases["leases"].as_array().is_some_and(|it| it.iter().any(runs)).then_some(()))
        });
    }
}

fn gpu(inventory: &Value, key: &str) -> i64 {
    inventory["nodes"][0]["gpu"][key].as_i64().unwrap()
}

fn class<'a>(inventory: &'a Value, name: &str) -> &'a Value {
    let classes = inventory["storage"].as_array().unwrap();
    classes.iter().find(|class| class["class"] == name).unwrap_or(&Value::Null)
}

fn left(inventory: &Value, name: &str) -> i64 {
    class(inventory, name)["bytes"]["available"].as_i64().unwrap_or_default()
}

/// Passes connections on from an address that services can have, which loopback is not.
fn forward(from: Ipv4Addr, to: SocketAddrV4) -> SocketAddrV4 {
    let listener = TcpListener::bind((from, 0)).unwrap();
    let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!() };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(to) else { continue };
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
            {
                std::thread::spawn(move || {
                    io::copy(&mut from, &mut to).ok();
                    to.shutdown(std::net::Shutdown::Write).ok();
                });
            }
        }
    });
    address
}

/// Makes the manager's metrics a Service, as Rook does, and classes for pools.
fn serve_ceph(bench: &Bench, ceph: &Ceph) {
    let namespace = json!({"metadata": {"name": "rook-ceph"}});
    bench.send("POST", "/api/v1/namespaces", &namespace);
    let metrics = forward(bench.cluster.node.host(), ceph.metrics_address());
    // The API server passes requests on to pods alone.
    let (ip, port) = (metrics.ip(), metrics.port());
    let manager = json!({
        "metadata": {"name": "rook-ceph-mgr-a", "labels": {"app": "rook-ceph-mgr"}},
        "spec": {"containers": [{
            "name": "mgr", "image": IMAGE, "imagePullPolicy": "Never",
            "command": ["sh", "-c", format!("while true; do nc -l -p 9283 -e nc {ip} {port}; done")],
        }]},
    });
    bench.send("POST", "/api/v1/namespaces/rook-ceph/pods", &manager);
    let service = json!({
        "metadata": {"name": "rook-ceph-mgr"},
        "spec": {
            "selector": {"app": "rook-ceph-mgr"},
            "ports": [{"name": "http-metrics", "port": 9283, "protocol": "TCP"}],
        },
    });
    bench.send("POST", "/api/v1/namespaces/rook-ceph/services", &service);
    for (name, parameters) in [
        ("beta2", json!({"clusterID": "rook-ceph", "pool": "copies"})),
        ("beta3", json!({"clusterID": "rook-ceph", "pool": "copies", "dataPool": "coded"})),
    ] {
        add_class(bench, name, "rook-ceph.rbd.csi.ceph.com", &parameters);
    }
}

fn add_class(bench: &Bench, name: &str, provisioner: &str, parameters: &Value) {
    let class = json!({
        "metadata": {"name": name, "labels": {"akash.network": "true"}},
        "provisioner": provisioner,
        "parameters": parameters,
        "volumeBindingMode": "WaitForFirstConsumer",
    });
    bench.send("POST", "/apis/storage.k8s.io/v1/storageclasses", &class);
}

/// Gives the claim of a lease a folder on its node, as local-path-provisioner does.
fn provision(bench: &Bench, node: &str, folder: &Path) {
    let Cluster { runtime, node: bed } = &bench.cluster;
    let claim = insist("a claim whose node is chosen", || {
        let claims = get(runtime, bed, "/api/v1/persistentvolumeclaims")?;
        let chosen = |claim: &&Value| {
            claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == node
        };
        Ok(claims["items"].as_array().context("no list")?.iter().find(chosen).cloned())
    });
    let metadata = &claim["metadata"];
    let volume = json!({
        "metadata": {"name": "folder"},
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "storageClassName": claim["spec"]["storageClassName"],
            "capacity": claim["spec"]["resources"]["requests"],
            "claimRef": {
                "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"],
            },
            "hostPath": {"path": folder, "type": "DirectoryOrCreate"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                "key": "kubernetes.io/hostname", "operator": "In", "values": [node],
            }]}]}},
        },
    });
    bench.send("POST", "/api/v1/persistentvolumes", &volume);
}

fn start(folder: &Path) -> Bench {
    let (cluster, kubeconfig) = Cluster::start();
    let settings = Settings {
        kubeconfig: Some(kubeconfig),
        run: [
            ["--cluster-public-hostname", "provider.localhost"],
            ["--storage-capacity", "declared=5Gi"],
            ["--bid-price-storage-scale", "ephemeral=0.01,beta2=0.01,beta3=0.01,beta1=0.01"],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect(),
        ..Settings::default()
    };
    let mut network = Network::start(folder, settings).unwrap();
    let file = folder.join("capabilities.yaml");
    let mut provider = "host: https://localhost:8443\nattributes:\n\
                        - {key: capabilities/gpu/vendor/nvidia/model/a100, value: 'true'}\n"
        .to_owned();
    for (number, class) in ["beta2", "beta3", "beta1"].iter().enumerate() {
        let key = format!("capabilities/storage/{number}");
        provider += &format!(
            "- {{key: {key}/class, value: {class}}}\n- {{key: {key}/persistent, value: 'true'}}\n"
        );
    }
    std::fs::write(&file, provider).unwrap();
    network.tx("operator", &["provider", "update", file.to_str().unwrap()]).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    Bench { cluster, network, folder: folder.to_owned() }
}

#[test]
fn gpus_are_sold_leased_and_counted_whatever_becomes_of_them() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bench = start(folder.path());
    let (node, _) = bench.cluster.node.nodes().remove(0);
    let runtime_class = json!({"metadata": {"name": "nvidia"}, "handler": "runc"});
    bench.send("POST", "/apis/node.k8s.io/v1/runtimeclasses", &runtime_class);
    let plugin = || -> DevicePlugin {
        let started = bench.cluster.node.start_device_plugin(&node, "nvidia.com/gpu", 2);
        bench.cluster.runtime.block_on(started).unwrap()
    };
    let devices = plugin();

    // Two cards that no label names: shown, and not sold.
    let seen = bench.until("two cards", |it| gpu(it, "allocatable") == 2);
    let cards = &seen["nodes"][0]["gpus"];
    assert_eq!(
        (&cards[0]["model"], &cards[0]["state"], &cards[0]["count"]),
        (&json!("unknown"), &json!("unusable"), &json!(2)),
        "{cards}"
    );
    bench.order("1", &gpu_sdl());
    let why = bench.declined("1");
    assert!(why.contains("acceptable GPU cards"), "{why}");

    let labels = json!({"metadata": {"labels": {CARDS: "2"}}});
    bench.send("PATCH", &format!("/api/v1/nodes/{node}"), &labels);
    bench.until("two cards with their name", |it| it["nodes"][0]["gpus"][0]["model"] == "a100");
    let sdl = bench.order("2", &gpu_sdl());
    bench.has_bid("2");
    bench.run("2", &sdl);
    // The pod has the device that the ledger says is taken.
    let taken = bench.until("a card is held", |it| gpu(it, "available") == 1);
    let holder = &taken["nodes"][0]["gpu_holders"][0];
    assert_eq!(
        (&holder["service"], &holder["model"], &holder["count"]),
        (&json!("web"), &json!("a100"), &json!(1)),
        "{taken}"
    );
    bench.network.open_gateway().unwrap();
    let operator = bench.network.address("operator").unwrap();
    let status: Value =
        serde_json::from_str(&bench.network.run(&["status", &operator]).unwrap()).unwrap();
    let on_node = &status["cluster"]["inventory"]["available"]["nodes"][0];
    assert_eq!(
        (&on_node["allocatable"]["gpu"], &on_node["available"]["gpu"]),
        (&json!(2), &json!(1)),
        "{on_node}"
    );

    // One card turns unhealthy, then both: what is held stays held, and less than nothing is never
    // left.
    let ids = devices.ids();
    for (id, healthy) in ids.iter().zip([1, 0]) {
        devices.set_healthy(id, false).unwrap();
        let seen = bench.until("a sick card", |it| gpu(it, "allocatable") == healthy);
        assert_eq!(gpu(&seen, "available"), 0, "{seen}");
        let sick: i64 = (seen["nodes"][0]["gpus"].as_array().unwrap().iter())
            .filter(|gpu| gpu["state"] == "unusable")
            .map(|gpu| gpu["count"].as_i64().unwrap())
            .sum();
        assert_eq!(sick, 2 - healthy, "{seen}");
    }
    for id in &ids {
        devices.set_healthy(id, true).unwrap();
    }
    bench.until("both cards are well", |it| gpu(it, "available") == 1);
    // The plugin dies and another one comes.
    drop(devices);
    bench.until("no plugin", |it| gpu(it, "allocatable") == 0);
    let _devices = plugin();
    bench.until("the plugin is back", |it| gpu(it, "available") == 1);
    let leases = bench.network.ctl(&["leases"]).unwrap();
    assert_eq!(leases["leases"][0]["stage"], "running", "{leases}");
}

#[test]
fn storage_is_sold_by_what_disks_of_nodes_and_a_real_ceph_have() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bench = start(folder.path());
    let (node, _) = bench.cluster.node.nodes().remove(0);
    let ceph_runtime = Runtime::new().unwrap();
    let ceph = ceph_runtime.block_on(Ceph::start(3)).unwrap();
    ceph.create_replicated_pool("copies", 2).unwrap();
    ceph.create_erasure_coded_pool("coded", 2, 1).unwrap();
    add_class(&bench, "beta1", "rancher.io/local-path", &json!({}));
    add_class(&bench, "nfs", "nfs.csi.k8s.io", &json!({}));
    add_class(&bench, "declared", "nfs.csi.k8s.io", &json!({}));
    let mut labels = serde_json::Map::new();
    for class in ["beta2", "beta3", "beta1", "nfs"] {
        let key = format!("akash.network/capabilities.storage.class.{class}");
        labels.insert(key, json!("1"));
    }
    let labels = json!({"metadata": {"labels": labels}});
    bench.send("PATCH", &format!("/api/v1/nodes/{node}"), &labels);

    // A class whose size is not known is not sold, and says why; one with a declared size is.
    let seen = bench.until("the classes", |it| !class(it, "nfs").is_null());
    let why = class(&seen, "nfs")["unsold"].as_str().unwrap();
    assert!(why.contains("storage-capacity nfs=SIZE"), "{why}");
    bench.until("the declared size", |it| left(it, "declared") == 5 * GIB);

    serve_ceph(&bench, &ceph);
    let max_avail = |pool: &str| {
        let df = ceph.df().unwrap();
        let pools = df["pools"].as_array().unwrap();
        let pool = pools.iter().find(|found| found["name"] == pool).unwrap();
        pool["stats"]["max_avail"].as_i64().unwrap()
    };
    // Each class has what its pool has, and both are on the same disks.
    for (name, pool) in [("beta2", "copies"), ("beta3", "coded")] {
        let wanted = max_avail(pool);
        bench.until("the room of a pool", |it| (left(it, name) - wanted).abs() < wanted / 100);
    }
    let before = bench.inventory().unwrap();
    bench.order("1", &volume_sdl("beta3", "2Gi"));
    bench.has_bid("1");
    let after = bench.until("a reservation", |it| left(it, "beta3") < left(&before, "beta3"));
    // 2 GiB with one part in three for repair are 3 GiB of disk: 1.5 GiB in two copies.
    let taken = |name: &str| left(&before, name) - left(&after, name);
    assert!((taken("beta3") - 2 * GIB).abs() < GIB / 8, "{}", taken("beta3"));
    assert!((taken("beta2") - 3 * GIB / 2).abs() < GIB / 8, "{}", taken("beta2"));
    bench.order("2", &volume_sdl("beta2", "200Gi"));
    let why = bench.declined("2");
    assert!(why.contains("persistent storage of class beta2"), "{why}");

    // A volume on the disk of the node: it runs, keeps what is written, and takes from the disk.
    let disk = |it: &Value| it["nodes"][0]["ephemeral_storage"]["available"].as_i64().unwrap();
    let before = disk(&bench.inventory().unwrap());
    let sdl = bench.order("3", &volume_sdl("beta1", "1Gi"));
    bench.has_bid("3");
    let volume = folder.path().join("volume");
    std::thread::scope(|scope| {
        scope.spawn(|| provision(&bench, &node, &volume));
        bench.run("3", &sdl);
    });
    assert_eq!(std::fs::read_to_string(volume.join("index.html")).unwrap(), "kept\n");
    let taken = before - disk(&bench.inventory().unwrap());
    assert!((GIB..GIB + GIB / 4).contains(&taken), "{taken}");
}
