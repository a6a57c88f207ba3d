//! In the place of a Go provider: what it left in a cluster was recorded, with its key and those of
//! its tenants.

use std::collections::BTreeMap;

use kube_bed::Node;
use provider_testkit::kube::documents;
use serde_json::{Value, json};

use crate::real::install::cluster::Cluster;
use crate::real::install::root;

/// Recorded deployments, and what they cost.
const CASES: [&str; 3] = ["01-basic", "02-two-services", "04-nodeports"];
const PRICE: &str = "100uact";

/// What the API server and controllers say of an object, and not who made it.
const TOLD: [&str; 5] =
    ["resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"];

/// What tenants' namespaces hold.
const KINDS: &str = "deployments,statefulsets,services,networkpolicies,serviceaccounts,secrets,\
                     roles,rolebindings,ingresses,pods,persistentvolumeclaims,configmaps";

fn read(path: &str) -> String {
    let path = root().join("fixtures").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn keys() -> Value {
    serde_json::from_str(&read("chain/throwaway-keys.json")).unwrap()
}

/// Objects as somebody would make them again.
fn recorded(file: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    for mut document in documents(&read(file)).unwrap() {
        match document.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) => objects.append(items),
            None => objects.push(document),
        }
    }
    // Each namespace gets these two by itself.
    objects.retain(|it| {
        let name = it["metadata"]["name"].as_str().unwrap();
        !["kube-root-ca.crt", "default"].contains(&name)
    });
    for object in &mut objects {
        object.as_object_mut().unwrap().remove("status");
        for field in TOLD {
            object["metadata"].as_object_mut().unwrap().remove(field);
        }
        if object["kind"] == "Service" {
            // Addresses and ports of another cluster.
            for field in ["clusterIP", "clusterIPs"] {
                object["spec"].as_object_mut().unwrap().remove(field);
            }
        }
    }
    objects
}

/// Sets the version of the manifest wherever it stands.
fn relabel(value: &mut Value, version: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "akash.network/manifest.resource.version" => *value = version.clone(),
                    _ => relabel(value, version),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| relabel(item, version)),
        _ => {}
    }
}

impl Cluster {
    /// What a chart of the Go provider leaves, as far as it gets in the way.
    fn install_go(&self) {
        let labels = json!({"app": "akash-provider", "app.kubernetes.io/managed-by": "Helm"});
        let sleeps = json!({
            "metadata": {"labels": {"app": "akash-provider"}},
            "spec": {"containers": [{
                "name": "provider", "image": "localhost/busybox:bed",
                "command": ["sleep", "100000"]
            }], "terminationGracePeriodSeconds": 1}
        });
        let meta = json!({"name": "akash-provider", "namespace": "akash-services",
                          "labels": labels});
        let objects = [
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}),
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": {
                "serviceName": "akash-provider", "replicas": 1, "template": sleeps,
                "selector": {"matchLabels": {"app": "akash-provider"}}
            }}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {
                "selector": {"app": "akash-provider"}, "ports": [
                    {"name": "api", "port": 8443}, {"name": "grpc", "port": 8444}
                ]
            }}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                "metadata": {"name": "akash-provider", "labels": labels},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                            "name": "cluster-admin"},
                "subjects": [{"kind": "ServiceAccount", "name": "akash-provider",
                              "namespace": "akash-services"}]
            }),
        ];
        self.create("go", &objects);
    }

    fn create(&self, name: &str, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        std::fs::write(self.at("objects.json"), list.to_string()).unwrap();
        let made = self.kubectl("create -f objects.json");
        made.unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }

    /// The versions of everything that a tenant has, and of what says so.
    fn versions(&self, namespace: &str) -> BTreeMap<String, String> {
        let mut objects = self.get(&format!("{KINDS} -n {namespace}")).unwrap();
        let custom = "manifests,providerhosts,providerleasedips -n lease";
        objects.extend(self.get(custom).unwrap());
        let all = self.get("namespaces").unwrap();
        objects.extend(all.into_iter().filter(|it| it["metadata"]["name"] == namespace));
        let version = |it: &Value| {
            let meta = &it["metadata"];
            let name = format!("{} {}", it["kind"], meta["name"]);
            (name, format!("{} {}", meta["uid"], meta["resourceVersion"]))
        };
        objects.iter().map(version).collect()
    }
}

