//! A bed with real nodes: containerd, kubelet and kube-proxy. Each node has a network namespace of its
//! own, and containerd and the kubelet have their own mounts.
//!
//! Pods really run, from images that [`Node::import`] brings. From this machine, addresses of pods,
//! of services and of the nodes' ports can be dialled as they are. Names of services do not resolve.
//! Network policies are stored; they are enforced only with [`Node::with_policies`].
//!
//! Everything is below the folder of the bed, except for what has to be elsewhere: the namespaces,
//! the routes, a cgroup per node, some links below `/var`. `guard.sh` knows them all. Only the MTU that
//! Felix notes in `/var/lib/calico` and the empty folder of the kubelet's plugins stay.

mod calico;
mod kubelet;
mod machine;
mod network;
mod runtime;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bed::{self, Bed};
use crate::daemon::Daemon;
use crate::device_plugin::DevicePlugin;
use crate::guard::Guard;
use crate::image::{self, Image};
use crate::programs::Programs;
use crate::traefik;
use machine::Machine;

/// A [`Bed`] with nodes on which pods run: one, unless more were asked for.
#[derive(Debug)]
pub struct Node {
    bed: Bed,
    first: Machine,
    /// Nodes after the first.
    more: Vec<Machine>,
}

impl Node {
    /// Why no node can be had here, as a line that `cargo xtask test` counts as a skipped test;
    /// `None` if one can, and where `CI` is set, so that a test fails there.
    pub fn missing() -> Option<String> {
        if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) || is_root() {
            return None;
        }
        Some("skipped: a node needs root".to_owned())
    }

    /// Starts a control plane and a node.
    pub async fn start() -> Result<Self> {
        Self::start_with(&bed::NODE, 1, false).await
    }

    /// Starts a control plane and several nodes. Pods reach each other across nodes.
    pub async fn start_many(nodes: usize) -> Result<Self> {
        Self::start_with(&bed::NODE, nodes, false).await
    }

    /// Starts a control plane and several nodes that enforce network policies, with Calico. Pods
    /// reach each other across nodes, as far as policies let them.
    pub async fn with_policies(nodes: usize) -> Result<Self> {
        Self::start_with(&bed::NODE_WITH_POLICIES, nodes, true).await
    }

    async fn start_with(
        programs: &'static [&'static str],
        nodes: usize,
        policies: bool,
    ) -> Result<Self> {
        ensure!(is_root(), "a node needs root");
        let programs = Programs::provide(programs).await?;
        let guard = Guard::new()?;
        let first = Machine::new(guard.folder(), None)?;
        let mut more = Vec::<Machine>::new();
        for _ in 1..nodes {
            let machine = Machine::new(guard.folder(), Some(&first.network))?;
            for other in [&first].into_iter().chain(&more) {
                machine.network.connect(&other.network)?;
            }
            more.push(machine);
        }
        let services = first.network.services();
        let mut bed = Bed::start(programs, guard, first.network.host(), &services, true).await?;
        if policies {
            calico::install(&bed.client()).await?;
        }
        for machine in [&first].into_iter().chain(&more) {
            machine.start(&mut bed, policies).await?;
        }
        Ok(Self { bed, first, more })
    }

    fn machines(&self) -> impl Iterator<Item = &Machine> {
        [&self.first].into_iter().chain(&self.more)
    }

    /// The address of the first node, at which its ports answer.
    pub fn ip(&self) -> Ipv4Addr {
        self.first.network.node()
    }

    /// The names of all nodes and their addresses.
    pub fn nodes(&self) -> Vec<(String, Ipv4Addr)> {
        self.machines().map(|machine| (machine.name.clone(), machine.network.node())).collect()
    }

    /// This machine's address, as the first node and its pods see it. The API server has it.
    pub fn host(&self) -> Ipv4Addr {
        self.first.network.host()
    }

    /// Where containerd of the first node listens.
    pub fn runtime(&self) -> PathBuf {
        self.first.socket()
    }

    /// Lets Traefik serve the Ingress objects of a class; where it answers.
    pub async fn serve_ingress(&mut self, class: &str) -> Result<SocketAddrV4> {
        let programs = Programs::provide(&["traefik"]).await?;
        let program = programs.command("traefik")?;
        let (address, daemon) = traefik::start(&self.bed, &program, self.host(), class).await?;
        self.bed.keep(daemon);
        Ok(address)
    }

    /// Starts a device plugin on a node that offers `count` GPUs of a resource such as
    /// `nvidia.com/gpu`, and waits until the kubelet has accepted it.
    pub async fn start_device_plugin(
        &self,
        node: &str,
        resource: &str,
        count: usize,
    ) -> Result<DevicePlugin> {
        let machine = self.machines().find(|machine| machine.name == node);
        let machine = machine.with_context(|| format!("there is no node {node}"))?;
        DevicePlugin::start(&machine.device_plugins(), resource, count).await
    }

    /// Kills a node's kubelet, starts it again and waits until it answers. Pods go on.
    pub async fn restart_kubelet(&mut self, node: &str) -> Result<()> {
        let mut machines = [&self.first].into_iter().chain(&self.more);
        let machine = machines.find(|machine| machine.name == node);
        let machine = machine.with_context(|| format!("there is no node {node}"))?;
        machine.restart_kubelet(&mut self.bed).await
    }

    /// Makes a namespace outside of the cluster with these addresses, to which every node has a
    /// route. There a web server answers on port 80. Once for each bed.
    pub async fn serve_outside(&mut self, addresses: &[Ipv4Addr]) -> Result<()> {
        let outside = self.first.network.make_outside(addresses)?;
        for machine in self.machines() {
            machine.network.connect_outside(&outside, addresses)?;
        }
        let pages = self.folder().join("outside");
        std::fs::create_dir_all(&pages)?;
        std::fs::write(pages.join("index.html"), "outside\n")?;
        let mut command = network::inside(&outside);
        command.arg(image::busybox()?).args(["httpd", "-f", "-p", "80", "-h"]).arg(pages);
        let mut server = Daemon::start(self.folder(), "outside", &command)?;
        let first = addresses.first().context("no address to serve")?.to_string();
        let answers = async || {
            let mut ask = self.inside("busybox");
            ask.args(["nc", "-w", "2", &first, "80"]).stdin(std::process::Stdio::null());
            ask.output().is_ok_and(|done| done.status.success())
        };
        server.wait_until("it answers", answers).await?;
        self.bed.keep(server);
        Ok(())
    }

    /// A command that will run with the network of the first node.
    pub fn inside(&self, program: &str) -> Command {
        let mut command = self.first.network.inside();
        command.arg(program);
        command
    }

    /// Brings an image to every node.
    pub fn import(&self, image: &Image) -> Result<()> {
        let archive = tempfile::NamedTempFile::new_in(self.folder())?;
        image.write(archive.path())?;
        self.import_archive(archive.path())
    }

    /// Brings the images of an OCI archive to every node.
    pub fn import_archive(&self, archive: &Path) -> Result<()> {
        self.machines().try_for_each(|machine| machine.import_archive(archive))
    }
}

impl Deref for Node {
    type Target = Bed;

    fn deref(&self) -> &Bed {
        &self.bed
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut Bed {
        &mut self.bed
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a program that has to succeed.
fn run(line: &str) -> Result<()> {
    let mut words = line.split_whitespace();
    let done = Command::new(words.next().unwrap_or_default())
        .args(words)
        .output()
        .with_context(|| format!("running `{line}`"))?;
    ensure!(done.status.success(), "`{line}`: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}
