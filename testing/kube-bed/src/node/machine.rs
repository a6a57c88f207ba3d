//! One node of a bed: its network, and the programs that make a node of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Node as NodeObject;
use kube::Api;
use tokio::net::TcpStream;

use super::network::{self, Network};
use super::{calico, kubelet, runtime};
use crate::bed::Bed;
use crate::daemon::Daemon;
use crate::image::Image;

/// Where every kubelet looks for device plugins, whatever its root is.
const DEVICE_PLUGINS: &str = "/var/lib/kubelet/device-plugins";

/// Puts a folder of the node over [`DEVICE_PLUGINS`], seen by nothing else, and becomes a program.
const OWN_PLUGINS: &str = r#"mount --bind "$1" "$0" && shift && exec "$@""#;

/// A node. What runs on it is kept by the bed.
#[derive(Debug)]
pub(super) struct Machine {
    /// The name of the node.
    pub(super) name: String,
    pub(super) network: Network,
    /// What only this node has, below the folder of the bed.
    folder: PathBuf,
}

impl Machine {
    /// The first node of a bed, or with `first` a further one, without anything that runs.
    pub(super) fn new(bed: &Path, first: Option<&Network>) -> Result<Self> {
        let network = Network::make(bed, first)?;
        let number = network.number();
        let folder = bed.join("nodes").join(number.to_string());
        std::fs::create_dir_all(&folder)?;
        let name =
            if first.is_none() { "bed-node".to_owned() } else { format!("bed-node-{number}") };
        Ok(Self { name, network, folder })
    }

    /// Starts everything on it and waits until it takes pods.
    pub(super) async fn start(&self, bed: &mut Bed, policies: bool) -> Result<()> {
        self.start_runtime(bed, policies).await?;
        self.start_kubelet(bed, policies).await?;
        if policies {
            self.start_felix(bed).await?;
        }
        Ok(())
    }

    /// Where containerd listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("containerd.sock")
    }

    /// Where the kubelet and device plugins listen.
    pub(super) fn device_plugins(&self) -> PathBuf {
        self.folder.join("device-plugins")
    }

    /// Brings the images of an OCI archive to the node.
    pub(super) fn import_archive(&self, archive: &Path) -> Result<()> {
        let done =
            runtime::client(&self.folder).args(["images", "import"]).arg(archive).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "importing {}: {said}", archive.display());
        Ok(())
    }

    /// What a program is called that every node has one of.
    fn named(&self, program: &str) -> String {
        format!("{program}-{}", self.network.number())
    }

    fn inside(&self, program: &Command) -> Command {
        let mut command = self.network.inside();
        command.arg(program.get_program());
        command
    }

    async fn start_runtime(&self, bed: &mut Bed, policies: bool) -> Result<()> {
        let folder = &self.folder;
        let config = if policies {
            let plugin = bed.programs().command("calico")?;
            let (name, pods) = (self.network.name(), self.network.pods());
            let pods = calico::network(folder, &name, &self.name, &pods, bed.kubeconfig());
            runtime::configure(folder, &pods, Some(Path::new(plugin.get_program())))?
        } else {
            runtime::configure(folder, &runtime::bridge(folder, &self.network), None)?
        };
        let plugins = self.device_plugins();
        std::fs::create_dir_all(&plugins)?;
        std::fs::create_dir_all(DEVICE_PLUGINS)?;
        let mut command = self.network.inside();
        command.args(["unshare", "--mount", "--propagation", "slave", "sh", "-c", OWN_PLUGINS]);
        command.args([DEVICE_PLUGINS.as_ref(), plugins.as_path()]);
        command.args(["containerd", "--config"]).arg(config);
        let mut containerd = Daemon::start(bed.folder(), &self.named("containerd"), &command)?;
        let answers = async || {
            runtime::client(folder).arg("version").output().is_ok_and(|done| done.status.success())
        };
        containerd.wait_until("it answers", answers).await?;
        bed.keep(containerd);
        let archive = tempfile::NamedTempFile::new_in(folder)?;
        Image::pause()?.write(archive.path())?;
        self.import_archive(archive.path())
    }

    async fn start_kubelet(&self, bed: &mut Bed, policies: bool) -> Result<()> {
        let (name, node) = (self.name.as_str(), self.network.node());
        network::note_sysctls()?;
        let certificate = self.named("kubelet");
        let user = format!("system:node:{name}");
        bed.keys().certify(&certificate, &user, Some("system:nodes"), &[node.into()])?;
        let kubeconfig = bed.keys().kubeconfig(&certificate, bed.address())?;
        let config = kubelet::configure(&self.folder, bed.keys(), &certificate, &self.network)?;
        // Among the mounts of containerd: each has to see what the other mounts.
        let containerd = bed.kept(&self.named("containerd"))?.id();
        let mut command = self.network.inside();
        command.arg(format!("--mount=/proc/{containerd}/ns/mnt"));
        command.arg(bed.programs().command("kubelet")?.get_program());
        command.args(kubelet::flags(&config, &kubeconfig, name, node));
        let mut kubelet = Daemon::start(bed.folder(), &self.named("kubelet"), &command)?;

        let proxy = self.named("kube-proxy");
        let kubeconfig = bed.keys().admit(&proxy, "system:kube-proxy", None, bed.address())?;
        let config =
            kubelet::configure_proxy(&self.folder, &kubeconfig, name, &self.network, !policies)?;
        let mut command = self.inside(&bed.programs().command("kube-proxy")?);
        command.arg("--config").arg(config);
        let mut proxy = Daemon::start(bed.folder(), &proxy, &command)?;

        let nodes = Api::<NodeObject>::all(bed.client());
        let takes_pods =
            async || nodes.get(name).await.is_ok_and(|node| kubelet::takes_pods(&node));
        kubelet.wait_until("the node takes pods", takes_pods).await?;
        let health = (node, kubelet::PROXY_HEALTH);
        let serves = async || TcpStream::connect(health).await.is_ok();
        proxy.wait_until("it serves", serves).await?;
        bed.keep(kubelet);
        bed.keep(proxy);
        Ok(())
    }

    /// Kills the kubelet, starts it again and waits until it answers.
    pub(super) async fn restart_kubelet(&self, bed: &mut Bed) -> Result<()> {
        let node = self.network.node();
        let kubelet = bed.kept(&self.named("kubelet"))?;
        kubelet.restart()?;
        let answers = async || TcpStream::connect((node, kubelet::PORT)).await.is_ok();
        kubelet.wait_until("it answers", answers).await
    }

    async fn start_felix(&self, bed: &mut Bed) -> Result<()> {
        let node = self.network.node();
        let mut command = self.inside(&bed.programs().command("calico-felix")?);
        calico::configure(&mut command, &self.name, node, bed.kubeconfig());
        let mut felix = Daemon::start(bed.folder(), &self.named("calico-felix"), &command)?;
        felix.wait_until("it is ready", async || calico::is_ready(node).await).await?;
        bed.keep(felix);
        Ok(())
    }
}
