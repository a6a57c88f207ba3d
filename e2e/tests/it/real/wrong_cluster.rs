//! A provider that is started on a cluster without its manifests closes no lease and deletes no pod.

use std::path::PathBuf;

use anyhow::Result;
use e2e::network::{Network, Settings};
use kube_bed::Node;
use serde_json::{Value, json};

use crate::real::installed::{self, identities, insist, take_leases};
use crate::real::kubernetes::{Cluster, SDL};

const MANIFESTS: &str = "/apis/akash.network/v2beta2/namespaces/lease/manifests";

/// Both far shorter than by default, so that a provider that does not wait would close at once.
const FLAGS: [&str; 4] = ["--manifest-timeout", "5s", "--lost-manifest-patience", "20s"];

/// So many blocks of a quarter of a second pass while nothing may happen: three manifest timeouts.
const QUIET: u64 = 60;

struct Stage {
    cluster: Cluster,
    network: Network,
    operator: String,
    sdl: PathBuf,
}

impl Stage {
    /// Three leases that run.
    fn start(folder: &std::path::Path) -> Self {
        let (cluster, kubeconfig) = Cluster::start();
        let settings = Settings { kubeconfig: Some(kubeconfig), ..Settings::default() };
        let mut network = Network::start(folder, settings).unwrap();
        // Tenants have time at first.
        network.start_provider().unwrap();
        insist("the provider acts", || network.ready());
        let sdl = folder.join("sdl.yaml");
        std::fs::write(&sdl, SDL).unwrap();
        let leases: Vec<_> = (1..=3).map(|dseq: u64| (dseq.to_string(), sdl.clone())).collect();
        take_leases(&network, &leases);
        let operator = network.address("operator").unwrap();
        let stage = Self { cluster, network, operator, sdl };
        (1..=3).for_each(|dseq| stage.send_manifest(dseq));
        stage.insist("everything runs", |stage| Ok(stage.stages()? == ["running"; 3]));
        stage
    }

    fn insist(&self, what: &str, is_so: impl Fn(&Self) -> Result<bool>) {
        let log = |error| panic!("{error:#}\n{}", self.network.provider_log());
        let limit = std::time::Duration::from_secs(240);
        e2e::network::wait_until(what, limit, || Ok(is_so(self)?.then_some(())))
            .unwrap_or_else(log);
    }

    fn send_manifest(&self, dseq: u64) {
        let (dseq, sdl) = (dseq.to_string(), self.sdl.to_str().unwrap());
        insist("a manifest is taken", || {
            self.network.ctl(&["send-manifest", &dseq, sdl]).map(Some)
        });
    }

    fn restart(&mut self, flags: &[&str]) {
        self.network.provider.as_mut().unwrap().kill();
        self.network.set_flags(flags);
        self.network.start_provider().unwrap();
        self.insist("the engine has read everything", |stage| {
            Ok(stage.network.ctl(&["status"])?["recognition"] != "undecided")
        });
    }

    /// Stages of the leases, in the order of their numbers.
    fn stages(&self) -> Result<Vec<String>> {
        let told = self.network.ctl(&["leases"])?;
        let mut stages: Vec<_> = told["leases"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|lease| {
                (lease["id"].to_string(), lease["stage"].as_str().unwrap_or("").to_owned())
            })
            .collect();
        stages.sort();
        Ok(stages.into_iter().map(|(_, stage)| stage).collect())
    }

    fn recognition(&self) -> String {
        let status = self.network.ctl(&["status"]).unwrap();
        status["recognition"].as_str().unwrap().to_owned()
    }

    /// Leases of the provider that are active on chain.
    fn active(&self) -> Result<usize> {
        let list = ["query", "market", "lease", "list", "--provider", &self.operator];
        let listed = self.network.json(&[&list[..], &["--state", "active"]].concat())?;
        Ok(listed["leases"].as_array().map_or(0, Vec::len))
    }

    fn pods(&self) -> std::collections::BTreeMap<String, String> {
        identities(&self.cluster.runtime, &self.cluster.node, &["/api/v1/pods"])
    }

