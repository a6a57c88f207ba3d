//! How the kubelet and kube-proxy are set up.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use k8s_openapi::api::core::v1::Node as NodeObject;
use serde_json::{Value, json};

use super::network::{ALL_PODS, Network};
use crate::keys::Keys;

/// Where kube-proxy says how it is.
pub(super) const PROXY_HEALTH: u16 = 10256;

/// Where the kubelet answers the API server.
pub(super) const PORT: u16 = 10250;

/// Makes the cgroup of the pods and writes the kubelet's configuration; its path. Needs a
/// certificate, whose name among the keys is `certificate`.
pub(super) fn configure(
    folder: &Path,
    keys: &Keys,
    certificate: &str,
    network: &Network,
) -> Result<PathBuf> {
    make_cgroups(&network.name())?;
    let names = folder.join("resolv.conf");
    fs::write(&names, format!("nameserver {}\n", network.host()))?;
    let config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": network.node(),
        "tlsCertFile": keys.path(&format!("{certificate}.crt")),
        "tlsPrivateKeyFile": keys.path(&format!("{certificate}.key")),
        "authentication": {
            "anonymous": {"enabled": false}, "webhook": {"enabled": true},
            "x509": {"clientCAFile": keys.path("ca.crt")}
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": format!("unix://{}", folder.join("containerd.sock").display()),
        "cgroupDriver": "cgroupfs", "cgroupRoot": format!("/{}", network.name()),
        "failCgroupV1": false, "failSwapOn": false, "oomScoreAdj": 0,
        "resolvConf": names,
        "podLogsDir": folder.join("podlogs"), "volumePluginDir": folder.join("plugins"),
        // A full disk is the developer's own; pods are not to suffer for it.
        "evictionHard": {
            "nodefs.available": "0%", "imagefs.available": "0%", "nodefs.inodesFree": "0%",
            "memory.available": "100Mi"
        },
        "imageGCHighThresholdPercent": 100,
        "nodeStatusUpdateFrequency": "1s", "nodeStatusReportFrequency": "5s"
    });
    write(folder, "kubelet.json", &config)
}

pub(super) fn flags(config: &Path, kubeconfig: &Path, name: &str, ip: Ipv4Addr) -> Vec<String> {
    let root = config.with_file_name("kubelet");
    let certificates = root.join("pki");
    vec![
        format!("--config={}", config.display()),
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--root-dir={}", root.display()),
        format!("--cert-dir={}", certificates.display()),
        format!("--hostname-override={name}"),
        format!("--node-ip={ip}"),
    ]
}

/// Writes kube-proxy's configuration; its path. Where pods are bridged, answers between them would
/// pass its rules by, so all that is sent to a service gets the node's address. Policies need the
/// pod's own.
pub(super) fn configure_proxy(
    folder: &Path,
    kubeconfig: &Path,
    name: &str,
    network: &Network,
    is_bridged: bool,
) -> Result<PathBuf> {
    let config = json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
        "mode": "iptables", "clientConnection": {"kubeconfig": kubeconfig},
        "hostnameOverride": name, "clusterCIDR": ALL_PODS, "oomScoreAdj": 0,
        "healthzBindAddress": format!("{}:{PROXY_HEALTH}", network.node()),
        "metricsBindAddress": "127.0.0.1:10249",
        "iptables": {"masqueradeAll": is_bridged},
        "conntrack": {
            "maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"
        }
    });
    write(folder, "kube-proxy.json", &config)
}

/// Whether a pod that is made now would run there.
pub(super) fn takes_pods(node: &NodeObject) -> bool {
    let status = node.status.as_ref();
    let mut conditions = status.into_iter().flat_map(|status| status.conditions.iter().flatten());
    let ready =
        conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let mut taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    ready && taints.next().is_none()
}

fn write(folder: &Path, name: &str, config: &Value) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, config.to_string())?;
    Ok(path)
}

/// The kubelet wants its root in every hierarchy; a cpuset of the first version begins empty.
fn make_cgroups(name: &str) -> Result<()> {
    let all = Path::new("/sys/fs/cgroup");
    if all.join("cgroup.controllers").is_file() {
        return Ok(fs::create_dir_all(all.join(name))?);
    }
    for hierarchy in fs::read_dir(all)? {
        let hierarchy = hierarchy?;
        // Links are other names of hierarchies that come by as well.
        if !hierarchy.file_type()?.is_dir() {
            continue;
        }
        let cgroup = hierarchy.path().join(name);
        fs::create_dir_all(&cgroup)?;
        for file in ["cpuset.cpus", "cpuset.mems"] {
            if cgroup.join(file).is_file() {
                fs::write(cgroup.join(file), fs::read(hierarchy.path().join(file))?)?;
            }
        }
    }
    Ok(())
}
