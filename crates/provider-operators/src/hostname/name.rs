//! Which hostnames are served at all.
//!
//! A name becomes the name of an object, a rule of an HTTP server and, with some controllers, a line
//! of its configuration. So it has to be a plain DNS name, whoever wrote the `ProviderHost`.
//!
//! `*.example.com` is every name under example.com that nobody has by itself. Manifests cannot ask
//! for it, and no object of Kubernetes is called so; whoever operates the cluster gives it to a lease
//! by a `ProviderHost` of another name. Its route is called `xx--wildcard.example.com`: no name in
//! DNS has `--` in that place but those that begin with `xn--`.

use std::net::IpAddr;

use akash_types::hostname::{BlockedBy, BlockedHostnames, MAX_LABEL, MAX_LENGTH, is_label};

/// What a route has in its name where the hostname has `*`.
const STAR: &str = "xx--wildcard";

/// Why a hostname is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("the hostname is empty: name one")]
    Empty,
    #[error("the hostname has {length} characters: at most 253 are allowed")]
    TooLong { length: usize },
    #[error("{host:?} is an IP address: a name is needed")]
    Address { host: String },
    #[error("{host:?} has * in another place than for its whole first part: name each hostname")]
    Pattern { host: String },
    #[error("{host:?} has an empty part: two dots in a row, or one at either end")]
    EmptyLabel { host: String },
    #[error("{label:?} is longer than the 63 characters that a part of a hostname may have")]
    LongLabel { label: String },
    #[error(
        "{label:?} is no part of a hostname: it takes a-z, 0-9 and -, not at either end; other \
         letters are written in their xn-- form"
    )]
    Label { label: String },
    #[error("{host:?} begins with what routes of patterns begin with: take another hostname")]
    Reserved { host: String },
    #[error("{host:?} is blocked by this provider: take another hostname")]
    Blocked { host: String, by: BlockedBy },
}

pub fn check(host: &str, blocked: &BlockedHostnames) -> Result<(), NameError> {
    if host.is_empty() {
        return Err(NameError::Empty);
    }
    let length = host.chars().count();
    if length > MAX_LENGTH {
        return Err(NameError::TooLong { length });
    }
    if host.parse::<IpAddr>().is_ok() {
        return Err(NameError::Address { host: host.to_owned() });
    }
    let domain = under(host);
    let plain = domain.unwrap_or(host);
    if plain.contains('*') {
        return Err(NameError::Pattern { host: host.to_owned() });
    }
    if host.split('.').next() == Some(STAR) {
        return Err(NameError::Reserved { host: host.to_owned() });
    }
    for label in plain.split('.') {
        if label.is_empty() {
            return Err(NameError::EmptyLabel { host: host.to_owned() });
        }
        if label.chars().count() > MAX_LABEL {
            return Err(NameError::LongLabel { label: label.to_owned() });
        }
        if !is_label(label) {
            return Err(NameError::Label { label: label.to_owned() });
        }
    }
    let within = || domain.and_then(|domain| blocked.blocks_within(domain));
    match blocked.blocks(host).or_else(within) {
        Some(by) => Err(NameError::Blocked { host: host.to_owned(), by }),
        None => Ok(()),
    }
}

/// The domain all of whose names a pattern is; `None` for a plain name.
pub fn under(host: &str) -> Option<&str> {
    host.strip_prefix("*.")
}

pub fn covers(pattern: &str, host: &str) -> bool {
    let rest = under(pattern).and_then(|domain| host.strip_suffix(domain));
    pattern != host && rest.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

pub fn route_of(host: &str) -> String {
    under(host).map_or_else(|| host.to_owned(), |domain| format!("{STAR}.{domain}"))
}

pub fn host_of(route: &str) -> String {
    let domain = route.strip_prefix(STAR).and_then(|rest| rest.strip_prefix('.'));
    domain.map_or_else(|| route.to_owned(), |domain| format!("*.{domain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(host: &str) -> Option<String> {
        let blocked =
            BlockedHostnames::new(["mine.example.com", ".evil.example", "own.shop.example"]);
        check(host, &blocked).err().map(|error| error.to_string())
    }

    #[test]
    fn plain_names_are_served() {
        let long = format!("{}.example.com", "a".repeat(63));
        for host in ["example.com", "a.b-c.example", "xn--bcher-kva.example", "intranet", &long] {
            assert_eq!(why(host), None, "{host}");
            assert_eq!(route_of(host), host);
            assert_eq!(host_of(host), host);
        }
    }

    #[test]
    fn a_pattern_is_all_of_a_domain_and_its_route_has_a_name_that_nobody_can_ask_for() {
        assert_eq!(why("*.apps.example.com"), None);
        assert_eq!(route_of("*.apps.example.com"), "xx--wildcard.apps.example.com");
        assert_eq!(host_of("xx--wildcard.apps.example.com"), "*.apps.example.com");
        for (pattern, host, covered) in [
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "*.b.example.com", true),
            ("*.example.com", "*.example.com", false),
            ("*.example.com", "example.com", false),
            ("*.example.com", "anexample.com", false),
            ("a.example.com", "b.a.example.com", false),
        ] {
            assert_eq!(covers(pattern, host), covered, "{pattern} and {host}");
        }
    }

    #[test]
    fn hostile_names_are_refused_with_the_reason() {
        let (long, label) = (["abcdefgh."; 30].concat() + "com", "a".repeat(64));
        for (host, words) in [
            ("", "empty"),
            (long.as_str(), "273 characters"),
            (label.as_str(), "63 characters"),
            ("a..example.com", "empty part"),
            (".example.com", "empty part"),
            ("example.com.", "empty part"),
            ("..", "empty part"),
            ("../../etc", "empty part"),
            ("*", "place"),
            ("a.*.example.com", "place"),
            ("*.*.example.com", "place"),
            ("*a.example.com", "place"),
            ("*.", "empty part"),
            ("*.-a.example", "a-z"),
            ("*.evil.example", "blocked"),
            ("*.example", "blocked"),
            ("*.shop.example", "blocked"),
            ("xx--wildcard.example.com", "patterns"),
            ("127.0.0.1", "address"),
            ("::1", "address"),
            ("bücher.example", "xn--"),
            ("еxample.com", "xn--"),
            ("Example.com", "a-z"),
            ("a_b.example", "a-z"),
            ("-a.example", "a-z"),
            ("a-.example", "a-z"),
            ("a;return 200;.example", "a-z"),
            ("a b.example", "a-z"),
            ("a\nb.example", "a-z"),
            ("mine.example.com", "blocked"),
            ("localhost", "blocked"),
            ("web.lease.svc.cluster.local", "blocked"),
            ("x.evil.example", "blocked"),
        ] {
            let said = why(host).unwrap_or_default();
            assert!(said.contains(words), "{host:?}: {said}");
        }
    }
}
