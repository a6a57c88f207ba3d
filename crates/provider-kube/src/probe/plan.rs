//! Which connections show whether tenants are kept apart, and what their answers mean. No IO.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube_access::ResourceKind;
use provider_crd::{labels, names};
use serde_json::{Value, json};

use crate::build;
use crate::settings::Settings;

/// By this label a namespace is known to be a probe's. Leases have no such label.
const APP: &str = "app.kubernetes.io/name";
const PROBE: &str = "akash-isolation-probe";
/// Where the pods answer each other.
const PORT: u16 = 8080;
/// Where a kubelet answers if its node does not say.
const KUBELET: u16 = 10250;
/// Where most clouds serve metadata.
const METADATA: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), 80);
/// Nodes whose kubelets are tried at most; those of the probe's pods are among them.
const MOST_NODES: usize = 32;
/// Seconds that one attempt to connect has, and in which the target has to answer.
const CONNECT: u32 = 3;
const ANSWER: u32 = 5;
/// The attempt that has to succeed: a pod reaches itself.
const SELF: &str = "self";

/// One of the two namespaces, which stand for two tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    pub fn namespace(self) -> String {
        let letter = match self {
            Self::A => "a",
            Self::B => "b",
        };
        format!("{PROBE}-{letter}")
    }
}

/// What a tenant's pod must not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
pub enum TargetKind {
    /// A pod in the namespace of another tenant.
    #[display("pod of another tenant")]
    OtherTenant,
    #[display("API server")]
    ApiServer,
    #[display("kubelet")]
    Kubelet,
    /// The metadata service of a cloud.
    #[display("cloud metadata")]
    Metadata,
}

impl TargetKind {
    /// A name that does not change, for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::OtherTenant => "other-tenant",
            Self::ApiServer => "api-server",
            Self::Kubelet => "kubelet",
            Self::Metadata => "metadata",
        }
    }
}

/// An address that a tenant's pod must not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub kind: TargetKind,
    pub address: SocketAddr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbePod {
    pub side: Side,
    pub name: String,
    pub ip: IpAddr,
    pub node: String,
}

/// What became of an attempt to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The node of the pod that tried.
    pub from: String,
    pub target: Target,
    /// Whether the target answered, every time.
    pub reached: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub connections: Vec<Connection>,
}

impl Report {
    /// Attempts that succeeded and must not.
    pub fn findings(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(|connection| connection.reached)
    }

    /// What was reached, in words, each once; `None` if nothing was.
    pub fn summary(&self) -> Option<String> {
        let found: BTreeSet<Target> = self.findings().map(|found| found.target).collect();
        let words: Vec<String> =
            found.iter().map(|target| format!("{} at {}", target.kind, target.address)).collect();
        (!words.is_empty()).then(|| format!("pods of tenants reach {}", words.join(", ")))
    }
}

pub fn is_of_a_probe(namespace: &Value) -> bool {
    let labels = namespace.pointer("/metadata/labels");
    labels.and_then(|labels| labels.get(APP)).is_some_and(|name| name == PROBE)
}

/// The objects of a side, in the order in which they are created: the policy is there before the pod
/// that it restricts, as with leases. No policy where leases get none.
pub fn objects(side: Side, image: &str, settings: &Settings) -> Vec<(ResourceKind, Value)> {
    let namespace = side.namespace();
    let ours = json!({APP: PROBE});
    let mut objects = vec![(
        ResourceKind::NAMESPACE,
        json!({"apiVersion": "v1", "kind": "Namespace",
               "metadata": {"name": namespace, "labels": ours}}),
    )];
    if settings.network_policies.is_some() {
        let spec = build::restrictions(&namespace, &settings.ingress, &settings.isolation);
        objects.push((
            ResourceKind::NETWORK_POLICY,
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
                   "metadata": {"name": names::RESTRICTIONS_POLICY, "namespace": namespace},
                   "spec": spec}),
        ));
    }
    let serve = format!(
        "mkdir -p /tmp/www && echo probe >/tmp/www/index.html && exec httpd -f -p {PORT} -h /tmp/www"
    );
    let isolation = &settings.isolation;
    let pod = json!({
        "automountServiceAccountToken": false,
        "terminationGracePeriodSeconds": 0,
        "runtimeClassName": isolation.runtime_class,
        "securityContext": {"runAsNonRoot": false, "seccompProfile": isolation.seccomp()},
        "affinity": {
            // Where tenants' pods run, and on two nodes if there are two.
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [
                    {"key": labels::MANAGED, "operator": "In", "values": [labels::TRUE]}
                ]}]
            }},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {"matchLabels": ours}, "namespaceSelector": {},
                    "topologyKey": "kubernetes.io/hostname"
                }
            }]}
        },
        "containers": [{
            "name": PROBE, "image": image, "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", serve],
            "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
            "securityContext": {
                "privileged": false, "allowPrivilegeEscalation": false,
                "capabilities": isolation.capabilities()
            },
            "resources": {
                "requests": {"cpu": "10m", "memory": "16Mi"},
                "limits": {"cpu": "200m", "memory": "64Mi"}
            }
        }]
    });
    objects.push((
        ResourceKind::DEPLOYMENT,
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": PROBE, "namespace": namespace, "labels": ours},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": ours},
            "template": {"metadata": {"labels": ours}, "spec": pod}
        }}),
    ));
    objects
}

