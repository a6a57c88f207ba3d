//! How containerd is set up.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::network::{BRIDGE, Network};
use crate::image::PAUSE;

/// Where packages put the plugins that connect pods.
const PLUGINS: [&str; 3] = ["/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"];

/// Writes containerd's configuration and that of the pods' network; the former's path.
pub(super) fn configure(folder: &Path, network: &Network) -> Result<PathBuf> {
    let plugins = PLUGINS.into_iter().find(|place| Path::new(place).join("bridge").is_file());
    let plugins = plugins.context("install the Debian package containernetworking-plugins")?;
    let pods = json!({
        "cniVersion": "0.4.0", "name": network.name(), "plugins": [{
            "type": "bridge", "bridge": BRIDGE, "isDefaultGateway": true, "hairpinMode": true,
            "ipam": {"type": "host-local", "dataDir": folder.join("addresses"),
                     "ranges": [[{"subnet": network.pods()}]]}
        }]
    });
    std::fs::create_dir_all(folder.join("cni"))?;
    std::fs::write(folder.join("cni/pods.conflist"), pods.to_string())?;

    let folder = folder.display();
    // Without CAP_SYS_RESOURCE nobody may make a process less likely to be killed: hence
    // `oom_score` and `restrict_oom_score_adj`. `native` copies layers, which are small, and works
    // on any filesystem.
    let config = format!(
        r#"version = 2
root = "{folder}/containerd"
state = "{folder}/containers"
oom_score = 0
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  stream_server_address = "127.0.0.1"
  netns_mounts_under_state_dir = true
  disable_hugetlb_controller = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = "{folder}/runc"
"#
    );
    let path = PathBuf::from(folder.to_string()).join("containerd.toml");
    std::fs::write(&path, config)?;
    Ok(path)
}

/// containerd's client, in the namespace that pods are in.
pub(super) fn client(folder: &Path) -> Command {
    let mut command = Command::new("ctr");
    command.arg("-a").arg(folder.join("containerd.sock")).args(["-n", "k8s.io"]);
    command
}
