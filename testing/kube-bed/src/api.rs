//! How etcd and the API server are called.

use std::net::SocketAddrV4;
use std::process::Command;

use anyhow::Result;

use crate::keys::Keys;
use crate::programs::Programs;

/// What a bed needs of the API server.
pub(crate) struct Settings {
    pub(crate) address: SocketAddrV4,
    /// Addresses that services get.
    pub(crate) services: String,
    /// Whether controllers run: they make the service account without which a pod is refused.
    pub(crate) controllers: bool,
}

/// Where etcd listens: a file of this name in the folder of the bed. No port is taken.
const STORE: &str = "unix://store:0";

/// Keeps everything in `etcd`.
pub(crate) fn etcd(programs: &Programs) -> Result<Command> {
    let peer = "unix://peer:0";
    let mut command = programs.command("etcd")?;
    command
        .args(["--name", "bed", "--data-dir", "etcd", "--log-level", "warn"])
        .args(["--listen-client-urls", STORE, "--advertise-client-urls", STORE])
        .args(["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer])
        .args(["--initial-cluster", &format!("bed={peer}")])
        // A bed that loses its power is not asked again what it knew.
        .arg("--unsafe-no-fsync");
    Ok(command)
}

/// Needs the certificates `api` and `api-client` and the key of service accounts.
pub(crate) fn server(programs: &Programs, keys: &Keys, settings: &Settings) -> Result<Command> {
    let mut command = programs.command("kube-apiserver")?;
    let flag = |name: &str, value: &str| format!("--{name}={value}");
    let file = |name: &str, file: &str| flag(name, &keys.path(file).display().to_string());
    let (ip, port) = (settings.address.ip().to_string(), settings.address.port().to_string());
    command.args([
        flag("etcd-servers", STORE),
        flag("bind-address", &ip),
        flag("advertise-address", &ip),
        flag("secure-port", &port),
        // The bed holds the port, so that it is still ours after an outage.
        flag("permit-port-sharing", "true"),
        file("tls-cert-file", "api.crt"),
        file("tls-private-key-file", "api.key"),
        file("client-ca-file", "ca.crt"),
        flag("authorization-mode", "Node,RBAC"),
        flag("enable-admission-plugins", "NodeRestriction"),
        flag("allow-privileged", "true"),
        flag("service-cluster-ip-range", &settings.services),
        flag("service-account-issuer", "https://kubernetes.default.svc"),
        file("service-account-signing-key-file", "sa.key"),
        file("service-account-key-file", "sa.pub"),
        file("kubelet-certificate-authority", "ca.crt"),
        file("kubelet-client-certificate", "api-client.crt"),
        file("kubelet-client-key", "api-client.key"),
        flag("kubelet-preferred-address-types", "InternalIP"),
    ]);
    if settings.address.ip().is_loopback() {
        // A loopback address is no endpoint of the service `kubernetes`.
        command.arg("--endpoint-reconciler-type=none");
    }
    if !settings.controllers {
        command.arg("--disable-admission-plugins=ServiceAccount");
    }
    Ok(command)
}
