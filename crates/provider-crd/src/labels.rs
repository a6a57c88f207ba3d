//! Labels and annotations, and the selectors that find objects by them.
//!
//! Four sets are combined: *base* says that the provider manages an object and from which
//! manifest it was made, *selector* is the part of base that never changes, *lease* is the lease's
//! id in parts, *service* the service's name.

use std::collections::BTreeMap;

use akash_types::LeaseId;

pub type Labels = BTreeMap<String, String>;

/// On everything that is managed; `true`. Also on nodes that workloads may run on.
pub const MANAGED: &str = "akash.network";
/// The lease's namespace.
pub const NAMESPACE: &str = "akash.network/namespace";
/// The service's name.
pub const SERVICE: &str = "akash.network/manifest-service";
/// The `resourceVersion` of the `Manifest` that an object was made from. New pod templates carry it
/// too; in an existing one it is never changed by itself, which would restart every pod.
pub const REVISION: &str = "akash.network/manifest.resource.version";
pub const LEASE_OWNER: &str = "akash.network/lease.id.owner";
/// Number of the deployment.
pub const LEASE_DSEQ: &str = "akash.network/lease.id.dseq";
/// Number of the group.
pub const LEASE_GSEQ: &str = "akash.network/lease.id.gseq";
/// Number of the order.
pub const LEASE_OSEQ: &str = "akash.network/lease.id.oseq";
pub const LEASE_PROVIDER: &str = "akash.network/lease.id.provider";
/// On a Service: its purpose. Those at leased addresses have it.
pub const SERVICE_TARGET: &str = "akash.network/service-target";
/// On a `ProviderLeasedIP`: the service's name.
pub const LEASED_IP_SERVICE: &str = "service-name";
/// On a `ProviderLeasedIP`: the port at the address.
pub const LEASED_IP_PORT: &str = "external-port";
/// On a `ProviderLeasedIP`: `TCP` or `UDP`.
pub const LEASED_IP_PROTOCOL: &str = "proto";

/// Annotation of a `ProviderHost`: when it was last declared, RFC 3339. A change of it makes the
/// hostname be served anew.
pub const UPDATED_AT: &str = "akash.network/lease.updated_at";

/// Annotation of a route: `true` where options of HTTP stand in it that most routes do not have.
/// Without it they are somebody else's, and stay.
pub const HTTP_OPTIONS: &str = "akash.network/http-options";

/// Annotation of a `Manifest`: hash of the manifest that the tenant sent, in hexadecimal. On a lease's
/// namespace, with the `Manifest`'s revision and a slash before it: the hash of one that was sent
/// later and differs in nothing that a `Manifest` holds.
pub const MANIFEST_VERSION: &str = "akash.network/manifest.version";

/// Annotation of a lease's namespace: the profile of its pods, if that is not `go`.
pub const POD_PROFILE: &str = "akash.network/tenant-pod-profile";
/// Annotation of a lease's namespace: the runtime class of its pods, if they were given one.
pub const RUNTIME_CLASS: &str = "akash.network/tenant-runtime-class";
/// Annotation beside [`MANIFEST_VERSION`]: what the tenant's manifest asks for that is not carried
/// out, as JSON: a list of options by service.
pub const MANIFEST_IGNORED: &str = "akash.network/manifest.ignored";

/// On nodes, written by their kubelets: the architecture, such as `amd64`.
pub const NODE_ARCH: &str = "kubernetes.io/arch";
/// On nodes: start of the labels that count cards.
pub const NODE_GPU: &str = "akash.network/capabilities.gpu";
/// On nodes: start of the labels that name classes of persistent storage.
pub const NODE_STORAGE_CLASS: &str = "akash.network/capabilities.storage.class";

/// The value of labels that are switches.
pub const TRUE: &str = "true";

/// What a workload is selected by; never changes.
pub fn selector(namespace: &str) -> Labels {
    labels([(MANAGED, TRUE), (NAMESPACE, namespace)])
}

/// As [`selector`], and from which manifest.
pub fn base(namespace: &str, revision: &str) -> Labels {
    let mut base = selector(namespace);
    base.insert(REVISION.to_owned(), revision.to_owned());
    base
}

/// The lease's id, in parts.
pub fn lease(id: &LeaseId) -> Labels {
    [
        (LEASE_OWNER, id.owner().to_string()),
        (LEASE_DSEQ, id.dseq().to_string()),
        (LEASE_GSEQ, id.gseq().to_string()),
        (LEASE_OSEQ, id.oseq().to_string()),
        (LEASE_PROVIDER, id.provider().to_string()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// That it is managed, and for which lease: what hostnames and addresses carry.
pub fn managed_for(id: &LeaseId) -> Labels {
    let mut labels = lease(id);
    labels.insert(MANAGED.to_owned(), TRUE.to_owned());
    labels
}

pub fn with_service(mut labels: Labels, service: &str) -> Labels {
    labels.insert(SERVICE.to_owned(), service.to_owned());
    labels
}

/// Selects everything of a lease that carries its id. The provider is not part of it.
pub fn lease_selector(id: &LeaseId) -> String {
    format!(
        "{LEASE_OWNER}={},{LEASE_DSEQ}={},{LEASE_GSEQ}={},{LEASE_OSEQ}={}",
        id.owner(),
        id.dseq(),
        id.gseq(),
        id.oseq()
    )
}

/// Whether a label of an object is the provider's to set and to remove.
pub fn is_ours(key: &str) -> bool {
    key.starts_with(MANAGED)
}

/// The node label that counts cards of a model.
pub fn node_gpu_model(vendor: &str, model: &str) -> String {
    format!("{NODE_GPU}.vendor.{vendor}.model.{model}")
}

/// The node label that names a class of persistent storage.
pub fn node_storage_class(class: &str) -> String {
    format!("{NODE_STORAGE_CLASS}.{class}")
}

fn labels<const N: usize>(pairs: [(&str, &str); N]) -> Labels {
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease_id() -> LeaseId {
        "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/2/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx"
            .parse()
            .unwrap()
    }

    #[test]
    fn a_lease_is_selected_by_four_labels_and_not_by_its_provider() {
        assert_eq!(
            lease_selector(&lease_id()),
            "akash.network/lease.id.owner=akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27,\
             akash.network/lease.id.dseq=5950031,akash.network/lease.id.gseq=1,\
             akash.network/lease.id.oseq=2"
        );
    }

    #[test]
    fn the_revision_is_no_part_of_a_selector() {
        assert!(!selector("ns").contains_key(REVISION));
        assert_eq!(base("ns", "7").get(REVISION).map(String::as_str), Some("7"));
    }

    #[test]
    fn labels_of_others_are_not_ours() {
        for (key, ours) in [
            ("akash.network", true),
            ("akash.network/namespace", true),
            ("kubernetes.io/metadata.name", false),
            ("team", false),
        ] {
            assert_eq!(is_ours(key), ours, "{key}");
        }
    }
}