pub fn ready(side: Side, pod: &Pod) -> Result<ProbePod, String> {
    let status = pod.status.as_ref().ok_or("it has no status yet")?;
    let conditions = || status.conditions.iter().flatten();
    let is_ready = conditions().any(|it| it.type_ == "Ready" && it.status == "True");
    let ip = status.pod_ip.as_ref().and_then(|ip| ip.parse().ok());
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    if let (true, Some(ip), Some(node)) = (is_ready, ip, node) {
        let name = pod.metadata.name.clone().unwrap_or_default();
        return Ok(ProbePod { side, name, ip, node });
    }
    let containers = status.container_statuses.iter().flatten();
    let waiting = containers.filter_map(|it| it.state.as_ref()?.waiting.as_ref()).next();
    if let Some(waiting) = waiting {
        let parts = [waiting.reason.as_deref(), waiting.message.as_deref()];
        return Err(parts.into_iter().flatten().collect::<Vec<_>>().join(": "));
    }
    let unscheduled = conditions().find(|it| it.type_ == "PodScheduled" && it.status == "False");
    let message = unscheduled.and_then(|it| it.message.clone());
    Err(message.unwrap_or_else(|| "it does not answer on its port".to_owned()))
}

/// What neither pod may reach: the API server at every address, kubelets, cloud metadata.
pub fn shared_targets(
    api_servers: &[SocketAddr],
    api_service: Option<&Service>,
    nodes: &[Node],
    pods: &[&ProbePod],
) -> Vec<Target> {
    let service = api_service.and_then(|service| {
        let spec = service.spec.as_ref()?;
        let port = u16::try_from(spec.ports.as_ref()?.first()?.port).ok()?;
        Some(SocketAddr::new(spec.cluster_ip.as_ref()?.parse().ok()?, port))
    });
    let api_servers = api_servers.iter().copied().chain(service);
    let kubelets = tried(nodes, pods).into_iter().flat_map(kubelets);
    let mut targets: Vec<Target> = api_servers
        .map(|address| Target { kind: TargetKind::ApiServer, address })
        .chain(kubelets.map(|address| Target { kind: TargetKind::Kubelet, address }))
        .collect();
    targets.push(Target { kind: TargetKind::Metadata, address: METADATA });
    let mut seen = BTreeSet::new();
    targets.retain(|target| seen.insert(*target));
    targets
}

/// The nodes whose kubelets are tried: those of the pods first.
fn tried<'a>(nodes: &'a [Node], pods: &[&ProbePod]) -> Vec<&'a Node> {
    let has_pod = |node: &&Node| {
        let name = node.metadata.name.as_deref();
        pods.iter().any(|pod| Some(pod.node.as_str()) == name)
    };
    let (first, others): (Vec<_>, Vec<_>) = nodes.iter().partition(has_pod);
    first.into_iter().chain(others).take(MOST_NODES).collect()
}

fn kubelets(node: &Node) -> Vec<SocketAddr> {
    let Some(status) = &node.status else { return Vec::new() };
    let endpoint =
        status.daemon_endpoints.as_ref().and_then(|daemons| daemons.kubelet_endpoint.as_ref());
    let port = endpoint.and_then(|endpoint| u16::try_from(endpoint.port).ok()).unwrap_or(KUBELET);
    let addresses = status.addresses.iter().flatten();
    let addresses = addresses.filter(|it| matches!(&*it.type_, "InternalIP" | "ExternalIP"));
    addresses.filter_map(|it| Some(SocketAddr::new(it.address.parse().ok()?, port))).collect()
}

/// What a pod tries: the other tenant's pod, and what none may reach.
pub fn targets(other: &ProbePod, shared: &[Target]) -> Vec<Target> {
    let address = SocketAddr::new(other.ip, PORT);
    let mut targets = vec![Target { kind: TargetKind::OtherTenant, address }];
    targets.extend_from_slice(shared);
    targets
}

