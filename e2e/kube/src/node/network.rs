//! The network of a node: a namespace, one cable to this machine, and routes to what is behind it.
//!
//! The firewall of this machine is not touched: rules of kube-proxy and bridges of pods are in the
//! namespace. Addresses are from 198.18.0.0/15, which is set aside for trials of networks:
//!
//! ```text
//! this machine 198.18.N.1 ────── 198.18.N.2 node ── 198.19.N.0/24 pods
//!                                               └── 198.18.N.128/25 services
//! ```

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::run;

/// What connects the pods of the node.
pub(super) const BRIDGE: &str = "pods";

/// Who has which number: a link with the number's name to the folder of the bed.
const CLAIMS: &str = "/run/kube-bed";

/// What a kubelet changes for the whole machine.
const SYSCTLS: [&str; 6] = [
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
];

/// A network with a number that no other bed on this machine has.
#[derive(Debug)]
pub(super) struct Network {
    number: u8,
}

impl Network {
    /// Makes it. It goes with the folder.
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let network = Self { number: claim(folder)? };
        let (name, host, node) = (network.name(), network.host(), network.node());
        run(&format!("ip netns add {name}"))?;
        run(&format!("ip link add {name} type veth peer name eth0 netns {name}"))?;
        run(&format!("ip addr add {host}/30 dev {name}"))?;
        run(&format!("ip link set {name} up"))?;
        run(&format!("ip -n {name} addr add {node}/30 dev eth0"))?;
        run(&format!("ip -n {name} link set lo up"))?;
        run(&format!("ip -n {name} link set eth0 up"))?;
        run(&format!("ip -n {name} route add default via {host}"))?;
        run(&format!("ip route add {} via {node}", network.pods()))?;
        run(&format!("ip route add {} via {node}", network.services()))?;
        // What comes for a service before kube-proxy has its rule is refused: else it would be sent
        // back and forth, and its connection never tried again.
        for from in ["eth0", BRIDGE] {
            let services = network.services();
            run(&format!("ip -n {name} rule add iif {from} to {services} unreachable"))?;
        }
        let mut forward = network.inside();
        forward.args(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]);
        if !forward.status()?.success() {
            bail!("the namespace does not let packets through");
        }
        Ok(network)
    }

    /// What it is called: the namespace, this end of the cable, and the cgroup of its pods.
    pub(super) fn name(&self) -> String {
        format!("kube-bed-{}", self.number)
    }

    /// This machine, as the node sees it.
    pub(super) fn host(&self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.number, 1)
    }

    pub(super) fn node(&self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.number, 2)
    }

    pub(super) fn pods(&self) -> String {
        format!("198.19.{}.0/24", self.number)
    }

    pub(super) fn services(&self) -> String {
        format!("198.18.{}.128/25", self.number)
    }

    /// Runs what follows in the namespace. Not `ip netns exec`, which hides the cgroups.
    pub(super) fn inside(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name()));
        command
    }
}

/// Takes a number that is free. The claim is made and signed in one step, so that the guard of the
/// bed finds it whenever the test ends.
fn claim(folder: &Path) -> Result<u8> {
    std::fs::create_dir_all(CLAIMS).with_context(|| format!("making {CLAIMS}"))?;
    for number in 1..=u8::MAX {
        match symlink(folder, Path::new(CLAIMS).join(number.to_string())) {
            Ok(()) => return Ok(number),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context("claiming a network"),
        }
    }
    bail!("too many beds: {CLAIMS} has a link for each")
}

/// Writes down what a kubelet is about to change, if no other bed did; the guard of the last bed
/// puts it back.
pub(super) fn note_sysctls() -> Result<()> {
    let mut lines = String::new();
    for name in SYSCTLS {
        let path = Path::new("/proc/sys").join(name);
        if let Ok(value) = std::fs::read_to_string(&path) {
            lines += &format!("{} {value}", path.display());
        }
    }
    let notes = PathBuf::from(CLAIMS).join("sysctls");
    match std::fs::File::create_new(&notes) {
        Ok(mut file) => Ok(std::io::Write::write_all(&mut file, lines.as_bytes())?),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error).with_context(|| format!("writing {}", notes.display())),
    }
}
