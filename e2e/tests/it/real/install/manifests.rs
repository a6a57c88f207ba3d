//! The manifests as they are, without a cluster.

use std::process::Command;

use provider_testkit::kube::documents;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::real::install::cluster::copy;
use crate::real::install::root;

/// What `kubectl apply -k` would send, with all components.
fn rendered() -> Vec<Value> {
    let kubectl = Runtime::new().unwrap().block_on(kube_bed::kubectl()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("deploy/kubernetes"), folder.path());
    let file = folder.path().join("kustomization.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let all = text.replace("components: []", "components: [monitoring, without-volume]");
    assert_ne!(text, all);
    std::fs::write(&file, all).unwrap();
    let done = Command::new(kubectl).arg("kustomize").arg(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    documents(&String::from_utf8(done.stdout).unwrap()).unwrap()
}

fn one<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let is = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
    objects.iter().find(is).unwrap_or_else(|| panic!("no {kind} {name}"))
}

/// How long a probe fails before something is done about it.
fn patience(probe: &Value) -> u64 {
    probe["periodSeconds"].as_u64().unwrap() * probe["failureThreshold"].as_u64().unwrap()
}

#[test]
fn the_manifests_hold_together() {
    let objects = rendered();
    let set = one(&objects, "StatefulSet", "akash-provider");
    let pod = &set["spec"]["template"];
    let labels = &pod["metadata"]["labels"];
    assert_eq!(&set["spec"]["selector"]["matchLabels"], labels);
    let budget = one(&objects, "PodDisruptionBudget", "akash-provider");
    assert_eq!(&budget["spec"]["selector"]["matchLabels"], labels);
    // With one pod, a budget that needs it would keep nodes from ever being drained.
    assert_eq!(budget["spec"]["maxUnavailable"], 1);
    for name in ["akash-provider", "akash-provider-metrics"] {
        let service = one(&objects, "Service", name);
        assert_eq!(&service["spec"]["selector"], labels);
        assert_eq!(service["spec"]["publishNotReadyAddresses"], true);
    }
    let monitor = one(&objects, "ServiceMonitor", "akash-provider");
    let watched = one(&objects, "Service", "akash-provider-metrics");
    assert_eq!(monitor["spec"]["selector"]["matchLabels"], watched["metadata"]["labels"]);
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], watched["spec"]["ports"][0]["name"]);
    // The image is the one that `cargo xtask image` writes.
    let image = concat!("localhost/provider-services:", env!("CARGO_PKG_VERSION"));
    for list in ["initContainers", "containers"] {
        assert_eq!(pod["spec"][list][0]["image"], image);
    }
    // Without a claim, a volume of that name beside the pod.
    assert_eq!(set["spec"].get("volumeClaimTemplates"), None);
    let volumes = pod["spec"]["volumes"].as_array().unwrap();
    assert!(volumes.iter().any(|it| it["name"] == "data" && it["emptyDir"].is_object()));
}

#[test]
fn no_probe_kills_a_provider_that_is_slow() {
    let objects = rendered();
    let set = one(&objects, "StatefulSet", "akash-provider");
    let provider = &set["spec"]["template"]["spec"]["containers"][0];
    assert!(patience(&provider["startupProbe"]) >= 24 * 3600);
    assert!(patience(&provider["livenessProbe"]) >= 300);
    // Liveness says nothing of chain and cluster; readiness does, and kills nobody.
    assert_eq!(provider["livenessProbe"]["httpGet"]["path"], "/healthz");
    assert_eq!(provider["startupProbe"]["httpGet"]["path"], "/healthz");
    assert_eq!(provider["readinessProbe"]["httpGet"]["path"], "/readyz");
}

#[test]
fn nothing_in_the_pod_has_more_than_it_needs() {
    let objects = rendered();
    let pod = &one(&objects, "StatefulSet", "akash-provider")["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    for list in ["initContainers", "containers"] {
        let allowed = &pod[list][0]["securityContext"];
        assert_eq!(allowed["allowPrivilegeEscalation"], false);
        assert_eq!(allowed["readOnlyRootFilesystem"], true);
        assert_eq!(allowed["capabilities"]["drop"], serde_json::json!(["ALL"]));
    }
    let bindings = objects.iter().filter(|it| it["kind"] == "ClusterRoleBinding");
    assert!(bindings.count() > 0);
    assert!(objects.iter().all(|it| it["roleRef"]["name"] != "cluster-admin"));
}
