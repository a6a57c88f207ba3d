//! A cluster of machines on which nothing runs, and a chain with a provider.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings};
use kube_bed::{Bed, FakeNodes};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::real::installed::{
    add_machines, identities, insist, install, ours, running, take_leases,
};

const HOSTS: &str = "/apis/akash.network/v2beta2/namespaces/lease/providerhosts";
const INGRESSES: &str = "/apis/networking.k8s.io/v1/ingresses";

/// Where each hostname leads.
pub(crate) type Routes = BTreeMap<String, Way>;

/// Where a hostname leads: lease, service and port.
pub(crate) type Way = (u64, String, u64);

/// Which names a service gets, by its name.
pub(crate) type Names = BTreeMap<String, &'static str>;

/// Two services that both can be reached by name.
fn sdl(names: &Names) -> String {
    let accept = |service: &str| {
        let of_it = names.iter().filter(|(_, of)| **of == service);
        let listed: Vec<&str> = of_it.map(|(name, _)| name.as_str()).collect();
        if listed.is_empty() {
            return String::new();
        }
        format!("accept: [{}], ", listed.join(", "))
    };
    let (web, api) = (accept("web"), accept("api"));
    format!(
        r#"
version: "2.0"
services:
  web:
    image: nginx:1.29-alpine
    expose: [{{port: 80, {web}to: [{{global: true}}]}}]
  api:
    image: nginx:1.29-alpine
    expose: [{{port: 8080, as: 80, {api}to: [{{global: true}}]}}]
profiles:
  compute:
    small: {{resources: {{cpu: {{units: 0.1}}, memory: {{size: 32Mi}}, storage: {{size: 64Mi}}}}}}
  placement:
    anywhere: {{pricing: {{small: {{denom: uact, amount: 1000}}}}}}
deployment:
  web: {{anywhere: {{profile: small, count: 1}}}}
  api: {{anywhere: {{profile: small, count: 1}}}}
"#
    )
}

pub(crate) struct Stage {
    pub(crate) network: Network,
    folder: TempDir,
    _machines: FakeNodes,
    bed: Bed,
    runtime: Runtime,
}

impl Stage {
    /// Starts everything, the provider with more flags.
    pub(crate) fn start(folder: TempDir, flags: &[&str]) -> Self {
        let runtime = Runtime::new().unwrap();
        let bed = runtime.block_on(Bed::control_plane()).unwrap();
        let kubeconfig = install(&runtime, &bed);
        let machines = add_machines(&runtime, &bed);
        let settings = Settings {
            kubeconfig: Some(kubeconfig),
            run: flags.iter().map(|&flag| flag.to_owned()).collect(),
            ..Settings::default()
        };
        let mut network = Network::start(folder.path(), settings).unwrap();
        network.start_provider().unwrap();
        insist("the provider acts", || network.ready());
        network.open_gateway().unwrap();
        Self { network, folder, _machines: machines, bed, runtime }
    }

    /// The SDL of a deployment that lists names.
    pub(crate) fn sdl(&self, dseq: u64, names: &Names) -> PathBuf {
        let file = self.folder.path().join(format!("{dseq}.yaml"));
        std::fs::write(&file, sdl(names)).unwrap();
        file
    }

    /// Leases that run, each with the names that it lists. Who comes first has a name that two list.
    pub(crate) fn deploy(&self, leases: &BTreeMap<u64, Names>) {
        let sdl = |(dseq, names): (&u64, &Names)| (dseq.to_string(), self.sdl(*dseq, names));
        let deployments: Vec<(String, PathBuf)> = leases.iter().map(sdl).collect();
        take_leases(&self.network, &deployments);
        for (dseq, sdl) in &deployments {
            let send = ["send-manifest", sdl.to_str().unwrap(), "--dseq", dseq, "--from", "tenant"];
            insist("a manifest is taken", || self.network.run(&send).map(Some));
        }
        insist("everything runs", || {
            let pods = ours(&self.runtime, &self.bed, "/api/v1/pods")?;
            let ready = pods.iter().filter(|pod| pod["status"]["phase"] == "Running").count();
            let ready = ready == 2 * leases.len();
            Ok((ready && self.network.running()?.len() == leases.len()).then_some(()))
        });
    }

    /// Puts the hash of another manifest on chain; the manifest.
    pub(crate) fn announce(&self, dseq: u64, names: &Names) -> PathBuf {
        let sdl = self.sdl(dseq, names);
        let update = ["deployment", "update", sdl.to_str().unwrap(), "--dseq", &dseq.to_string()];
        self.network.tx("tenant", &update).unwrap();
        sdl
    }

    /// The namespace of each lease.
    pub(crate) fn namespaces(&self) -> Result<BTreeMap<String, u64>> {
        let found = ours(&self.runtime, &self.bed, "/api/v1/namespaces")?;
        let one = |object: &Value| {
            let dseq = object["metadata"]["labels"]["akash.network/lease.id.dseq"].as_str();
            Ok((text(&object["metadata"]["name"]), dseq.context("no lease")?.parse()?))
        };
        found.iter().map(one).collect()
    }

    /// What is claimed: the `ProviderHost`s.
    pub(crate) fn claims(&self) -> Result<Routes> {
        let found = ours(&self.runtime, &self.bed, HOSTS)?;
        let one = |object: &Value| {
            let spec = &object["spec"];
            let (dseq, port) = (number(&spec["dseq"])?, number(&spec["external_port"])?);
            Ok((text(&spec["hostname"]), (dseq, text(&spec["service_name"]), port)))
        };
        found.iter().map(one).collect()
    }

    /// Where names lead: the Ingresses, whoever made them. One name twice is an error.
    pub(crate) fn routes(&self) -> Result<Routes> {
        let namespaces = self.namespaces()?;
        let list = crate::real::installed::get(&self.runtime, &self.bed, INGRESSES)?;
        let mut routes = Routes::new();
        for object in list["items"].as_array().context("no list")? {
            let place = text(&object["metadata"]["namespace"]);
            let dseq = namespaces.get(&place).with_context(|| format!("{place} is no lease's"))?;
            for rule in object["spec"]["rules"].as_array().context("no rules")? {
                let to = &rule["http"]["paths"][0]["backend"]["service"];
                let way = (*dseq, text(&to["name"]), number(&to["port"]["number"])?);
                let host = text(&rule["host"]);
                if let Some(other) = routes.insert(host.clone(), way) {
                    anyhow::bail!("{host} leads to two places, one is {other:?}");
                }
            }
        }
        Ok(routes)
    }

    /// The identity of everything of some leases: pods and workloads, and routes if wanted.
    pub(crate) fn identities(&self, leases: &[u64], routes: bool) -> BTreeMap<String, String> {
        let mut found = running(&self.runtime, &self.bed);
        if routes {
            found.extend(identities(&self.runtime, &self.bed, &[INGRESSES]));
        }
        let namespaces = self.namespaces().unwrap();
        let is_of = |key: &str| {
            let words = key.split(' ').filter_map(|word| namespaces.get(word));
            words.into_iter().any(|dseq| leases.contains(dseq))
        };
        found.retain(|key, _| is_of(key));
        found
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().with_context(|| format!("no number: {value}"))
}
