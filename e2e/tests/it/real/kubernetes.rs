//! A chain, a Kubernetes cluster with a real node, and a provider between them, used through the
//! program alone.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings, wait_until};
use kube_bed::{Image, Node};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::real::installed;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
pub(crate) const IMAGE: &str = "localhost/hello:1";

pub(crate) const SDL: &str = r#"
version: "2.0"
services:
  web:
    image: localhost/hello:1
    command: [sh, -c, "echo it begins; mkdir /w; echo hello from a pod > /w/index.html; exec httpd -f -p 8080 -h /w"]
    expose:
      - port: 8080
        as: 80
        to: [{global: true}]
profiles:
  compute:
    web: {resources: {cpu: {units: 0.1}, memory: {size: 32Mi}, storage: {size: 64Mi}}}
  placement:
    anywhere: {pricing: {web: {denom: uact, amount: 1000}}}
deployment:
  web: {anywhere: {profile: web, count: 1}}
"#;

/// A cluster, asked without asynchrony.
pub(crate) struct Cluster {
    pub(crate) runtime: Runtime,
    pub(crate) node: Node,
}

impl Cluster {
    /// Starts one and makes it ready for a provider, as the installation would.
    pub(crate) fn start() -> (Self, PathBuf) {
        let runtime = Runtime::new().unwrap();
        let node = runtime.block_on(Node::start()).unwrap();
        Self::prepare(runtime, node)
    }

    /// Makes nodes ready for a provider, as the installation would.
    pub(crate) fn prepare(runtime: Runtime, node: Node) -> (Self, PathBuf) {
        let image = Image::busybox(IMAGE, &["sh"]).unwrap();
        node.import(&image).unwrap();
        let kubeconfig = installed::install(&runtime, &node);
        let ours = json!({"metadata": {"labels": {"akash.network": "true"}}});
        for (name, _) in node.nodes() {
            let path = format!("/api/v1/nodes/{name}");
            installed::send(&runtime, &node, "PATCH", &path, &ours).unwrap();
        }
        (Self { runtime, node }, kubeconfig)
    }

    /// Objects that the provider made, of a kind.
    pub(crate) fn ours(&self, path: &str) -> Result<Vec<Value>> {
        installed::ours(&self.runtime, &self.node, path)
    }

    /// The one pod that runs for a tenant.
    fn pod(&self) -> Result<Option<String>> {
        let pods = self.ours("/api/v1/pods")?;
        let uid = pods.first().and_then(|pod| pod["metadata"]["uid"].as_str());
        Ok(uid.map(str::to_owned))
    }

