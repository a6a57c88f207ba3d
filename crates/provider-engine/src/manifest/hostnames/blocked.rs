//! Hostnames that the operator keeps for itself.

use std::collections::BTreeSet;

/// What the operator does not let tenants use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedHostnames {
    names: BTreeSet<String>,
    /// Each with its leading dot.
    domains: BTreeSet<String>,
}

/// What of the list blocks a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedBy {
    /// The name itself.
    Name,
    /// A domain that it is, or is in.
    Domain,
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

    /// Why `host`, which is in lower case, is blocked, if it is.
    #[must_use]
    pub fn blocks(&self, host: &str) -> Option<BlockedBy> {
        let within = |domain: &String| {
            host.ends_with(domain.as_str()) || domain.strip_prefix('.') == Some(host)
        };
        if self.domains.iter().any(within) {
            Some(BlockedBy::Domain)
        } else {
            self.names.contains(host).then_some(BlockedBy::Name)
        }
    }

    /// What of the list lies under `domain`, if anything: whoever had all names under it would have
    /// that one too.
    #[must_use]
    pub fn blocks_within(&self, domain: &str) -> Option<BlockedBy> {
        let lies_under =
            |name: &String| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        if self.domains.iter().any(lies_under) {
            Some(BlockedBy::Domain)
        } else {
            self.names.iter().any(lies_under).then_some(BlockedBy::Name)
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
}
