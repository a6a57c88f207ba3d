//! An ingress controller: Traefik, as a process of this machine.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::Command;

use anyhow::Result;
use k8s_openapi::api::networking::v1::{IngressClass, IngressClassSpec};
use kube::Api;
use kube::api::PostParams;

use crate::bed::Bed;
use crate::daemon::Daemon;
use crate::port::Port;

/// What an IngressClass calls it.
const CONTROLLER: &str = "traefik.io/ingress-controller";

/// Makes the class and starts Traefik; where it answers HTTP.
pub(crate) async fn start(
    bed: &Bed,
    program: &Command,
    ip: Ipv4Addr,
    class: &str,
) -> Result<(SocketAddrV4, Daemon)> {
    let mut object = IngressClass::default();
    object.metadata.name = Some(class.to_owned());
    object.spec =
        Some(IngressClassSpec { controller: Some(CONTROLLER.to_owned()), ..Default::default() });
    Api::<IngressClass>::all(bed.client()).create(&PostParams::default(), &object).await?;

    // Traefik shares the port; nobody else is given it before.
    let port = Port::reserve(ip)?;
    let address = port.address();
    let mut command = Command::new("env");
    command
        .arg(format!("KUBECONFIG={}", bed.kubeconfig().display()))
        .arg(program.get_program())
        .arg(format!("--entrypoints.web.address={address}"))
        .arg("--entrypoints.web.reuseport=true")
        .arg("--providers.kubernetesingress=true")
        .arg(format!("--providers.kubernetesingress.ingressclass={class}"))
        .arg("--providers.providersthrottleduration=100ms")
        .args(["--global.checknewversion=false", "--global.sendanonymoususage=false"])
        .arg("--log.level=INFO");
    let mut daemon = Daemon::start(bed.folder(), "traefik", &command)?;
    let answers = async || tokio::net::TcpStream::connect(address).await.is_ok();
    daemon.wait_until("it answers", answers).await?;
    Ok((address, daemon))
}
