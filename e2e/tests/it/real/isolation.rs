//! Two nodes that enforce network policies, a provider, and leases of tenants: what a pod reaches, by
//! real connections, and what the provider finds out about it.

use std::fmt;
use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings};
use kube_bed::Node;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::real::installed::{self, insist, take_leases};
use crate::real::kubernetes::{Cluster, IMAGE};

/// Outside of every network that policies exclude.
const INTERNET: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 10);
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);
const POLICIES: &str = "/apis/networking.k8s.io/v1";

/// Two services that know each other, the first on two nodes.
const SDL: &str = r#"
version: "2.0"
services:
  web:
    image: localhost/hello:1
    command: [sh, -c, "mkdir /w; echo hello > /w/index.html; exec httpd -f -p 8080 -h /w"]
    expose:
      - port: 8080
        as: 80
        to: [{global: true}]
  peer:
    image: localhost/hello:1
    command: [sh, -c, "mkdir /w; echo hello > /w/index.html; exec httpd -f -p 8080 -h /w"]
    expose:
      - port: 8080
        to: [{service: web}]
profiles:
  compute:
    small: {resources: {cpu: {units: 0.1}, memory: {size: 32Mi}, storage: {size: 64Mi}}}
  placement:
    anywhere: {pricing: {small: {denom: uact, amount: 1000}}}
deployment:
  web: {anywhere: {profile: small, count: 2}}
  peer: {anywhere: {profile: small, count: 1}}
"#;

/// Nodes and the API server of the test cluster have addresses that no policy excludes by itself.
const DENY: [&str; 2] = ["--tenant-egress-deny", "198.18.0.0/15"];

fn flags(more: &[&str]) -> Vec<String> {
    let always = ["--require-isolation", "--probe-image", IMAGE];
    always.iter().chain(more).map(|&flag| flag.to_owned()).collect()
}

struct Stage {
    cluster: Cluster,
    network: Network,
}

/// A place that a pod may or may not reach.
struct Target {
    what: &'static str,
    ip: String,
    port: u16,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.what, self.ip, self.port)
    }
}

impl Stage {
    fn get(&self, path: &str) -> Result<Value> {
        installed::get(&self.cluster.runtime, &self.cluster.node, path)
    }

    /// Pods of a service of a deployment: node, address.
    fn pods(&self, dseq: u64, service: &str) -> Vec<(String, String)> {
        let selector = format!(
            "akash.network/manifest-service={service},akash.network/namespace={}",
            self.namespace(dseq)
        );
        let selector = selector.replace('=', "%3D").replace(',', "%2C").replace('/', "%2F");
        let listed = self.get(&format!("/api/v1/pods?labelSelector={selector}")).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let pods = listed["items"].as_array().unwrap().iter();
        pods.map(|pod| (text(&pod["spec"]["nodeName"]), text(&pod["status"]["podIP"]))).collect()
    }

    /// The namespace of a lease.
    fn namespace(&self, dseq: u64) -> String {
        let namespaces = self.cluster.ours("/api/v1/namespaces").unwrap();
        let is_of = |it: &&Value| {
            it["metadata"]["labels"]["akash.network/lease.id.dseq"] == json!(dseq.to_string())
        };
        let found = namespaces.iter().find(is_of).context("no namespace of that lease").unwrap();
        found["metadata"]["name"].as_str().unwrap().to_owned()
    }

    /// Which targets a replica of a tenant's service reaches, tried in its shell.
    fn reached(&self, dseq: u64, replica: usize, targets: &[Target]) -> Vec<String> {
        let tries = targets.iter().enumerate().map(|(number, target)| {
            let Target { ip, port, .. } = target;
            format!("(nc -w 5 {ip} {port} </dev/null >/dev/null 2>&1 && echo {number}) &")
        });
        let script = format!("{} wait; echo done", tries.collect::<Vec<_>>().join(" "));
        let (dseq, replica) = (dseq.to_string(), replica.to_string());
        let shell = ["lease-shell", "--dseq", &dseq, "--from", "tenant", "--replica-index"];
        let command = [replica.as_str(), "web", "--", "sh", "-c", &script];
        let said = self.network.run(&[&shell[..], &command[..]].concat());
        let said = said.unwrap_or_else(|error| panic!("{error:#}"));
        assert!(said.contains("done"), "{said}");
        let numbers: Vec<usize> =
            said.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let all = targets.iter().enumerate();
        let reached = all.filter(|(number, _)| numbers.contains(number));
        reached.map(|(_, target)| target.to_string()).collect()
    }

    /// What the pods of deployment 1 must not reach.
    fn forbidden(&self) -> Vec<Target> {
        let target = |what, ip: &str, port| Target { what, ip: ip.to_owned(), port };
        let mut targets = Vec::new();
        for (_, ip) in self.pods(2, "web") {
            targets.push(target("pod of another tenant", &ip, 8080));
        }
        let server: http::Uri = self.cluster.node.url().parse().unwrap();
        let (ip, port) = (server.host().unwrap(), server.port_u16().unwrap());
        targets.push(target("API server", ip, port));
        let service = self.get("/api/v1/namespaces/default/services/kubernetes").unwrap();
        targets.push(target("API server", service["spec"]["clusterIP"].as_str().unwrap(), 443));
        for (_, ip) in self.cluster.node.nodes() {
            targets.push(target("kubelet", &ip.to_string(), 10250));
        }
        targets.push(target("metadata", &METADATA.to_string(), 80));
        targets
    }

