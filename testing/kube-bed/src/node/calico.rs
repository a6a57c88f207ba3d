//! What enforces network policies: Calico's Felix on every node, and its plugin that connects pods.
//!
//! Both keep what they know in the API server. Of Calico's own kinds only `ClusterInformation` is
//! used; Felix insists on the others being defined.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use kube::{Api, Client};
use serde_json::json;

use crate::http;

const GROUP: &str = "crd.projectcalico.org";
/// Where Felix says how it is.
const HEALTH: u16 = 9099;

/// Kinds, with their names in addresses, and whether their objects are in namespaces.
const KINDS: [(&str, &str, bool); 18] = [
    ("BGPConfiguration", "bgpconfigurations", false),
    ("BGPFilter", "bgpfilters", false),
    ("BGPPeer", "bgppeers", false),
    ("BlockAffinity", "blockaffinities", false),
    ("CalicoNodeStatus", "caliconodestatuses", false),
    ("ClusterInformation", "clusterinformations", false),
    ("FelixConfiguration", "felixconfigurations", false),
    ("GlobalNetworkPolicy", "globalnetworkpolicies", false),
    ("GlobalNetworkSet", "globalnetworksets", false),
    ("HostEndpoint", "hostendpoints", false),
    ("IPAMBlock", "ipamblocks", false),
    ("IPAMConfig", "ipamconfigs", false),
    ("IPAMHandle", "ipamhandles", false),
    ("IPPool", "ippools", false),
    ("IPReservation", "ipreservations", false),
    ("KubeControllersConfiguration", "kubecontrollersconfigurations", false),
    ("NetworkPolicy", "networkpolicies", true),
    ("NetworkSet", "networksets", true),
];

/// Defines Calico's kinds and says that what they hold can be relied on.
pub(super) async fn install(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for (kind, plural, in_namespaces) in KINDS {
        let definition = serde_json::from_value(json!({
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {
                "group": GROUP,
                "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural,
                          "singular": kind.to_lowercase()},
                "scope": if in_namespaces { "Namespaced" } else { "Cluster" },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true
                    }}
                }]
            }
        }))?;
        definitions.create(&PostParams::default(), &definition).await?;
    }
    let kind = GroupVersionKind::gvk(GROUP, "v1", "ClusterInformation");
    let resource = ApiResource::from_gvk_with_plural(&kind, "clusterinformations");
    let information: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let ready = serde_json::from_value(json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "ClusterInformation",
        "metadata": {"name": "default"}, "spec": {"datastoreReady": true}
    }))?;
    // A kind is served a moment after it was defined.
    let mut tries = 0;
    while let Err(error) = information.create(&PostParams::default(), &ready).await {
        tries += 1;
        if tries == 200 {
            return Err(error).context("telling Calico that the cluster is ready");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// What the runtime is told about the network of pods.
pub(super) fn network(
    folder: &Path,
    name: &str,
    node: &str,
    pods: &str,
    kubeconfig: &Path,
) -> String {
    json!({
        "cniVersion": "0.3.1", "name": name, "plugins": [{
            "type": "calico", "datastore_type": "kubernetes",
            "nodename": node, "nodename_file_optional": true, "mtu": 1500,
            "log_level": "info", "log_file_path": folder.join("calico-cni.log"),
            "ipam": {"type": "host-local", "dataDir": folder.join("addresses"),
                     "ranges": [[{"subnet": pods}]]},
            "policy": {"type": "k8s"}, "kubernetes": {"kubeconfig": kubeconfig}
        }]
    })
    .to_string()
}

/// Adds how Felix is to work on a node.
pub(super) fn configure(command: &mut Command, node: &str, ip: Ipv4Addr, kubeconfig: &Path) {
    command.env("KUBECONFIG", kubeconfig).env("FELIX_HEALTHHOST", ip.to_string()).envs([
        ("FELIX_DATASTORETYPE", "kubernetes"),
        ("FELIX_FELIXHOSTNAME", node),
        ("FELIX_LOGFILEPATH", "none"),
        ("FELIX_LOGSEVERITYFILE", "none"),
        ("FELIX_LOGSEVERITYSYS", "none"),
        ("FELIX_LOGSEVERITYSCREEN", "warning"),
        ("FELIX_IPV6SUPPORT", "false"),
        // Neither tells the makers of Calico, nor asks a cloud where it is.
        ("FELIX_USAGEREPORTINGENABLED", "false"),
        ("FELIX_METADATAADDR", "none"),
        ("FELIX_IPTABLESBACKEND", "NFT"),
        ("FELIX_XDPENABLED", "false"),
        // What policies let a pod send to its node is let in; the node has no rules of its own.
        ("FELIX_DEFAULTENDPOINTTOHOSTACTION", "ACCEPT"),
        ("FELIX_HEALTHENABLED", "true"),
    ]);
}

/// Whether Felix has written its rules.
pub(super) async fn is_ready(ip: Ipv4Addr) -> bool {
    http::get((ip, HEALTH), "/readiness").await.is_ok()
}
