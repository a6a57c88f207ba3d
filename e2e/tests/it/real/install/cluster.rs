//! A cluster with a node, a chain that its pods reach, and a terminal in which an operator types
//! what the guide says.

use std::fmt::Write as _;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use e2e::guide;
use e2e::network::{Network, Settings, wait_until};
use kube_bed::{Image, Node};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::real::install::{LONG, root};

/// The class of `deploy/kubernetes/kustomization.yaml`.
const CLASS: &str = "akash-ingress-class";

pub(crate) struct Cluster {
    pub(crate) network: Network,
    /// Where the ingress controller answers.
    pub(crate) ingress: SocketAddrV4,
    kubectl: PathBuf,
    node: Node,
    folder: TempDir,
    _runtime: Runtime,
}

impl Cluster {
    /// Starts everything but a provider. `accounts` have coins on the chain; if there are none, the
    /// chain makes an operator and a tenant.
    pub(crate) fn start(accounts: &[String]) -> Self {
        let runtime = Runtime::new().unwrap();
        let (node, ingress, kubectl) = runtime.block_on(async {
            let mut node = Node::start().await.unwrap();
            let ingress = node.serve_ingress(CLASS).await.unwrap();
            (node, ingress, kube_bed::kubectl().await.unwrap())
        });
        let folder = tempfile::tempdir().unwrap();
        let (listen, accounts) = (node.host().into(), accounts.to_vec());
        let settings = Settings { listen, accounts, ..Settings::default() };
        let network = Network::chain(folder.path(), settings).unwrap();
        let cluster = Self { network, ingress, kubectl, node, folder, _runtime: runtime };
        for name in ["deploy", "examples"] {
            copy(&root().join(name), &cluster.at(name));
        }
        cluster.set_values();
        cluster
    }

    /// A path in the operator's working directory.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Edits the two files that an operator edits.
    fn set_values(&self) {
        let node = self.node.ip();
        let chain = format!("AKASH_NODE=http://{}", self.network.rpc());
        let address = format!(
            "patches:\n- target: {{kind: Service, name: akash-provider}}\n  \
             patch: '[{{\"op\": \"add\", \"path\": \"/spec/externalIPs\", \"value\": [\"{node}\"]}}]'\n\n\
             resources:"
        );
        self.edit(
            "deploy/kubernetes/kustomization.yaml",
            &[
                ("AKASH_CHAIN_ID=akashnet-2", "AKASH_CHAIN_ID=local"),
                ("AKASH_NODE=https://rpc.akashnet.net:443", &chain),
                ("=provider.example.com", "=provider.localhost"),
                ("=ingress.example.com", "=localhost"),
                ("\nresources:", &format!("\n{address}")),
            ],
        );
        let host = format!("host: https://{node}:8443");
        let host = ("host: https://provider.example.com:8443", host.as_str());
        self.edit("deploy/kubernetes/provider.yaml", &[host]);
    }

    /// Replaces texts of a file that have to be there.
    pub(crate) fn edit(&self, file: &str, changes: &[(&str, &str)]) {
        let path = self.at(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{file} has no {from}");
            text = text.replace(from, to);
        }
        std::fs::write(path, text).unwrap();
    }

    /// Brings an image with busybox to the node, under any name.
    pub(crate) fn import_busybox(&self, name: &str, command: &[&str]) {
        self.node.import(&Image::busybox(name, command).unwrap()).unwrap();
    }

