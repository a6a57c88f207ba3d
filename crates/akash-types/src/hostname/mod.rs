//! Hostnames: which are valid, which are blocked, which are generated, and who may have one.

mod blocked;
mod generated;

pub use blocked::{BlockedBy, BlockedHostnames};
pub use generated::{generated_host, generated_under, looks_generated};

use crate::LeaseId;

/// Characters in a hostname.
pub const MAX_LENGTH: usize = 253;
/// Characters in each part of a hostname, where DNS has to carry it.
pub const MAX_LABEL: usize = 63;

/// Whether `label`, of any length, can be a part of a hostname.
pub fn is_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// A DNS-1123 subdomain, as Kubernetes defines it: its parts may be longer than DNS allows.
pub fn is_hostname(name: &str) -> bool {
    name.len() <= MAX_LENGTH && name.split('.').all(is_label)
}

/// A hostname that DNS can carry.
pub fn is_dns_name(name: &str) -> bool {
    is_hostname(name) && name.split('.').all(|label| label.len() <= MAX_LABEL)
}

/// Whether a hostname of lease `holder` may go to lease `to`: within a tenant, not between tenants.
pub fn may_move(holder: LeaseId, to: LeaseId) -> bool {
    holder.owner() == to.owner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostnames() {
        let long = format!("{}.com", "a".repeat(249));
        for name in ["a", "a.b", "x-1.example.com", &long] {
            assert!(is_hostname(name), "{name}");
        }
        let longer = format!("{}.com", "a".repeat(250));
        for name in
            ["", "A.b", "a..b", "-a.b", "a-.b", "*.a.b", "a_b", ".a", "a.", "é.com", &longer]
        {
            assert!(!is_hostname(name), "{name}");
        }
        assert!(is_dns_name(&format!("{}.com", "a".repeat(63))));
        assert!(!is_dns_name(&format!("{}.com", "a".repeat(64))));
    }
}