/// A shell command that tries all targets at once and prints one line for each: `reached` or
/// `unreached` and its number. A target is reached if it closes the connection or sends anything.
pub fn script(targets: &[Target]) -> String {
    let mut script = format!(
        "try() {{ printf 'GET / HTTP/1.0\\r\\n\\r\\n' | \
         timeout -s KILL {ANSWER} nc -w {CONNECT} \"$2\" \"$3\" >\"/tmp/answer-$1\" 2>/dev/null; \
         if [ $? = 0 ] || [ -s \"/tmp/answer-$1\" ]; then echo \"reached $1\"; \
         else echo \"unreached $1\"; fi; }}\n"
    );
    script.push_str(&format!("try {SELF} 127.0.0.1 {PORT} &\n"));
    for (number, target) in targets.iter().enumerate() {
        let (ip, port) = (target.address.ip(), target.address.port());
        script.push_str(&format!("try {number} {ip} {port} &\n"));
    }
    script.push_str("wait\n");
    script
}

/// Which targets were reached, from what [`script`] printed.
///
/// When the pod did not reach itself, or nothing is said about a target: then nothing is known.
pub fn reached(targets: &[Target], output: &str) -> Result<Vec<Target>, String> {
    let said: BTreeSet<&str> = output.lines().map(str::trim).collect();
    if !said.contains(format!("reached {SELF}").as_str()) {
        return Err(
            "it did not reach itself: does the image have nc, httpd and timeout?".to_owned()
        );
    }
    let mut reached = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        if said.contains(format!("reached {number}").as_str()) {
            reached.push(*target);
        } else if !said.contains(format!("unreached {number}").as_str()) {
            return Err(format!("it said nothing about the {}", target.kind));
        }
    }
    Ok(reached)
}

