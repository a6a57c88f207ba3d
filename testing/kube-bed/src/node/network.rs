//! The network of a node: a namespace, one cable to this machine, and routes to what is behind it.
//!
//! The firewall of this machine is not touched: rules of kube-proxy and interfaces of pods are in the
//! namespace. Addresses are from 198.18.0.0/15, which is set aside for trials of networks:
//!
//! ```text
//! this machine 198.18.N.1 ────── 198.18.N.2 node ── 198.19.N.0/24 pods
//!                                               └── 198.18.N.128/25 services
//! ```
//!
//! Nodes of one bed have a cable between each two, and the services of the first. Traffic between
//! nodes does not pass this machine, which need not forward anything.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::run;

/// What connects the pods of a node where no policies are enforced.
pub(super) const BRIDGE: &str = "pods";

/// Every address that pods of any bed can have.
pub(super) const ALL_PODS: &str = "198.19.0.0/16";

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

/// A network with a number that no other node on this machine has.
#[derive(Debug)]
pub(super) struct Network {
    number: u8,
    /// The number of the bed's first node, which gives services their addresses.
    first: u8,
}

impl Network {
    /// Makes the network of a bed's first node, or with `first` of a further one. It goes with the
    /// folder of the bed.
    pub(super) fn make(folder: &Path, first: Option<&Self>) -> Result<Self> {
        let number = claim(folder)?;
        let network = Self { number, first: first.map_or(number, |first| first.number) };
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
        let services = network.services();
        if first.is_none() {
            run(&format!("ip route add {services} via {node}"))?;
        }
        // What comes for a service before kube-proxy has its rule is refused: else it would be sent
        // back and forth, and its connection never tried again. What the node itself sends gets its
        // rule after this one.
        run(&format!("ip -n {name} rule add pref 100 iif lo lookup main"))?;
        run(&format!("ip -n {name} rule add pref 101 to {services} unreachable"))?;
        let mut forward = network.inside();
        forward.args(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]);
        if !forward.status()?.success() {
            bail!("the namespace does not let packets through");
        }
        Ok(network)
    }

    /// Lays a cable to another node, and routes to its pods.
    pub(super) fn connect(&self, other: &Self) -> Result<()> {
        let end = |to: &Self| format!("node-{}", to.number);
        let (name, other_name) = (self.name(), other.name());
        let (here, there) = (end(other), end(self));
        run(&format!(
            "ip link add {here} netns {name} type veth peer name {there} netns {other_name}"
        ))?;
        for (from, to) in [(self, other), (other, self)] {
            let (name, device) = (from.name(), end(to));
            let (own, node, pods) = (from.node(), to.node(), to.pods());
            run(&format!("ip -n {name} link set {device} up"))?;
            run(&format!("ip -n {name} route add {node} dev {device} src {own}"))?;
            run(&format!(
                "ip -n {name} route add {pods} via {node} dev {device} onlink src {own}"
            ))?;
        }
        Ok(())
    }

    /// The namespace of what is outside of the bed, once for its first node.
    pub(super) fn make_outside(&self, addresses: &[Ipv4Addr]) -> Result<String> {
        let outside = format!("{}-out", self.name());
        run(&format!("ip netns add {outside}"))?;
        run(&format!("ip -n {outside} link set lo up"))?;
        for address in addresses {
            run(&format!("ip -n {outside} addr add {address}/32 dev lo"))?;
        }
        Ok(outside)
    }

    /// Lays a cable to what is outside of the bed, with routes to and from its addresses.
    pub(super) fn connect_outside(&self, outside: &str, addresses: &[Ipv4Addr]) -> Result<()> {
        let (name, node, pods) = (self.name(), self.node(), self.pods());
        let device = format!("node-{}", self.number);
        run(&format!("ip link add out netns {name} type veth peer name {device} netns {outside}"))?;
        run(&format!("ip -n {name} link set out up"))?;
        run(&format!("ip -n {outside} link set {device} up"))?;
        run(&format!("ip -n {outside} route add {node} dev {device}"))?;
        run(&format!("ip -n {outside} route add {pods} via {node} dev {device} onlink"))?;
        for address in addresses {
            run(&format!("ip -n {name} route add {address} dev out src {node}"))?;
        }
        Ok(())
    }

    /// What no other node has.
    pub(super) fn number(&self) -> u8 {
        self.number
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
        format!("198.18.{}.128/25", self.first)
    }

    /// Runs what follows in the namespace. Not `ip netns exec`, which hides the cgroups.
    pub(super) fn inside(&self) -> Command {
        inside(&self.name())
    }
}

/// Runs what follows in a namespace.
pub(super) fn inside(namespace: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{namespace}"));
    command
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
