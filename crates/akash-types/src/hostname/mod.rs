//! Hostnames: which are valid, which are blocked, which are generated, and who may have one.

use std::collections::BTreeSet;

use sha1::{Digest, Sha1};

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

/// What the operator does not let tenants use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedHostnames {
    names: BTreeSet<String>,
    /// Each with its leading dot.
    domains: BTreeSet<String>,
    /// Names of the provider itself.
    reserved: BTreeSet<String>,
}

/// Names that mean something else inside a cluster or on a machine.
const INTERNAL: [&str; 3] = ["localhost", "kubernetes", "kubernetes.default"];

/// Domains of names inside a cluster, each with its leading dot.
const INTERNAL_DOMAINS: [&str; 2] = [".svc", ".cluster.local"];

/// What of the list blocks a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedBy {
    /// The name itself.
    Name,
    /// A domain that it is, or is in.
    Domain,
    /// It belongs to the provider or the cluster, whatever the list says.
    Reserved,
}

impl BlockedHostnames {
    /// A list: `x` blocks x, `.x` blocks x and every name that ends in `.x`. Case does not matter,
    /// and empty entries block nothing.
    pub fn new<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Self {
        let mut list = Self::default();
        for entry in entries {
            let entry = entry.as_ref().trim().to_lowercase();
            if matches!(entry.as_str(), "" | ".") {
                continue;
            }
            let of_its_kind =
                if entry.starts_with('.') { &mut list.domains } else { &mut list.names };
            of_its_kind.insert(entry);
        }
        list
    }

    /// Reserves names of the provider itself: its public hostname, the ingress domain's apex.
    pub fn reserving<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(|name| name.as_ref().trim().to_lowercase());
        self.reserved.extend(names.filter(|name| !name.is_empty()));
        self
    }

    /// Why `host`, which is in lower case, is blocked, if it is.
    pub fn blocks(&self, host: &str) -> Option<BlockedBy> {
        let within =
            |domain: &str| host.ends_with(domain) || domain.strip_prefix('.') == Some(host);
        if self.domains.iter().any(|domain| within(domain)) {
            Some(BlockedBy::Domain)
        } else if self.names.contains(host) {
            Some(BlockedBy::Name)
        } else {
            let is_reserved = self.reserved.contains(host)
                || INTERNAL.contains(&host)
                || INTERNAL_DOMAINS.into_iter().any(within);
            is_reserved.then_some(BlockedBy::Reserved)
        }
    }

    /// What of the list lies under `domain`, if anything: whoever had all names under it would have
    /// that one too.
    pub fn blocks_within(&self, domain: &str) -> Option<BlockedBy> {
        let lies_under =
            |name: &String| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        if self.domains.iter().any(lies_under) {
            Some(BlockedBy::Domain)
        } else if self.names.iter().any(lies_under) {
            Some(BlockedBy::Name)
        } else {
            self.reserved.iter().any(lies_under).then_some(BlockedBy::Reserved)
        }
    }
}

/// Namespace of DNS names in RFC 9562, `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
const DNS: u128 = 0x6ba7_b810_9dad_11d1_80b4_00c0_4fd4_30c8;

/// Letters of a generated label: 128 bits at five each.
const LABEL: usize = 26;

/// The digits of base32hex, in lower case.
const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

fn generated_label(lease: LeaseId, service: &str) -> String {
    base32hex(uuid_v5(&format!("{lease}{service}")))
}

/// The host that `service` gets without asking, under `domain`: always the same for the same lease.
pub fn generated_host(lease: LeaseId, service: &str, domain: &str) -> String {
    format!("{}.{}", generated_label(lease, service), domain.to_lowercase())
}

/// The domain under which `host` was generated for `service`; `None` if it was not.
pub fn generated_under<'h>(lease: LeaseId, service: &str, host: &'h str) -> Option<&'h str> {
    let (label, domain) = host.split_once('.')?;
    (label == generated_label(lease, service)).then_some(domain)
}

/// Whether `host` could be generated under `domain`, for one lease or another.
///
/// The id of a lease can be known before the lease exists, so a tenant could ask for its host first.
pub fn looks_generated(host: &str, domain: &str) -> bool {
    let label = host.strip_suffix(&domain.to_lowercase()).and_then(|rest| rest.strip_suffix('.'));
    label.is_some_and(|label| {
        label.len() == LABEL && label.bytes().all(|byte| DIGITS.contains(&byte))
    })
}

/// RFC 9562, version 5: the name's SHA-1 within the namespace, with version and variant put in.
fn uuid_v5(name: &str) -> u128 {
    let hash = Sha1::new().chain_update(DNS.to_be_bytes()).chain_update(name).finalize();
    let first = hash.iter().take(16).fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    let version = first & !(0xf << 76) | 5 << 76;
    version & !(0b11 << 62) | 0b10 << 62
}

