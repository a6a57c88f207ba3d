//! What runs the workloads.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provider_kube::isolation::{Ipv4Network, Isolation, PodProfile};
use provider_kube::settings::Overcommit;

use super::given::Place;
use super::reader;
use super::reader::{Reader, Wrong, because, hostname, socket};

/// What runs the workloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// Nothing: it only seems so.
    Simulated(Simulated),
    Kubernetes,
    /// Docker, or Docker Swarm.
    Swarm,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// In this process, with its state in this file.
    Inside(PathBuf),
    /// In a process of its own, which listens here.
    At(SocketAddr),
}

impl Cluster {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Simulated(_) => "simulated",
            Self::Kubernetes => "kubernetes",
            Self::Swarm => "swarm",
        }
    }

    /// What does not work yet, if this does not.
    pub const fn is_there(&self) -> bool {
        matches!(self, Self::Simulated(_) | Self::Kubernetes)
    }
}

/// How names lead to services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// Domain of generated names; `None` if none are.
    pub generated_under: Option<String>,
    /// By which kind of object.
    pub mode: IngressMode,
    /// What serves them, if that is Ingress.
    pub class: String,
    /// Buffer for an answer's headers, as nginx writes it.
    pub proxy_buffer_size: String,
}

/// By which kind of object names lead to services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IngressMode {
    Ingress,
    GatewayApi { name: String, namespace: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubernetes {
    /// Namespace of the Akash custom resources.
    pub manifest_namespace: String,
    /// How to reach it; if there is no such file, as a pod does.
    pub kubeconfig: PathBuf,
    /// Whether workloads of tenants are kept apart.
    pub network_policies: bool,
    pub image_pull_secret: Option<String>,
    /// How much is sold more than once.
    pub overcommit: Overcommit,
    /// Bytes of persistent storage by class, where the operator says how much there is.
    pub storage_capacity: BTreeMap<String, i64>,
    /// Whether routes of hostnames are made by this process.
    pub hostname_operator: bool,
    /// Where the provider's own certificate is kept too.
    pub certificate_secret: Option<SecretName>,
    /// How pods of new leases are confined.
    pub isolation: Isolation,
    /// How it is found out whether tenants are kept apart.
    pub probe: ProbeSettings,
}

/// How it is found out whether tenants are kept apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeSettings {
    /// Image of the probe's pods.
    pub image: String,
    /// How often it is probed, if there are bids only while tenants are kept apart.
    pub required_every: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretName {
    pub namespace: String,
    pub name: String,
}

/// The shortest time between two probes of isolation, each of which starts pods.
const SHORTEST_PROBES: Duration = Duration::from_secs(60);

/// The main network: money there is real, and so must be what is sold for it.
const REAL_MONEY: &str = "akashnet-";

pub(super) fn read(reader: &mut Reader<'_>, home: Option<&Path>) -> Option<Cluster> {
    let k8s = reader.switch("cluster-k8s");
    let remote = reader.optional("sim-cluster-address", socket);
    let default = if k8s { "kubernetes" } else { "simulated" };
    let kind = reader.some("cluster").unwrap_or_else(|| default.to_owned());
    if k8s && kind != "kubernetes" && reader.place("cluster-k8s") != Place::Default {
        let what = format!("--cluster is {kind}");
        reader.wrong("cluster-k8s", Wrong::new(what, "leave one of them out"));
    }
    match kind.as_str() {
        "kubernetes" => Some(Cluster::Kubernetes),
        "swarm" => Some(Cluster::Swarm),
        "simulated" => {
            let chain = reader.text("chain-id");
            if chain.starts_with(REAL_MONEY) {
                let what = format!("nothing runs in a simulated cluster, and {chain} is paid for");
                reader.wrong("cluster", Wrong::new(what, "give --cluster kubernetes"));
            }
            match remote {
                Some(address) => Some(Cluster::Simulated(Simulated::At(address))),
                None => {
                    let state = home?.join("sim-cluster.state");
                    Some(Cluster::Simulated(Simulated::Inside(state)))
                }
            }
        }
        other => {
            let what = format!("{other:?} is not a kind of cluster");
            reader.wrong("cluster", Wrong::new(what, "give simulated, kubernetes or swarm"));
            None
        }
    }
}

pub(super) fn ingress(reader: &mut Reader<'_>) -> Option<Ingress> {
    let generates = reader.switch("deployment-ingress-static-hosts");
    let domain = reader.optional("deployment-ingress-domain", hostname);
    if generates && reader.some("deployment-ingress-domain").is_none() {
        let what = "--deployment-ingress-static-hosts needs a domain for its names";
        reader.wrong("deployment-ingress-domain", Wrong::new(what, "give one"));
    }
    let (name, namespace) = (reader.text("gateway-name"), reader.text("gateway-namespace"));
    let mode = reader.parsed("ingress-mode", |text| match text {
        "ingress" => Ok(IngressMode::Ingress),
        "gateway-api" => {
            Ok(IngressMode::GatewayApi { name: name.clone(), namespace: namespace.clone() })
        }
        _ => {
            let what = format!("invalid ingress-mode {text:?}");
            Err(Wrong::new(what, "give ingress or gateway-api"))
        }
    });
    if mode == Some(IngressMode::Ingress) && reader.place("proxy-buffer-size") != Place::Default {
        let text = "has no effect with --ingress-mode ingress: tenants set buffers in their SDL";
        reader.note("proxy-buffer-size", text);
    }
    if matches!(mode, Some(IngressMode::GatewayApi { .. })) {
        for (setting, value) in [("gateway-name", name), ("gateway-namespace", namespace)] {
            if value.is_empty() {
                let wrong = Wrong::new("--ingress-mode gateway-api needs one", "name the gateway");
                reader.wrong(setting, wrong);
            }
        }
    }
    Some(Ingress {
        generated_under: domain.filter(|_| generates),
        mode: mode?,
        class: reader.text("ingress-class"),
        proxy_buffer_size: reader.text("proxy-buffer-size"),
    })
}

/// Percentages as they were given. One that is none was found to be so before.
fn overcommit(reader: &Reader<'_>) -> Overcommit {
    let percent = |name: &str| reader.text(name).parse().unwrap_or_default();
    Overcommit {
        cpu: percent("overcommit-pct-cpu"),
        memory: percent("overcommit-pct-mem"),
        storage: percent("overcommit-pct-storage"),
    }
}

/// Reads `CLASS=SIZE,…`.
fn storage_capacity(text: &str) -> Result<BTreeMap<String, i64>, Wrong> {
    let mut capacity = BTreeMap::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let wrong = |problem: &str| {
            let what = format!("invalid storage-capacity {entry:?}: {problem}");
            Wrong::new(what, "give classes with their size, such as beta3=2Ti,nfs=500Gi")
        };
        let (class, size) = entry.split_once('=').ok_or_else(|| wrong("there is no ="))?;
        let (class, size) = (class.trim(), size.trim());
        if class.is_empty() {
            return Err(wrong("the class is empty"));
        }
        let bytes = provider_kube::observe::whole(size).filter(|bytes| *bytes >= 0);
        let bytes = bytes.ok_or_else(|| wrong("the size is no amount of bytes"))?;
        if capacity.insert(class.to_owned(), bytes).is_some() {
            return Err(wrong("the class is there twice"));
        }
    }
    Ok(capacity)
}

