//! Hostnames that the operator keeps for itself.

use std::collections::BTreeSet;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