fn base32hex(bits: u128) -> String {
    // Two bits of zero fill up the last digit.
    let digit = |place: usize| match place {
        0 => bits << 2,
        _ => bits >> (5 * place - 2),
    };
    (0..LABEL)
        .rev()
        .filter_map(|place| DIGITS.get(usize::try_from(digit(place) & 31).ok()?))
        .map(|byte| char::from(*byte))
        .collect()
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

    #[test]
    fn names_block_themselves_and_dotted_ones_their_domain() {
        let list = BlockedHostnames::new(["one.example.com", ".Evil.example", "", " ", "."]);
        for (host, blocked) in [
            ("one.example.com", Some(BlockedBy::Name)),
            ("a.one.example.com", None),
            ("example.com", None),
            ("evil.example", Some(BlockedBy::Domain)),
            ("x.evil.example", Some(BlockedBy::Domain)),
            ("a.b.evil.example", Some(BlockedBy::Domain)),
            ("notevil.example", None),
            ("evil.example.org", None),
        ] {
            assert_eq!(list.blocks(host), blocked, "{host}");
        }
        for (domain, blocked) in [
            ("example.com", Some(BlockedBy::Name)),
            ("one.example.com", None),
            ("example", Some(BlockedBy::Domain)),
            ("vil.example", None),
            ("example.org", None),
        ] {
            assert_eq!(list.blocks_within(domain), blocked, "{domain}");
        }
    }

    #[test]
    fn names_of_the_provider_and_the_cluster_are_reserved() {
        let list = BlockedHostnames::new(["one.example.com"]).reserving([
            "Provider.example.com",
            "ingress.example.com",
            "",
        ]);
        for (host, blocked) in [
            ("provider.example.com", Some(BlockedBy::Reserved)),
            ("a.provider.example.com", None),
            ("ingress.example.com", Some(BlockedBy::Reserved)),
            ("shop.ingress.example.com", None),
            ("localhost", Some(BlockedBy::Reserved)),
            ("shop.localhost", None),
            ("kubernetes", Some(BlockedBy::Reserved)),
            ("kubernetes.default", Some(BlockedBy::Reserved)),
            ("web.lease.svc", Some(BlockedBy::Reserved)),
            ("web.lease.svc.cluster.local", Some(BlockedBy::Reserved)),
            ("cluster.local", Some(BlockedBy::Reserved)),
            ("svc.example.com", None),
            ("one.example.com", Some(BlockedBy::Name)),
        ] {
            assert_eq!(list.blocks(host), blocked, "{host}");
        }
        assert_eq!(BlockedHostnames::default().blocks("localhost"), Some(BlockedBy::Reserved));
        let under = BlockedHostnames::default().reserving(["provider.example.com"]);
        assert_eq!(under.blocks_within("example.com"), Some(BlockedBy::Reserved));
        assert_eq!(under.blocks_within("provider.example.com"), None);
    }

    fn lease() -> LeaseId {
        "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/\
         akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx"
            .parse()
            .unwrap()
    }

    #[test]
    fn hosts_are_those_of_running_leases() {
        assert_eq!(uuid_v5(&format!("{}web", lease())), 0x3bd9_bb14_e747_5766_9520_84d6_f629_a085);
        assert_eq!(
            generated_host(lease(), "web", "Ingress.example.com"),
            "7fcrm5778tbmd590gjbfcad0gk.ingress.example.com"
        );
        // As a Go provider made it.
        let recorded = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/9001/1/1/\
                        akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
        assert_eq!(
            generated_host(recorded.parse().unwrap(), "web", "localhost"),
            "a4t9h2c5vd97364air4kl2d01o.localhost"
        );
    }

    #[test]
    fn generated_names_are_known_as_such() {
        let host = generated_host(lease(), "web", "ingress.example.com");
        assert!(looks_generated(&host, "Ingress.example.com"));
        assert_eq!(generated_under(lease(), "web", &host), Some("ingress.example.com"));
        assert_eq!(generated_under(lease(), "api", &host), None);
        assert_eq!(generated_under(lease(), "web", &host[..26]), None);
        for host in [
            "ingress.example.com",
            "shop.ingress.example.com",
            "7fcrm5778tbmd590gjbfcad0gk.example.com",
            "7fcrm5778tbmd590gjbfcad0gkingress.example.com",
            "x.7fcrm5778tbmd590gjbfcad0gk.ingress.example.com",
            "zfcrm5778tbmd590gjbfcad0gk.ingress.example.com",
        ] {
            assert!(!looks_generated(host, "ingress.example.com"), "{host}");
        }
    }
}