pub(super) fn kubernetes(reader: &mut Reader<'_>) -> Kubernetes {
    let user_home = reader.given.user_home.clone().unwrap_or_default();
    let user_home = user_home.to_string_lossy();
    let kubeconfig = reader.text("kubeconfig");
    let expanded = kubeconfig.replace("${HOME}", &user_home).replace("$HOME", &user_home);
    // They have no effect, and must be truth values all the same.
    reader.switch("ip-operator");
    reader.switch("migrations-enabled");
    Kubernetes {
        manifest_namespace: reader.text("k8s-manifest-ns"),
        kubeconfig: PathBuf::from(expanded),
        network_policies: reader.switch("deployment-network-policies-enabled"),
        image_pull_secret: reader.some("docker-image-pull-secrets-name"),
        overcommit: overcommit(reader),
        storage_capacity: reader.parsed("storage-capacity", storage_capacity).unwrap_or_default(),
        hostname_operator: reader.switch("hostname-operator"),
        certificate_secret: None,
        isolation: Isolation::default(),
        probe: ProbeSettings::default(),
    }
}

/// Where the provider's own certificate is kept too. Read by itself, so that what is wrong with it is
/// told with everything else.
pub(super) fn certificate_secret(reader: &mut Reader<'_>) -> Option<SecretName> {
    reader.optional("server-cert-secret", secret)
}

/// How pods of new leases are confined; read by itself for the same reason.
pub(super) fn isolation(reader: &mut Reader<'_>) -> Isolation {
    let profile = reader.parsed("tenant-pod-profile", |text| {
        let wrong = because("give hardened or go");
        text.parse::<PodProfile>().map_err(|error| wrong(&error))
    });
    let denied = reader.each("tenant-egress-deny", |text| {
        let wrong = because("give IPv4 networks, such as 203.0.113.0/24");
        text.parse::<Ipv4Network>().map_err(|error| wrong(&error))
    });
    let runtime_class = reader.optional("tenant-runtime-class", |text| {
        let what = format!("{text:?} names no RuntimeClass");
        let wrong = Wrong::new(what, "give the name of one of the cluster's RuntimeClasses");
        is_object_name(text).then(|| text.to_owned()).ok_or(wrong)
    });
    if !denied.is_empty() && profile == Some(PodProfile::Go) {
        reader
            .note("tenant-egress-deny", "has no effect on new leases with --tenant-pod-profile go");
    }
    Isolation { profile: profile.unwrap_or_default(), runtime_class, denied }
}

/// How isolation is probed; read by itself for the same reason.
pub(super) fn probe(reader: &mut Reader<'_>, is_kubernetes: bool) -> ProbeSettings {
    let image = reader.text("probe-image");
    let is_required = reader.switch("require-isolation");
    let every = reader.parsed("isolation-probe-period", |text| {
        let wrong = || Wrong::new(format!("{text:?} is too short"), "give a minute or more");
        reader::parse(text).and_then(|it| (it >= SHORTEST_PROBES).then_some(it).ok_or_else(wrong))
    });
    if is_required && !is_kubernetes {
        let remedy = "leave it out, or give --cluster kubernetes";
        reader.wrong("require-isolation", Wrong::new("only Kubernetes can be probed", remedy));
    }
    ProbeSettings { image, required_every: every.filter(|_| is_required) }
}

/// Whether Kubernetes takes a text as an object's name.
fn is_object_name(text: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= 253
        && text.starts_with(is_edge)
        && text.ends_with(is_edge)
        && text.chars().all(|c| is_edge(c) || c == '-' || c == '.')
}

fn secret(text: &str) -> Result<SecretName, Wrong> {
    match text.split_once('/') {
        Some((namespace, name)) if is_object_name(namespace) && is_object_name(name) => {
            Ok(SecretName { namespace: namespace.to_owned(), name: name.to_owned() })
        }
        _ => {
            let what = format!("{text:?} names no Secret");
            Err(Wrong::new(
                what,
                "give a namespace and a name, such as akash-services/provider-cert",
            ))
        }
    }
}