#[test]
fn a_go_provider_is_replaced_in_place_and_tenants_do_not_notice() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    // The chain knows the provider, its tenant and their leases.
    let keys = keys();
    let names = ["provider", "tenant1"];
    let accounts = names.map(|name| {
        let address = keys[name]["address"].as_str().unwrap();
        format!("{name}={address}=1000000000uakt,1000000000uact")
    });
    let cluster = Cluster::start(&accounts);
    let network = &cluster.network;
    cluster.import_busybox("localhost/busybox:bed", &["sh"]);
    for name in names {
        let words = keys[name]["mnemonic"].as_str().unwrap();
        let recover = format!("echo '{words}' | provider-services keys add {name} --recover");
        cluster.type_in(&recover).unwrap();
    }
    let registration = cluster.at("deploy/kubernetes/provider.yaml");
    network.tx("provider", &["provider", "create", registration.to_str().unwrap()]).unwrap();
    let [provider, owner] = names.map(|name| keys[name]["address"].as_str().unwrap());
    let leases = CASES.map(|case| {
        let lease: Value =
            serde_json::from_str(&read(&format!("kubernetes/{case}/lease.json"))).unwrap();
        let dseq = lease["dseq"].to_string();
        let sdl = root().join(format!("fixtures/kubernetes/{case}/sdl.yaml"));
        let create = ["deployment", "create", sdl.to_str().unwrap(), "--dseq", &dseq];
        network.tx("tenant1", &create).unwrap();
        let bid = ["market", "bid", "create", "--owner", owner, "--dseq", &dseq];
        network.tx("provider", &[&bid[..], &["--price", PRICE]].concat()).unwrap();
        let accept = ["market", "lease", "create", "--dseq", &dseq, "--provider", provider];
        network.tx("tenant1", &accept).unwrap();
        (dseq, lease["namespace"].as_str().unwrap().to_owned())
    });

    // The cluster has what the Go provider made.
    cluster.kubectl("label node --all akash.network=true").unwrap();
    let deploy = "deploy/kubernetes";
    cluster.kubectl(&format!("apply -f {deploy}/namespaces.yaml -f {deploy}/crds.yaml")).unwrap();
    cluster.kubectl("wait --for condition=established crd --all").unwrap();
    cluster.install_go();
    let export = "echo 'long enough' > key-pass.txt && \
                  provider-services keys export provider < key-pass.txt > key.txt && \
                  kubectl -n akash-services create secret generic akash-provider-keys \
                  --from-file=key.txt --from-file=key-pass.txt";
    cluster.type_in(export).unwrap();
    for (case, (_, namespace)) in CASES.iter().zip(&leases) {
        cluster.create(case, &recorded(&format!("kubernetes/{case}/crs.yaml")));
        // Objects say which manifest they were made from; it is another version here.
        let manifest = cluster.kubectl(&format!("-n lease get manifest {namespace} -o json"));
        let manifest: Value = serde_json::from_str(&manifest.unwrap()).unwrap();
        let mut objects = recorded(&format!("kubernetes/{case}/objects.yaml"));
        for object in &mut objects {
            relabel(object, &manifest["metadata"]["resourceVersion"]);
        }
        cluster.create(case, &objects);
    }
    // Controllers have said all that they have to say.
    let all = || leases.each_ref().map(|(_, namespace)| cluster.versions(namespace));
    for (_, namespace) in &leases {
        let rolled = format!("-n {namespace} rollout status deployment --timeout=3m");
        cluster.kubectl(&rolled).unwrap();
    }
    let mut before = all();
    cluster.insist("nothing changes any more", || {
        std::thread::sleep(std::time::Duration::from_secs(2));
        let last = std::mem::replace(&mut before, all());
        Ok((last == before).then_some(()))
    });

    // The image is made as for a new provider.
    let image = "cd \"$ROOT\" && cargo xtask image --program \"$PROGRAM\" --output \
                 \"$HERE/image.tar\" && ctr -n k8s.io images import \"$HERE/image.tar\"";
    cluster.type_in(image).unwrap();
    cluster.edit(
        "deploy/kubernetes/kustomization.yaml",
        &[("components: []", "components: [without-volume]")],
    );
    cluster.follow_guide("## In the place of a Go provider", 6);

    cluster.insist("all leases run", || {
        let told = cluster.ctl("leases")?;
        let told = told["leases"].as_array().cloned().unwrap_or_default();
        let running = told.iter().filter(|lease| lease["stage"] == "running").count();
        anyhow::ensure!(told.len() == CASES.len(), "{told:?}");
        Ok((running == CASES.len()).then_some(()))
    });
    // Long enough for a round of everything that could want to write.
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(all(), before);
}
