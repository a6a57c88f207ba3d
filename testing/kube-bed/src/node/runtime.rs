//! How containerd is set up.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::network::{BRIDGE, Network};
use crate::image::PAUSE;

/// Where packages put the plugins that connect pods.
const PLUGINS: [&str; 3] = ["/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"];

/// The configuration of pods that are connected by a bridge.
pub(super) fn bridge(folder: &Path, network: &Network) -> String {
    json!({
        "cniVersion": "0.4.0", "name": network.name(), "plugins": [{
            "type": "bridge", "bridge": BRIDGE, "isDefaultGateway": true, "hairpinMode": true,
            "ipam": {"type": "host-local", "dataDir": folder.join("addresses"),
                     "ranges": [[{"subnet": network.pods()}]]}
        }]
    })
    .to_string()
}

/// Writes containerd's configuration and that of the pods' network (`pods`); the former's path. The
/// network may need a plugin beside those of the machine.
pub(super) fn configure(folder: &Path, pods: &str, plugin: Option<&Path>) -> Result<PathBuf> {
    let plugins = PLUGINS.map(Path::new).into_iter().find(|place| place.join("bridge").is_file());
    let plugins = plugins.context("install the Debian package containernetworking-plugins")?;
    let plugins = match plugin {
        Some(plugin) => joined(folder, plugins, plugin)?,
        None => plugins.to_owned(),
    };
    let plugins = plugins.display();
    std::fs::create_dir_all(folder.join("cni"))?;
    std::fs::write(folder.join("cni/pods.conflist"), pods)?;

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

/// One folder with the plugins of the machine and one more: the runtime looks in one only.
fn joined(folder: &Path, plugins: &Path, plugin: &Path) -> Result<PathBuf> {
    let all = folder.join("cni-plugins");
    std::fs::create_dir_all(&all)?;
    for found in std::fs::read_dir(plugins)? {
        let found = found?;
        symlink(found.path(), all.join(found.file_name()))?;
    }
    symlink(plugin, all.join(plugin.file_name().context("a plugin without a name")?))?;
    Ok(all)
}

/// containerd's client, in the namespace that pods are in.
pub(super) fn client(folder: &Path) -> Command {
    let mut command = Command::new("ctr");
    command.arg("-a").arg(folder.join("containerd.sock")).args(["-n", "k8s.io"]);
    command
}
