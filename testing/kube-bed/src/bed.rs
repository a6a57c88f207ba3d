//! A bed: what runs, and how to reach it.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use crate::daemon::Daemon;
use crate::guard::Guard;
use crate::keys::Keys;
use crate::port::Port;
use crate::programs::Programs;
use crate::{api, control};

/// Addresses that services get where nobody can reach them.
const SERVICES: &str = "10.96.0.0/16";

const CONTROL_PLANE: [&str; 4] =
    ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

pub(crate) const NODE: [&str; 6] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
];

/// As [`NODE`], and what enforces network policies.
pub(crate) const NODE_WITH_POLICIES: [&str; 8] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "calico-felix",
    "calico",
];

/// A Kubernetes cluster that belongs to one test.
pub struct Bed {
    // First, because it ends everything in the right order; the others have nothing left to do.
    guard: Guard,
    daemons: Vec<Daemon>,
    /// `None` while it is down.
    api: Option<Daemon>,
    programs: Programs,
    settings: api::Settings,
    keys: Keys,
    kubeconfig: PathBuf,
    client: Client,
    _port: Port,
}

impl Bed {
    /// Starts etcd and an API server. Nothing acts on what is written there.
    pub async fn api_server() -> Result<Self> {
        let programs = Programs::provide(&["etcd", "kube-apiserver"]).await?;
        Self::start(programs, Guard::new()?, Ipv4Addr::LOCALHOST, SERVICES, false).await
    }

    /// Starts controllers and a scheduler too: deployments become pods, which wait for nodes.
    pub async fn control_plane() -> Result<Self> {
        let programs = Programs::provide(&CONTROL_PLANE).await?;
        Self::start(programs, Guard::new()?, Ipv4Addr::LOCALHOST, SERVICES, true).await
    }

    pub(crate) async fn start(
        programs: Programs,
        guard: Guard,
        ip: Ipv4Addr,
        services: &str,
        controllers: bool,
    ) -> Result<Self> {
        let port = Port::reserve(ip)?;
        let settings =
            api::Settings { address: port.address(), services: services.to_owned(), controllers };
        let folder = guard.folder();
        let keys = Keys::new(folder.join("keys"))?;
        keys.certify("api", "kube-apiserver", None, &[ip.into(), first_of(services)?])?;
        keys.certify("api-client", "kube-apiserver", Some("system:masters"), &[])?;
        let kubeconfig =
            keys.admit("admin", "bed-admin", Some("system:masters"), settings.address)?;
        let client = client(&kubeconfig).await?;
        let etcd = Daemon::start(folder, "etcd", &api::etcd(&programs)?)?;
        let mut bed = Self {
            guard,
            daemons: vec![etcd],
            api: None,
            programs,
            settings,
            keys,
            kubeconfig,
            client,
            _port: port,
        };
        bed.start_api().await?;
        if controllers {
            bed.start_control().await?;
        }
        Ok(bed)
    }

    async fn start_control(&mut self) -> Result<()> {
        let admit =
            |name| self.keys.admit(name, &format!("system:{name}"), None, self.settings.address);
        let scheduler = control::scheduler(&self.programs, &admit("kube-scheduler")?)?;
        let kubeconfig = admit("kube-controller-manager")?;
        let controllers = control::controllers(&self.programs, &self.keys, &kubeconfig)?;
        let scheduler = Daemon::start(self.folder(), "kube-scheduler", &scheduler)?;
        self.daemons.push(scheduler);
        let mut controllers =
            Daemon::start(self.folder(), "kube-controller-manager", &controllers)?;
        let accounts = Api::<ServiceAccount>::default_namespaced(self.client());
        let admits_pods = async || accounts.get("default").await.is_ok();
        controllers.wait_until("pods have a service account", admits_pods).await?;
        self.daemons.push(controllers);
        Ok(())
    }

    /// A kubeconfig that may do everything.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A kubeconfig of someone who may do what roles allow them.
    pub fn kubeconfig_of(&self, user: &str, group: Option<&str>) -> Result<PathBuf> {
        self.keys.admit(&format!("user-{user}"), user, group, self.settings.address)
    }

    /// Where the API server answers; the same after an outage.
    pub fn url(&self) -> String {
        format!("https://{}", self.settings.address)
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The folder of the bed. What is put there goes with the bed.
    pub fn folder(&self) -> &Path {
        self.guard.folder()
    }

    pub(crate) fn address(&self) -> SocketAddrV4 {
        self.settings.address
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Lets a program run for as long as the bed stands.
    pub(crate) fn keep(&mut self, daemon: Daemon) {
        self.daemons.push(daemon);
    }

    /// A program that the bed keeps.
    pub(crate) fn kept(&mut self, name: &str) -> Result<&mut Daemon> {
        let kept = self.daemons.iter_mut().find(|daemon| daemon.name() == name);
        kept.with_context(|| format!("{name} does not run"))
    }

    /// Kills the API server. Connections are refused until it is started again.
    pub fn stop_api(&mut self) {
        self.api = None;
    }

    /// Starts the API server, as it was and where it was, and waits until it serves.
    pub async fn start_api(&mut self) -> Result<()> {
        self.stop_api();
        let folder = self.guard.folder();
        let command = api::server(&self.programs, &self.keys, &self.settings)?;
        let mut api = Daemon::start(folder, "kube-apiserver", &command)?;
        api.wait_until("it is ready", async || self.is_ready().await).await?;
        self.api = Some(api);
        Ok(())
    }

    /// Ready, and done with what it writes first.
    async fn is_ready(&self) -> bool {
        let look = async {
            let ready = http::Request::get("/readyz").body(Vec::new())?;
            self.client.request_text(ready).await?;
            Api::<Namespace>::all(self.client()).get("default").await?;
            anyhow::Ok(())
        };
        tokio::time::timeout(Duration::from_secs(5), look).await.is_ok_and(|looked| looked.is_ok())
    }
}

impl std::fmt::Debug for Bed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bed").field("url", &self.url()).field("folder", &self.folder()).finish()
    }
}

/// The first address of a network, which the service `kubernetes` has.
fn first_of(network: &str) -> Result<IpAddr> {
    let (base, _) = network.split_once('/').context("a network without its size")?;
    Ok(Ipv4Addr::from_bits(base.parse::<Ipv4Addr>()?.to_bits() + 1).into())
}

async fn client(kubeconfig: &Path) -> Result<Client> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
    Client::try_from(config).context("making a client")
}
