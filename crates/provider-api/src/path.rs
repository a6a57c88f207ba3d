//! Where everything is.

use akash_types::LeaseId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but what never needs it.
pub(crate) const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Which program runs.
pub const VERSION: &str = "/version";
/// Whose provider it is.
pub const ADDRESS: &str = "/address";
/// How the provider is.
pub const STATUS: &str = "/status";
/// Whether a group would be bid on.
pub const VALIDATE: &str = "/validate";
/// Moves hostnames.
pub const MIGRATE_HOSTNAMES: &str = "/hostname/migrate";
/// Moves leased addresses.
pub const MIGRATE_ENDPOINTS: &str = "/endpoint/migrate";

/// Where the manifest of a deployment is sent.
pub fn deployment_manifest(dseq: u64) -> String {
    format!("/deployment/{dseq}/manifest")
}

/// The manifest of a lease.
pub fn lease_manifest(lease: LeaseId) -> String {
    of_lease(lease, "manifest")
}

/// How a lease is.
pub fn lease_status(lease: LeaseId) -> String {
    of_lease(lease, "status")
}

/// How a service of a lease is.
pub fn service_status(lease: LeaseId, service: &str) -> String {
    let service = utf8_percent_encode(service, ESCAPED);
    of_lease(lease, &format!("service/{service}/status"))
}

/// Logs of a lease.
pub fn logs(lease: LeaseId) -> String {
    of_lease(lease, "logs")
}

/// What happened to a lease.
pub fn events(lease: LeaseId) -> String {
    of_lease(lease, "kubeevents")
}

/// Commands in containers of a lease.
pub fn shell(lease: LeaseId) -> String {
    of_lease(lease, "shell")
}

fn of_lease(lease: LeaseId, rest: &str) -> String {
    format!("/lease/{}/{}/{}/{rest}", lease.dseq(), lease.gseq(), lease.oseq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_owner_nor_provider_is_in_a_path() {
        let owner = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
        let lease: LeaseId = format!("{owner}/9002/1/2/{owner}").parse().unwrap();
        assert_eq!(lease_status(lease), "/lease/9002/1/2/status");
        assert_eq!(service_status(lease, "a/b"), "/lease/9002/1/2/service/a%2Fb/status");
    }
}