    /// What the tenant's service says to `GET /`.
    fn page(&self) -> Result<String> {
        let services = self.ours("/api/v1/services")?;
        let address = services.first().and_then(|service| service["spec"]["clusterIP"].as_str());
        let mut stream = TcpStream::connect((address.context("there is no service")?, 80))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET / HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

fn stages(network: &Network) -> Result<Vec<String>> {
    let told = network.ctl(&["leases"])?;
    let stage = |lease: &Value| lease["stage"].as_str().map(str::to_owned);
    Ok(told["leases"].as_array().into_iter().flatten().filter_map(stage).collect())
}

fn runs(network: &Network) -> Result<Option<()>> {
    Ok((stages(network)? == ["running"]).then_some(()))
}

#[test]
fn an_order_becomes_a_pod_that_answers_outlives_the_provider_and_goes_with_the_lease() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let (cluster, kubeconfig) = Cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        kubeconfig: Some(kubeconfig),
        run: [
            ["--cluster-public-hostname", "provider.localhost"],
            ["--server-cert-secret", "akash-services/provider-cert"],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect(),
        ..Settings::default()
    };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    let insist = |what: &str, network: &Network, look: &dyn Fn() -> Result<Option<()>>| {
        let found = wait_until(what, LONG, look);
        found.unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()));
    };
    insist("the provider acts", &network, &|| {
        Ok((network.ctl(&["status"])?["ready"] == true).then_some(()))
    });

    let kube = crate::console::version(&network).kube.unwrap();
    assert_eq!(kube["major"], "1", "{kube}");
    assert!(kube["gitVersion"].as_str().unwrap().starts_with("v1."), "{kube}");

    let sdl = folder.path().join("sdl.yaml");
    std::fs::write(&sdl, SDL).unwrap();
    let sdl = sdl.to_str().unwrap();
    network.open_gateway().unwrap();
    let as_tenant = |args: &[&str]| {
        let printed = network.run(&[args, &["--dseq", "7", "--from", "tenant"]].concat());
        printed.unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()))
    };
    as_tenant(&["deploy", sdl, "--pick", "cheapest", "--bid-wait", "0", "-o", "json"]);
    insist("it runs", &network, &|| runs(&network));
    insist("its port answers", &network, &|| {
        Ok(cluster.page()?.contains("hello from a pod").then_some(()))
    });
    // Nothing here hands out addresses, so none is moved and the tenant is told so.
    let moved = ["migrate-endpoints", "dns", "--dseq", "7", "--from", "tenant"];
    let refused = format!("{:#}", network.run(&moved).unwrap_err());
    assert!(refused.contains("this provider cannot move leased addresses"), "{refused}");
    assert!(refused.contains("remote server returned 501"), "{refused}");
    // What its tenant sees of it, through the gateway.
    let status: Value = serde_json::from_str(&as_tenant(&["lease-status"])).unwrap();
    assert_eq!(status["services"]["web"]["available"], 1, "{status}");
    let logs = as_tenant(&["lease-logs", "--tail", "10"]);
    assert!(logs.contains("it begins"), "{logs}");
    let page = as_tenant(&["lease-shell", "web", "cat", "/w/index.html"]);
    assert_eq!(page.trim(), "hello from a pod");
    let pod = cluster.pod().unwrap().unwrap();
    let written = |path: &str| {
        let objects = cluster.ours(path).unwrap();
        let version = |it: &Value| it["metadata"]["generation"].clone();
        objects.iter().map(version).collect::<Vec<_>>()
    };
    let before = written("/apis/apps/v1/deployments");

    // Killed without a word, it finds everything again and touches nothing. Its certificate, which is
    // gone from its home, it takes from where it is kept too.
    network.provider.as_mut().unwrap().kill();
    let operator = network.address("operator").unwrap();
    let certificate = folder.path().join("chain").join(format!("{operator}.pem"));
    let shown = std::fs::read_to_string(&certificate).unwrap();
    std::fs::remove_file(&certificate).unwrap();
    network.start_provider().unwrap();
    insist("it still runs", &network, &|| runs(&network));
    insist("its certificate is there again", &network, &|| {
        Ok((std::fs::read_to_string(&certificate).ok().as_ref() == Some(&shown)).then_some(()))
    });
    assert_eq!(cluster.pod().unwrap().as_deref(), Some(&*pod));
    assert_eq!(written("/apis/apps/v1/deployments"), before);
    assert!(cluster.page().unwrap().contains("hello from a pod"));

    network.tx("tenant", &["deployment", "close", "--dseq", "7"]).unwrap();
    insist("the lease is over", &network, &|| Ok(stages(&network)?.is_empty().then_some(())));
    insist("nothing is left", &network, &|| {
        let left = ["namespaces", "pods", "services"].map(|kind| format!("/api/v1/{kind}"));
        let mut left: Vec<usize> =
            left.iter().map(|path| Ok(cluster.ours(path)?.len())).collect::<Result<_>>()?;
        let own = "/apis/akash.network/v2beta2/namespaces/lease";
        for kind in ["manifests", "providerhosts"] {
            left.push(cluster.ours(&format!("{own}/{kind}"))?.len());
        }
        Ok((left == [0; 5]).then_some(()))
    });
}
