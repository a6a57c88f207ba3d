//! A bed with one real node: containerd, kubelet and kube-proxy in a network namespace of their own.
//!
//! Pods really run, from images that [`Node::import`] brings. From this machine, addresses of pods,
//! of services and of the node's ports can be dialled as they are. Names of services do not resolve,
//! and network policies are stored but nobody enforces them.
//!
//! Everything is below the folder of the bed, except for what has to be elsewhere: the namespace,
//! the routes, a cgroup, some links below `/var`. `guard.sh` knows them all.

mod kubelet;
mod network;
mod runtime;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Node as NodeObject;
use kube::Api;

use crate::bed::{self, Bed};
use crate::daemon::Daemon;
use crate::guard::Guard;
use crate::image::Image;
use crate::programs::Programs;
use crate::traefik;
use network::Network;

/// The name of the node.
const NAME: &str = "bed-node";

/// A [`Bed`] with a node on which pods run.
#[derive(Debug)]
pub struct Node {
    bed: Bed,
    network: Network,
}

impl Node {
    /// Why no node can be had here; `None` if one can, and where `CI` is set, so that a test fails
    /// there instead of being left out.
    #[must_use]
    pub fn missing() -> Option<String> {
        if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) || is_root() {
            return None;
        }
        Some("not tested: a node needs root".to_owned())
    }

    /// Starts a control plane and a node.
    ///
    /// # Errors
    ///
    /// When this is not root, or something does not start; the error says what to install.
    pub async fn start() -> Result<Self> {
        ensure!(is_root(), "a node needs root");
        let programs = Programs::provide(&bed::NODE).await?;
        let guard = Guard::new()?;
        let network = Network::make(guard.folder())?;
        let services = network.services();
        let bed = Bed::start(programs, guard, network.host(), &services, true).await?;
        let mut node = Self { bed, network };
        node.start_runtime().await?;
        node.start_kubelet().await?;
        Ok(node)
    }

    /// Its address, at which its ports answer.
    #[must_use]
    pub fn ip(&self) -> Ipv4Addr {
        self.network.node()
    }

    /// This machine's address, as the node and its pods see it.
    #[must_use]
    pub fn host(&self) -> Ipv4Addr {
        self.network.host()
    }

    /// Where containerd listens.
    #[must_use]
    pub fn runtime(&self) -> PathBuf {
        self.folder().join("containerd.sock")
    }

    /// Lets Traefik serve the Ingress objects of a class; where it answers.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub async fn serve_ingress(&mut self, class: &str) -> Result<SocketAddrV4> {
        let programs = Programs::provide(&["traefik"]).await?;
        let program = programs.command("traefik")?;
        let (address, daemon) = traefik::start(&self.bed, &program, self.host(), class).await?;
        self.bed.keep(daemon);
        Ok(address)
    }

    /// A command that will run with the network of the node.
    #[must_use]
    pub fn inside(&self, program: &str) -> Command {
        let mut command = self.network.inside();
        command.arg(program);
        command
    }

    /// Brings an image to the node.
    ///
    /// # Errors
    ///
    /// When containerd does not take it.
    pub fn import(&self, image: &Image) -> Result<()> {
        let archive = tempfile::NamedTempFile::new_in(self.folder())?;
        image.write(archive.path())?;
        self.import_archive(archive.path())
    }

    /// Brings the images of an OCI archive to the node.
    ///
    /// # Errors
    ///
    /// When containerd does not take them.
    pub fn import_archive(&self, archive: &Path) -> Result<()> {
        let done =
            runtime::client(self.folder()).args(["images", "import"]).arg(archive).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "importing {}: {said}", archive.display());
        Ok(())
    }

    async fn start_runtime(&mut self) -> Result<()> {
        let folder = self.bed.folder();
        let config = runtime::configure(folder, &self.network)?;
        let mut command = self.inside("containerd");
        command.arg("--config").arg(config);
        let mut containerd = Daemon::start(folder, "containerd", &command)?;
        let answers = async || {
            runtime::client(folder).arg("version").output().is_ok_and(|done| done.status.success())
        };
        containerd.wait_until("it answers", answers).await?;
        self.bed.keep(containerd);
        self.import(&Image::pause()?)
    }

    async fn start_kubelet(&mut self) -> Result<()> {
        let (bed, node) = (&self.bed, self.network.node());
        network::note_sysctls()?;
        bed.keys().certify(
            "kubelet",
            &format!("system:node:{NAME}"),
            Some("system:nodes"),
            &[node.into()],
        )?;
        let kubeconfig = bed.keys().kubeconfig("kubelet", bed.address())?;
        let config = kubelet::configure(bed.folder(), bed.keys(), &self.network)?;
        let mut command = self.network.inside();
        let program = bed.programs().command("kubelet")?;
        command.arg(program.get_program()).args(kubelet::flags(&config, &kubeconfig, node));
        let mut kubelet = Daemon::start(bed.folder(), "kubelet", &command)?;

        let kubeconfig =
            bed.keys().admit("kube-proxy", "system:kube-proxy", None, bed.address())?;
        let config = kubelet::configure_proxy(bed.folder(), &kubeconfig, &self.network)?;
        let mut command = self.network.inside();
        let program = bed.programs().command("kube-proxy")?;
        command.arg(program.get_program()).arg("--config").arg(config);
        let mut proxy = Daemon::start(bed.folder(), "kube-proxy", &command)?;

        let nodes = Api::<NodeObject>::all(bed.client());
        let takes_pods =
            async || nodes.get(NAME).await.is_ok_and(|node| kubelet::takes_pods(&node));
        kubelet.wait_until("the node takes pods", takes_pods).await?;
        let health = (node, kubelet::PROXY_HEALTH);
        let serves = async || tokio::net::TcpStream::connect(health).await.is_ok();
        proxy.wait_until("it serves", serves).await?;
        self.bed.keep(kubelet);
        self.bed.keep(proxy);
        Ok(())
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
