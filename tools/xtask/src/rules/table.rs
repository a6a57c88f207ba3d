//! Who may not know whom. Architecture as data: change it here, with a reason.
//!
//! A `*` at the end of a name stands for any rest. A rule for a crate that does
//! not exist yet waits for it.

use super::{FolderRule, Rule};

/// What a crate would need to talk to the network or to wait for it.
const NETWORK: [&str; 7] = ["tokio", "mio", "hyper", "reqwest", "tonic", "tonic-*", "axum"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        of: "akash-*",
        may_not_reach: &[&["provider-*"]],
        because: "what speaks Akash is of use without this provider",
    },
    Rule {
        of: "akash-proto",
        may_not_reach: &[&["akash-*", "tonic", "tonic-*", "tokio"]],
        because: "messages are plain data; services are in akash-grpc",
    },
    Rule {
        of: "akash-types",
        may_not_reach: &[
            &NETWORK,
            &["kube", "kube-*", "k8s-openapi", "serde", "serde_core", "akash-grpc", "akash-sdl"],
        ],
        because: "the nouns carry neither IO nor a wire format",
    },
    Rule {
        of: "akash-json",
        may_not_reach: &[&NETWORK, &["akash-grpc", "akash-chain", "akash-devnet"]],
        because: "a message is printed the same way by a node and by a client",
    },
    Rule {
        of: "akash-keys",
        may_not_reach: &[&[
            "hyper",
            "reqwest",
            "tonic",
            "tonic-*",
            "axum",
            "akash-grpc",
            "akash-chain",
        ]],
        because: "keys and their files are of use without a chain",
    },
    Rule {
        of: "akash-net",
        may_not_reach: &[&["akash-*", "kube", "kube-*", "tonic", "tonic-*"]],
        because: "whoever connects to anything goes out the same way",
    },
    Rule {
        of: "akash-sdl",
        may_not_reach: &[&NETWORK, &["kube", "kube-*", "k8s-openapi", "akash-grpc"]],
        because: "an SDL is read from text, the same way everywhere",
    },
    Rule {
        of: "akash-chain",
        may_not_reach: &[&["akash-devnet"]],
        because: "the client must not be able to tell the devnet from a real node",
    },
    Rule {
        of: "akash-devnet",
        may_not_reach: &[&["akash-chain"]],
        because: "the chain does not lean on the client it is there to test",
    },
    Rule {
        of: "provider-engine",
        may_not_reach: &[&NETWORK, &["kube", "kube-*", "k8s-openapi", "bollard", "redis"]],
        because: "decisions are functions of state, input and time",
    },
    Rule {
        of: "provider-bus",
        may_not_reach: &[&["kube", "kube-*", "axum"]],
        because: "facts travel the same way whatever runs the workloads",
    },
    Rule {
        of: "provider-crd",
        may_not_reach: &[&NETWORK, &["kube", "kube-*", "provider-*"]],
        because: "what the cluster holds is plain data, whoever reads it",
    },
    Rule {
        of: "kube-access",
        may_not_reach: &[&["akash-chain", "provider-engine", "provider-kube", "provider-gateway"]],
        because: "the driver and the operators reach a cluster the same way",
    },
    Rule {
        of: "provider-kube",
        may_not_reach: &[&["akash-chain", "provider-gateway"]],
        because: "a driver runs workloads and is told which",
    },
    Rule {
        of: "provider-swarm",
        may_not_reach: &[&["akash-chain", "provider-gateway"]],
        because: "a driver runs workloads and is told which",
    },
    Rule {
        of: "provider-sim",
        may_not_reach: &[&["akash-chain", "provider-gateway"]],
        because: "a driver runs workloads and is told which",
    },
    Rule {
        of: "provider-operators",
        may_not_reach: &[&["akash-chain", "provider-engine", "provider-kube", "provider-gateway"]],
        because: "operators serve the cluster",
    },
    Rule {
        of: "provider-api",
        may_not_reach: &[&["axum", "kube", "kube-*"]],
        because: "clients use these types without the server",
    },
    Rule {
        of: "provider-gateway",
        may_not_reach: &[&["kube", "kube-*", "bollard"]],
        because: "the gateway asks through ports, whatever the driver",
    },
    Rule {
        of: "provider-daemon",
        may_not_reach: &[&["clap"]],
        because: "flags become a Config before the daemon starts",
    },
    Rule {
        of: "provider-testkit",
        may_not_reach: &[&["provider-daemon", "provider-gateway", "provider-services"]],
        because: "what plays a whole provider plays its decisions, not its wiring",
    },
    Rule {
        of: "components",
        may_not_reach: &[&NETWORK, &["akash-*", "provider-*"]],
        because: "where programs are is known without starting any",
    },
    Rule {
        of: "kube-bed",
        may_not_reach: &[&["akash-*", "provider-*"]],
        because: "a cluster for tests is the same whoever is tested on it",
    },
    Rule {
        of: "oci-image",
        may_not_reach: &[&NETWORK, &["akash-*", "provider-*", "kube", "kube-*"]],
        because: "an image is written from files alone",
    },
];

pub(super) const FOLDERS: &[FolderRule] = &[
    FolderRule {
        of: "crates",
        may_not_link: &["testing", "tools", "e2e"],
        except: &[],
        because: "test code is never shipped",
    },
    FolderRule {
        of: "sandbox",
        may_not_link: &["testing", "tools", "e2e"],
        except: &[],
        because: "`quickstart` ships the sandbox",
    },
    FolderRule {
        of: "crates",
        may_not_link: &["sandbox"],
        except: &["provider-daemon", "provider-services"],
        because: "the product does not rest on what imitates a chain or a cluster",
    },
];
