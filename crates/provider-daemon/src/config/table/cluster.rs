//! What runs the workloads.

use crate::config::setting::Setting;

const AS_THEY_ARE: &str = "objects of older versions are used as they are";
const NO_IP_OPERATOR: &str = "the IP operator is not built yet: on Kubernetes, orders that ask for an address are not bid on";
const WATCHED: &str = "the cluster is watched, not polled";

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "cluster",
        "KIND",
        "",
        "What runs the workloads: simulated, kubernetes or swarm [default: simulated, or kubernetes with --cluster-k8s]",
    ),
    Setting::switch("cluster-k8s", "false", "The same as --cluster kubernetes"),
    Setting::new(
        "accept-cluster",
        "UID",
        "",
        "Accept the cluster with this uid at the start although it shows nothing of the leases; `ctl status` shows it",
    ),
    Setting::new(
        "sim-cluster-address",
        "ADDRESS",
        "",
        "Where a simulated cluster listens [default: one inside this process]",
    ),
    Setting::new(
        "k8s-manifest-ns",
        "NAMESPACE",
        "lease",
        "Namespace of the Akash custom resources",
    ),
    Setting::new(
        "kubeconfig",
        "FILE",
        "$HOME/.kube/config",
        "How to reach Kubernetes; without such a file as a pod does",
    ),
    Setting::new(
        "cluster-public-hostname",
        "HOST",
        "",
        "Name at which tenants reach the provider and its ports",
    ),
    Setting::switch(
        "deployment-ingress-static-hosts",
        "false",
        "Give each HTTP service a name below --deployment-ingress-domain",
    ),
    Setting::new("deployment-ingress-domain", "DOMAIN", "", "Domain of such names"),
    Setting::list(
        "deployment-blocked-hostnames",
        "HOSTS",
        "",
        "Names that tenants may not have; .example.com is a whole domain",
    )
    .live(),
    Setting::switch(
        "deployment-network-policies-enabled",
        "true",
        "Keep workloads of tenants apart with network policies",
    ),
    Setting::new(
        "docker-image-pull-secrets-name",
        "NAME",
        "",
        "Secret with which images are pulled",
    ),
    Setting::new("overcommit-pct-cpu", "PERCENT", "0", "How much more CPU is sold than there is"),
    Setting::new(
        "overcommit-pct-mem",
        "PERCENT",
        "0",
        "How much more memory is sold than there is",
    ),
    Setting::new(
        "overcommit-pct-storage",
        "PERCENT",
        "0",
        "How much more ephemeral storage is sold than there is",
    ),
    Setting::switch("ip-operator", "false", "Lease addresses").unused(NO_IP_OPERATOR),
    Setting::switch(
        "hostname-operator",
        "true",
        "Make the routes of hostnames; false if another process does",
    ),
    Setting::new(
        "hostname-operator-endpoint",
        "ADDRESS",
        "",
        "Where the hostname operator listens",
    )
    .unused("routes are read from the cluster, whichever process makes them"),
    Setting::new("ip-operator-endpoint", "ADDRESS", "", "Where the IP operator listens")
        .unused(NO_IP_OPERATOR),
    Setting::new(
        "ingress-mode",
        "MODE",
        "ingress",
        "How names lead to services: ingress or gateway-api",
    ),
    Setting::new(
        "ingress-class",
        "NAME",
        "akash-ingress-class",
        "Class of Ingress objects, which says what serves them",
    ),
    Setting::new("gateway-name", "NAME", "akash-gateway", "Gateway of gateway-api"),
    Setting::new("gateway-namespace", "NAMESPACE", "akash-gateway", "Namespace of that gateway"),
    Setting::new("gateway-provider", "NAME", "nginx", "What implements that gateway")
        .unused("the controller of the Gateway's class says what implements it"),
    Setting::new(
        "proxy-buffer-size",
        "SIZE",
        "16k",
        "Buffer for an answer's headers: an annotation of routes with --ingress-mode gateway-api, where it cannot be told what implements the gateway",
    ),
    Setting::switch(
        "migrations-enabled",
        "true",
        "Bring the objects of older versions up to date at start",
    )
    .unused(AS_THEY_ARE),
    Setting::new("migrations-state-path", "FILE", "", "File that says which were")
        .unused(AS_THEY_ARE),
    Setting::new(
        "monitor-max-retries",
        "N",
        "40",
        "Failed checks in a row after which an unhealthy lease is closed",
    )
    .live(),
    Setting::new(
        "monitor-retry-period",
        "SPAN",
        "4s",
        "How long a check that failed waits for the next",
    )
    .live(),
    Setting::new("monitor-retry-period-jitter", "SPAN", "15s", "By how much more at most").live(),
    Setting::new(
        "monitor-healthcheck-period",
        "SPAN",
        "10s",
        "How often a healthy lease is checked",
    )
    .unused(WATCHED),
    Setting::new("monitor-healthcheck-period-jitter", "SPAN", "5s", "By how much more at most")
        .unused(WATCHED),
    Setting::new("inventory-resource-poll-period", "SPAN", "5s", "How often resources are counted")
        .unused(WATCHED),
    Setting::new("inventory-resource-debug-frequency", "N", "10", "How often they are logged")
        .unused(WATCHED),
    Setting::new("cluster-wait-ready-duration", "SPAN", "5s", "How long the cluster is waited for")
        .unused("it is waited for as long as it takes, and the status says so"),
    Setting::new("cluster-node-port-quantity", "N", "1", "Number of node ports")
        .unused("the API server says how many there are, and services show which are taken"),
    Setting::switch("deployment-ingress-expose-lb-hosts", "false", "Show names of load balancers")
        .unused("it never had one"),
    Setting::new("deployment-runtime-class", "NAME", "gvisor", "Runtime class of pods").unused(
        "classes come from what the tenant orders; --tenant-runtime-class sets that of new leases",
    ),
    Setting::new(
        "tenant-pod-profile",
        "PROFILE",
        "hardened",
        "How pods of new leases are confined: hardened, or go as the Go provider does; leases keep theirs",
    ),
    Setting::list(
        "tenant-egress-deny",
        "NETWORKS",
        "",
        "Networks that hardened pods do not reach, beside private, link-local and CGNAT ones",
    ),
    Setting::new(
        "tenant-runtime-class",
        "NAME",
        "",
        "Runtime class of pods of new leases, such as that of gVisor; leases keep theirs",
    ),
    Setting::switch(
        "require-isolation",
        "false",
        "Probe whether tenants are kept apart, at start and again and again; no new bids unless they are",
    ),
    Setting::new(
        "isolation-probe-period",
        "SPAN",
        "6h",
        "How often that is probed with --require-isolation",
    ),
    Setting::new(
        "storage-capacity",
        "CLASS=SIZE,…",
        "",
        "How much persistent storage each class has in all, such as beta3=2Ti,nfs=500Gi, where the \
         cluster does not say (docs/storage.md)",
    ),
    Setting::new(
        "probe-image",
        "IMAGE",
        "docker.io/library/busybox:1.37",
        "Image of the probe's pods, with sh, nc, httpd and timeout as in busybox",
    ),
];