    /// Runs all commands of a section of the guide.
    pub(crate) fn follow_guide(&self, heading: &str, least: usize) {
        let guide = std::fs::read_to_string(root().join("docs/install.md")).unwrap();
        let section = guide::section(&guide, heading).unwrap();
        let commands = guide::commands(section);
        assert!(commands.len() >= least, "{heading} has {} commands", commands.len());
        // The program that is tested goes into the image; nothing is built here.
        let mut script =
            "cargo() (cd \"$ROOT\" && command cargo \"$@\" --program \"$PROGRAM\")\n".to_owned();
        for command in &commands {
            let quoted = command.replace('\'', r"'\''");
            writeln!(script, "echo '$ {quoted}'").unwrap();
            writeln!(script, "{command} || {{ echo \"FAILED: $?\"; exit 1; }}").unwrap();
        }
        let script = script.replace("provider-services.tar", "\"$HERE/provider-services.tar\"");
        self.type_in(&script)
            .unwrap_or_else(|error| panic!("{heading}: {error:#}\n{}", self.said()));
    }

    /// What an operator types; what comes of it.
    pub(crate) fn type_in(&self, script: &str) -> Result<String> {
        let program = e2e::program::path()?;
        let before = std::env::var("PATH")?;
        let folders = [program.parent(), self.kubectl.parent(), Some(Path::new(&before))];
        let folders: Vec<_> = folders.into_iter().flatten().map(Path::to_string_lossy).collect();
        let done = Command::new("sh")
            .args(["-c", script])
            .current_dir(self.folder.path())
            // The test runner sets it; a cargo that sees it compiles the workspace again.
            .env_remove("RUSTC_BOOTSTRAP")
            .env("PATH", folders.join(":"))
            .env("KUBECONFIG", self.node.kubeconfig())
            .env("CONTAINERD_ADDRESS", self.node.runtime())
            .env("INGRESS", self.ingress.to_string())
            .env("ROOT", root())
            .env("HERE", self.folder.path())
            .env("PROGRAM", &program)
            .envs(self.network.variables()?)
            .output()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let errors = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "{said}\n{errors}");
        Ok(said)
    }

    /// What `kubectl` prints.
    pub(crate) fn kubectl(&self, args: &str) -> Result<String> {
        self.type_in(&format!("kubectl {args}"))
    }

    /// Objects, as `kubectl get` lists them.
    pub(crate) fn get(&self, what: &str) -> Result<Vec<Value>> {
        let list: Value = serde_json::from_str(&self.kubectl(&format!("get {what} -o json"))?)?;
        list["items"].as_array().cloned().context("no list")
    }

    /// Asks the provider in its pod.
    pub(crate) fn ctl(&self, args: &str) -> Result<Value> {
        let exec = "-n akash-services exec akash-provider-0 -c provider -- provider-services ctl";
        let said = self.kubectl(&format!("{exec} {args} -o json"))?;
        serde_json::from_str(&said).with_context(|| said.clone())
    }

    /// Waits until something is so, or says what the provider has to say.
    pub(crate) fn insist(&self, what: &str, look: impl FnMut() -> Result<Option<()>>) {
        let found = wait_until(what, LONG, look);
        found.unwrap_or_else(|error| panic!("{error:#}\n{}", self.said()));
    }

    /// What the pod of the provider is and says, and what the chain says.
    pub(crate) fn said(&self) -> String {
        let look = "kubectl -n akash-services get pods,events; \
                    kubectl -n akash-services describe pods; \
                    kubectl -n akash-services logs akash-provider-0 --all-containers --tail=60; \
                    date --iso-8601=ns; tail -n 30 chain.log";
        self.type_in(&format!("{look}; true")).unwrap_or_else(|error| error.to_string())
    }

    /// A volume for what the provider remembers, as a storage class would make one.
    pub(crate) fn provide_volume(&self) {
        let place = self.at("volume");
        std::fs::create_dir(&place).unwrap();
        let volume = serde_json::json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "local": {"path": place},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
                ]}]}}
            }
        });
        std::fs::write(self.at("volume.json"), volume.to_string()).unwrap();
        self.kubectl("apply -f volume.json").unwrap();
    }
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let target = to.join(entry.file_name().unwrap());
        match entry.is_dir() {
            true => copy(&entry, &target),
            false => drop(std::fs::copy(&entry, &target).unwrap()),
        }
    }
}
