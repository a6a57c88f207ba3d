//! A device plugin: tells a kubelet of GPUs, over the kubelet's own socket, as a vendor's does.
//!
//! A kubelet that starts deletes the sockets of all plugins; the plugin sees that and registers
//! again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::{Stream, stream};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status};

use v1beta1::device_plugin_server::{DevicePlugin as Service, DevicePluginServer};
use v1beta1::registration_client::RegistrationClient;
use v1beta1::{
    AllocateRequest, AllocateResponse, ContainerAllocateResponse, Device, DevicePluginOptions,
    DeviceSpec, Empty, ListAndWatchResponse, RegisterRequest,
};

#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
mod v1beta1 {
    tonic::include_proto!("v1beta1");
}

/// How often the plugin looks whether its socket is there, and tries to register.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long a kubelet may take to accept the plugin.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running device plugin with GPUs of one resource on one node. Dropped, it dies as a plugin does
/// that is killed.
///
/// A container with GPUs of `nvidia.com/gpu` gets their ids as `NVIDIA_VISIBLE_DEVICES` and a device
/// file `/dev/nvidiaN` for each; other vendors accordingly.
#[derive(Debug)]
pub struct DevicePlugin {
    /// `None` once dropped.
    runtime: Option<Runtime>,
    /// Whether each GPU is healthy, by id.
    health: watch::Sender<BTreeMap<String, bool>>,
    registrations: watch::Receiver<usize>,
}

impl DevicePlugin {
    /// Starts a plugin beside the kubelet's socket in `sockets` and waits until it is registered.
    pub(crate) async fn start(sockets: &Path, resource: &str, count: usize) -> Result<Self> {
        let vendor = resource.split('.').next().unwrap_or(resource);
        let gpus = Gpus::new(sockets, vendor, count)?;
        let health = gpus.paths.keys().map(|id| (id.clone(), true)).collect();
        let health = watch::Sender::new(health);
        let plugin = Plugin { gpus: Arc::new(gpus), health: health.clone() };
        let (registered, mut registrations) = watch::channel(0);
        // Its own, so that everything ends with it at once, connections included.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.spawn(run(sockets.to_owned(), resource.to_owned(), plugin, registered));
        let first = tokio::time::timeout(PATIENCE, registrations.wait_for(|count| *count > 0));
        let first = first.await.is_ok_and(|counted| counted.is_ok());
        let plugin = Self { runtime: Some(runtime), health, registrations };
        ensure!(first, "the kubelet at {} accepts no plugin", sockets.display());
        Ok(plugin)
    }

    /// The ids of its GPUs.
    pub fn ids(&self) -> Vec<String> {
        self.health.borrow().keys().cloned().collect()
    }

    /// Says of a GPU whether it is healthy. All are at first.
    pub fn set_healthy(&self, id: &str, healthy: bool) -> Result<()> {
        let known = self
            .health
            .send_if_modified(|gpus| gpus.get_mut(id).map(|health| *health = healthy).is_some());
        ensure!(known, "there is no GPU {id}");
        Ok(())
    }

    /// How often a kubelet accepted the plugin: once, and once more after each restart.
    pub fn registrations(&self) -> usize {
        *self.registrations.borrow()
    }
}

impl Drop for DevicePlugin {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What containers get.
#[derive(Debug)]
struct Gpus {
    vendor: String,
    /// The device file of each GPU, by id: in a container, and on the node.
    paths: BTreeMap<String, (String, PathBuf)>,
}

impl Gpus {
    /// Makes device files, which are those of `/dev/null`.
    fn new(sockets: &Path, vendor: &str, count: usize) -> Result<Self> {
        let files = sockets.with_file_name("devices");
        std::fs::create_dir_all(&files)?;
        let mut paths = BTreeMap::new();
        for index in 0..count {
            let name = format!("{vendor}{index}");
            let file = files.join(&name);
            if !file.exists() {
                mknodat(CWD, &file, FileType::CharacterDevice, Mode::from(0o666), makedev(1, 3))
                    .with_context(|| format!("making the device {}", file.display()))?;
            }
            paths.insert(format!("{vendor}-gpu-{index}"), (format!("/dev/{name}"), file));
        }
        Ok(Self { vendor: vendor.to_owned(), paths })
    }