    /// Many blocks later, all leases are active.
    fn nothing_is_closed(&self) {
        let height = || self.network.ctl(&["status"]).unwrap()["height"].as_u64().unwrap();
        let first = height();
        self.insist("blocks pass", |_| Ok(height() > first + QUIET));
        assert_eq!(self.active().unwrap(), 3, "{}", self.network.provider_log());
    }

    fn delete(&self, path: &str) {
        let (runtime, node) = (&self.cluster.runtime, &self.cluster.node);
        installed::send(runtime, node, "DELETE", path, &json!({})).unwrap();
    }

    fn names(&self, path: &str) -> Vec<String> {
        let name = |it: &Value| it["metadata"]["name"].as_str().unwrap().to_owned();
        self.cluster.ours(path).unwrap().iter().map(name).collect()
    }
}

#[test]
fn an_empty_cluster_a_wrong_namespace_and_a_deleted_manifest_cost_no_lease() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut stage = Stage::start(folder.path());
    let pods = stage.pods();

    // Another manifest namespace, which exists: it is named, and nobody's pods are touched.
    installed::add_manifest_namespace(&stage.cluster.runtime, &stage.cluster.node, "other");
    stage.restart(&[&FLAGS[..], &["--k8s-manifest-ns", "other"]].concat());
    assert_eq!(stage.recognition(), "unknown");
    let why = stage.network.ctl(&["status"]).unwrap()["unknown_cluster"].to_string();
    assert!(why.contains("--k8s-manifest-ns"), "{why}");
    stage.nothing_is_closed();
    assert_eq!(stage.pods(), pods);

    // One Manifest is deleted: its pods stay, and sending it again makes it whole.
    let manifests = stage.names(MANIFESTS);
    stage.delete(&format!("{MANIFESTS}/{}", manifests[0]));
    stage.restart(&FLAGS);
    assert_eq!(stage.recognition(), "known");
    stage.insist("it is known which has none", |stage| {
        Ok(stage.stages()?.iter().filter(|it| *it == "manifest missing").count() == 1)
    });
    stage.insist("it is drift", |stage| {
        Ok(stage.network.ctl(&["drift"])?.to_string().contains("manifest_missing"))
    });
    stage.nothing_is_closed();
    assert_eq!(stage.pods(), pods);
    (1..=3).for_each(|dseq| stage.send_manifest(dseq));
    stage.insist("everything runs", |stage| Ok(stage.stages()? == ["running"; 3]));

    // Everything is gone, as with a new cluster: nothing is closed until the operator accepts it.
    stage.network.provider.as_mut().unwrap().kill();
    let kinds = ["/api/v1/namespaces", MANIFESTS];
    for path in kinds {
        stage.names(path).iter().for_each(|name| stage.delete(&format!("{path}/{name}")));
    }
    let hosts = MANIFESTS.replace("manifests", "providerhosts");
    stage.names(&hosts).iter().for_each(|name| stage.delete(&format!("{hosts}/{name}")));
    stage.insist("nothing is left", |stage| {
        Ok(kinds.iter().all(|path| stage.names(path).is_empty()))
    });
    stage.restart(&FLAGS);
    assert_eq!(stage.recognition(), "unknown");
    stage.nothing_is_closed();
    let refused = stage.network.ctl(&["send-manifest", "1", stage.sdl.to_str().unwrap()]);
    assert!(format!("{:#}", refused.unwrap_err()).contains("does not know this cluster"));

    stage.network.ctl(&["cluster", "accept"]).unwrap();
    stage.insist("the cluster is known", |stage| Ok(stage.recognition() == "known"));
    stage.send_manifest(1);
    stage.send_manifest(2);
    stage.insist("what was sent again runs", |stage| {
        Ok(stage.stages()?.iter().filter(|it| *it == "running").count() == 2)
    });
    stage.insist("the one that was not is closed after its wait", |stage| Ok(stage.active()? == 2));
}