    /// What they need.
    fn needed(&self) -> Vec<Target> {
        let target = |what, ip: &str, port| Target { what, ip: ip.to_owned(), port };
        let mut targets = vec![target("internet", &INTERNET.to_string(), 80)];
        for (_, ip) in self.pods(1, "web") {
            targets.push(target("own pod", &ip, 8080));
        }
        let path = format!("/api/v1/namespaces/{}/services/peer", self.namespace(1));
        let service = self.get(&path).unwrap();
        targets.push(target("own service", service["spec"]["clusterIP"].as_str().unwrap(), 8080));
        targets
    }

    fn hold(&self) -> Result<Value> {
        Ok(self.network.ctl(&["status"])?["isolation_hold"].clone())
    }

    fn runs(&self) -> Result<Option<()>> {
        Ok((self.network.running()?.len() == 2).then_some(()))
    }

    fn restart(&mut self, flags: Vec<String>) {
        self.network.provider.as_mut().unwrap().kill();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.network.set_flags(&flags);
        self.network.start_provider().unwrap();
        insist("the provider acts", || self.network.ready());
    }
}

fn texts(targets: &[Target]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}

#[test]
fn a_pod_reaches_the_internet_and_its_own_lease_and_the_provider_finds_out_when_it_reaches_more() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let runtime = Runtime::new().unwrap();
    let mut node = runtime.block_on(Node::with_policies(2)).unwrap();
    runtime.block_on(node.serve_outside(&[INTERNET, METADATA])).unwrap();
    let (cluster, kubeconfig) = Cluster::prepare(runtime, node);
    let folder = tempfile::tempdir().unwrap();
    let run = flags(&DENY);
    let settings = Settings { kubeconfig: Some(kubeconfig), run, ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    network.open_gateway().unwrap();
    let mut stage = Stage { cluster, network };

    // The provider finds out at its start that tenants are kept apart, and bids.
    insist("tenants are known to be kept apart", || Ok(stage.hold()?.is_null().then_some(())));
    let sdl = folder.path().join("sdl.yaml");
    std::fs::write(&sdl, SDL).unwrap();
    let leases: Vec<_> = (1..=2).map(|dseq: u64| (dseq.to_string(), sdl.clone())).collect();
    take_leases(&stage.network, &leases);
    for dseq in ["1", "2"] {
        let send = ["send-manifest", dseq, sdl.to_str().unwrap()];
        insist("a manifest is taken", || stage.network.ctl(&send).map(Some));
    }
    insist("everything runs", || stage.runs());
    for dseq in [1, 2] {
        let mut nodes: Vec<_> = stage.pods(dseq, "web").into_iter().map(|(node, _)| node).collect();
        nodes.sort();
        nodes.dedup();
        assert_eq!(nodes.len(), 2, "both nodes have a pod of deployment {dseq}");
    }

    // Every pod reaches what it needs and nothing that it must not.
    let (needed, forbidden) = (stage.needed(), stage.forbidden());
    for replica in [0, 1] {
        assert_eq!(stage.reached(1, replica, &needed), texts(&needed));
        assert_eq!(stage.reached(1, replica, &forbidden), Vec::<String>::new());
    }

    // So finds the operator's probe, which leaves nothing behind and touches no lease.
    let pods = installed::running(&stage.cluster.runtime, &stage.cluster.node);
    let probed = stage.network.ctl(&["probe", "isolation"]).unwrap();
    assert_eq!(probed["isolated"], true, "{probed}");
    let attempts = probed["attempts"].as_array().unwrap();
    for target in ["other-tenant", "api-server", "kubelet", "metadata"] {
        let tried = attempts.iter().filter(|attempt| attempt["target"] == target).count();
        assert!(tried >= 2, "{target}: {probed}");
    }
    insist("nothing is left of it", || {
        let namespaces = stage.get("/api/v1/namespaces")?.to_string();
        Ok((!namespaces.contains("isolation-probe")).then_some(()))
    });
    assert_eq!(installed::running(&stage.cluster.runtime, &stage.cluster.node), pods);

    // Without the exclusion of the cluster's own public addresses, the API server and the kubelets
    // are part of the internet: a finding, and no new bids.
    stage.restart(flags(&[]));
    insist("findings are known", || Ok((stage.hold()?["reason"] == "findings").then_some(())));
    let found = stage.network.ctl(&["probe", "isolation"]).unwrap_err().to_string();
    assert!(found.contains("\"isolated\": false"), "{found}");
    let hold = stage.hold().unwrap().to_string();
    for (what, is_found) in [("API server", true), ("kubelet", true), ("another tenant", false)] {
        assert_eq!(hold.contains(what), is_found, "{what}: {hold}");
    }
    let order = ["deployment", "create", sdl.to_str().unwrap(), "--dseq", "3", "--deposit", "5act"];
    stage.network.tx("tenant", &order).unwrap();
    insist("the order gets no bid", || {
        let why = stage.network.ctl(&["why", "3"])?.to_string();
        Ok(why.contains("tenants are not isolated").then_some(()))
    });
    insist("leases go on", || stage.runs());

    // The same connections succeed once the policies of both leases are gone.
    for dseq in [1, 2] {
        let path = format!("{POLICIES}/namespaces/{}/networkpolicies", stage.namespace(dseq));
        let (runtime, node) = (&stage.cluster.runtime, &stage.cluster.node);
        installed::send(runtime, node, "DELETE", &path, &json!({})).unwrap();
    }
    insist("every forbidden target is reached", || {
        let reached = stage.reached(1, 0, &forbidden);
        anyhow::ensure!(reached == texts(&forbidden), "only {reached:?}");
        Ok(Some(()))
    });

    // With the exclusion back, the order that waited gets its bid.
    stage.restart(flags(&DENY));
    insist("the order gets its bid", || {
        let bids = stage.network.ctl(&["bids"])?;
        Ok((bids["bids"].as_array().map_or(0, Vec::len) == 1).then_some(()))
    });
}