    fn allocate(&self, ids: &[String]) -> Result<ContainerAllocateResponse, Status> {
        let mut devices = Vec::new();
        for id in ids {
            let unknown = || Status::invalid_argument(format!("there is no GPU {id}"));
            let (inside, file) = self.paths.get(id).ok_or_else(unknown)?;
            devices.push(DeviceSpec {
                container_path: inside.clone(),
                host_path: file.display().to_string(),
                permissions: "rw".to_owned(),
            });
        }
        let variable = format!("{}_VISIBLE_DEVICES", self.vendor.to_uppercase());
        Ok(ContainerAllocateResponse { envs: [(variable, ids.join(","))].into(), devices })
    }
}

/// What the kubelet asks.
#[derive(Clone)]
struct Plugin {
    gpus: Arc<Gpus>,
    health: watch::Sender<BTreeMap<String, bool>>,
}

#[tonic::async_trait]
impl Service for Plugin {
    type ListAndWatchStream =
        Pin<Box<dyn Stream<Item = Result<ListAndWatchResponse, Status>> + Send>>;

    async fn get_device_plugin_options(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<DevicePluginOptions>, Status> {
        Ok(Response::new(DevicePluginOptions {}))
    }

    async fn list_and_watch(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<Self::ListAndWatchStream>, Status> {
        let mut health = self.health.subscribe();
        health.mark_changed();
        let lists = stream::unfold(health, async |mut health| {
            health.changed().await.ok()?;
            let list = devices(&health.borrow_and_update());
            Some((Ok(list), health))
        });
        Ok(Response::new(Box::pin(lists)))
    }

    async fn allocate(
        &self,
        request: Request<AllocateRequest>,
    ) -> Result<Response<AllocateResponse>, Status> {
        let containers = request.into_inner().container_requests;
        let allocated =
            containers.iter().map(|container| self.gpus.allocate(&container.devices_ids));
        let container_responses = allocated.collect::<Result<_, _>>()?;
        Ok(Response::new(AllocateResponse { container_responses }))
    }
}

fn devices(health: &BTreeMap<String, bool>) -> ListAndWatchResponse {
    let device = |(id, healthy): (&String, &bool)| Device {
        id: id.clone(),
        health: if *healthy { "Healthy" } else { "Unhealthy" }.to_owned(),
    };
    ListAndWatchResponse { devices: health.iter().map(device).collect() }
}

/// Serves and registers, anew whenever the kubelet has deleted the socket.
async fn run(sockets: PathBuf, resource: String, plugin: Plugin, registered: watch::Sender<usize>) {
    let name = format!("{}.sock", resource.replace('/', "-"));
    let socket = sockets.join(&name);
    let request =
        RegisterRequest { version: "v1beta1".to_owned(), endpoint: name, resource_name: resource };
    loop {
        let _ = std::fs::remove_file(&socket);
        if let Ok(listener) = UnixListener::bind(&socket) {
            let server = Server::builder()
                .add_service(DevicePluginServer::new(plugin.clone()))
                .serve_with_incoming(UnixListenerStream::new(listener));
            let stays = async {
                let mut is_registered = false;
                while socket.exists() {
                    if !is_registered && register(&sockets, request.clone()).await.is_ok() {
                        is_registered = true;
                        registered.send_modify(|count| *count += 1);
                    }
                    tokio::time::sleep(INTERVAL).await;
                }
            };
            tokio::select! {
                _ = server => {}
                () = stays => {}
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn register(sockets: &Path, request: RegisterRequest) -> Result<()> {
    let kubelet = format!("unix://{}", sockets.join("kubelet.sock").display());
    let kubelet = Endpoint::from_shared(kubelet)?.connect().await?;
    RegistrationClient::new(kubelet).register(request).await?;
    Ok(())
}