/// Every attempt of a pod, of which these reached their target.
pub fn connections(pod: &ProbePod, targets: &[Target], reached: &[Target]) -> Vec<Connection> {
    let connection = |target: &Target| Connection {
        from: pod.node.clone(),
        target: *target,
        reached: reached.contains(target),
    };
    targets.iter().map(connection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolation::{Isolation, PodProfile};
    use crate::settings::NetworkPolicies;

    fn pod(side: Side, ip: &str, node: &str) -> ProbePod {
        let name = "akash-isolation-probe-x".to_owned();
        ProbePod { side, name, ip: ip.parse().unwrap(), node: node.to_owned() }
    }

    fn target(kind: TargetKind, address: &str) -> Target {
        Target { kind, address: address.parse().unwrap() }
    }

    fn node(name: &str, addresses: &[(&str, &str)], port: Option<i32>) -> Node {
        let addresses: Vec<_> =
            addresses.iter().map(|(kind, it)| json!({"type": kind, "address": it})).collect();
        let endpoint = port.map(|port| json!({"kubeletEndpoint": {"Port": port}}));
        serde_json::from_value(json!({
            "metadata": {"name": name},
            "status": {"addresses": addresses, "daemonEndpoints": endpoint}
        }))
        .unwrap()
    }

    fn settings() -> Settings {
        Settings {
            network_policies: Some(NetworkPolicies { api_server: Vec::new() }),
            isolation: Isolation {
                profile: PodProfile::Hardened,
                runtime_class: Some("gvisor".to_owned()),
                denied: vec!["203.0.113.0/24".parse().unwrap()],
            },
            ..Settings::default()
        }
    }

    #[test]
    fn every_address_that_tenants_must_not_reach_is_tried_once() {
        let service = serde_json::from_value(json!({
            "spec": {"clusterIP": "10.96.0.1", "ports": [{"port": 443}]}
        }))
        .unwrap();
        let nodes = [
            node("one", &[("InternalIP", "10.0.0.1"), ("Hostname", "one")], Some(10250)),
            node("two", &[("InternalIP", "10.0.0.2"), ("ExternalIP", "203.0.113.2")], Some(11250)),
            node("three", &[("InternalIP", "fd00::3")], None),
        ];
        let (a, b) = (pod(Side::A, "10.1.0.5", "two"), pod(Side::B, "10.1.0.6", "two"));
        let servers = ["10.0.0.1:6443", "10.0.0.1:6443"].map(|it| it.parse().unwrap());
        let shared = shared_targets(&servers, Some(&service), &nodes, &[&a, &b]);
        use TargetKind::{ApiServer, Kubelet, Metadata, OtherTenant};
        assert_eq!(
            targets(&b, &shared),
            [
                target(OtherTenant, "10.1.0.6:8080"),
                target(ApiServer, "10.0.0.1:6443"),
                target(ApiServer, "10.96.0.1:443"),
                target(Kubelet, "10.0.0.2:11250"),
                target(Kubelet, "203.0.113.2:11250"),
                target(Kubelet, "10.0.0.1:10250"),
                target(Kubelet, "[fd00::3]:10250"),
                target(Metadata, "169.254.169.254:80"),
            ]
        );
    }

    #[test]
    fn many_nodes_are_bounded_and_those_of_the_pods_are_tried() {
        let nodes: Vec<Node> = (0..100)
            .map(|number| {
                let ip = format!("10.0.0.{number}");
                node(&format!("n{number}"), &[("InternalIP", &ip)], None)
            })
            .collect();
        let a = pod(Side::A, "10.1.0.5", "n77");
        let shared = shared_targets(&[], None, &nodes, &[&a]);
        assert_eq!(shared.len(), MOST_NODES + 1);
        assert_eq!(shared[0].address.ip().to_string(), "10.0.0.77");
    }

    #[test]
    fn objects_are_confined_as_new_leases_are_and_never_look_like_a_lease() {
        let objects = objects(Side::A, "busybox:1", &settings());
        let kinds: Vec<&str> = objects.iter().map(|(kind, _)| kind.name).collect();
        assert_eq!(kinds, ["Namespace", "NetworkPolicy", "Deployment"]);
        for (_, object) in &objects {
            let labelled = [&object["metadata"], &object["spec"]["template"]["metadata"]];
            for metadata in labelled {
                for part in ["labels", "annotations"] {
                    let keys = metadata[part].as_object().into_iter().flatten();
                    for (key, _) in keys {
                        assert!(!labels::is_ours(key), "{key}");
                    }
                }
            }
        }
        assert!(is_of_a_probe(&objects[0].1));
        let except = &objects[1].1["spec"]["egress"][2]["to"][0]["ipBlock"]["except"];
        assert!(except.as_array().unwrap().contains(&json!("203.0.113.0/24")), "{except}");
        let pod = &objects[2].1["spec"]["template"]["spec"];
        assert_eq!(pod["runtimeClassName"], "gvisor");
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        let container = &pod["containers"][0];
        let dropped = &container["securityContext"]["capabilities"]["drop"];
        assert_eq!(*dropped, json!(["NET_RAW", "MKNOD"]));
        assert_eq!(container["image"], "busybox:1");
    }

    #[test]
    fn without_policies_for_leases_the_probe_has_none_either() {
        let settings = Settings { network_policies: None, ..settings() };
        let objects = objects(Side::B, "busybox:1", &settings);
        assert!(objects.iter().all(|(kind, _)| *kind != ResourceKind::NETWORK_POLICY));
    }

    #[test]
    fn answers_are_read_and_silence_is_not_isolation() {
        let targets = [
            target(TargetKind::ApiServer, "10.0.0.1:6443"),
            target(TargetKind::Metadata, "169.254.169.254:80"),
        ];
        let read = |output: &str| reached(&targets, output);
        assert_eq!(read("reached self\nunreached 1\nunreached 0\n"), Ok(vec![]));
        assert_eq!(read("unreached 0\r\nreached self\r\nreached 1\r\n"), Ok(vec![targets[1]]));
        // The tools do not work, an attempt is missing, or there is no output at all.
        assert!(read("unreached self\nunreached 0\nunreached 1\n").is_err());
        assert!(read("reached self\nunreached 0\n").unwrap_err().contains("cloud metadata"));
        assert!(read("").is_err());
    }

    #[test]
    fn a_report_names_each_target_that_was_reached_once() {
        let (a, b) = (pod(Side::A, "10.1.0.5", "one"), pod(Side::B, "10.1.0.6", "two"));
        let shared = [target(TargetKind::Kubelet, "10.0.0.1:10250")];
        let mut report = Report { connections: connections(&a, &targets(&b, &shared), &[]) };
        assert_eq!((report.findings().count(), report.summary()), (0, None));
        report.connections.extend(connections(&a, &shared, &shared));
        report.connections.extend(connections(&b, &shared, &shared));
        assert_eq!(report.findings().count(), 2);
        let summary = "pods of tenants reach kubelet at 10.0.0.1:10250";
        assert_eq!(report.summary().as_deref(), Some(summary));
    }

    #[test]
    fn a_pod_that_is_not_ready_says_why() {
        let pod = |value: Value| serde_json::from_value::<Pod>(value).unwrap();
        let why = |value| ready(Side::A, &pod(value)).unwrap_err();
        let waiting = json!({"reason": "ImagePullBackOff", "message": "no such image"});
        let waiting = json!({"status": {"containerStatuses": [{
            "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": waiting}
        }]}});
        assert_eq!(why(waiting), "ImagePullBackOff: no such image");
        let message = "0/3 nodes are available";
        let unscheduled = json!({"status": {"conditions": [
            {"type": "PodScheduled", "status": "False", "message": message}
        ]}});
        assert_eq!(why(unscheduled), message);
        let running = json!({
            "metadata": {"name": "p"}, "spec": {"nodeName": "one", "containers": []},
            "status": {"podIP": "10.1.0.5", "conditions": [{"type": "Ready", "status": "True"}]}
        });
        assert_eq!(ready(Side::A, &pod(running)).unwrap().node, "one");
    }
}
