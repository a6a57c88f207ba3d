//! Which hosts are reached without a proxy: what `NO_PROXY` says, read as Go programs read it.

use std::net::IpAddr;

use ipnet::IpNet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NoProxy {
    all: bool,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    hosts: Hosts,
    /// Only this port, if one is named.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    /// `10.0.0.0/8`, or one address as a network of its full length.
    Network(IpNet),
    /// `example.com`: the name itself and all below it.
    Domain(String),
    /// `.example.com` or `*.example.com`: only what is below it.
    Below(String),
}

impl NoProxy {
    pub(crate) fn parse(text: &str) -> Self {
        let mut list = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item {
                "*" => list.all = true,
                item => list.entries.extend(Entry::parse(item)),
            }
        }
        list
    }

    /// Whether `host`, a name or an address without brackets, is in the list.
    pub(crate) fn has(&self, host: &str, port: u16) -> bool {
        let of_port = |entry: &&Entry| entry.port.is_none_or(|wanted| wanted == port);
        self.all || self.entries.iter().filter(of_port).any(|entry| entry.hosts.have(host))
    }
}

impl Entry {
    /// `None` for what names nothing, such as a network of a length that no address has.
    fn parse(item: &str) -> Option<Self> {
        if item.contains('/') {
            return Some(Self { hosts: Hosts::Network(item.parse().ok()?), port: None });
        }
        let (host, port) = split_port(item)?;
        let hosts = match host.parse::<IpAddr>() {
            Ok(address) => Hosts::Network(IpNet::from(address)),
            Err(_) => {
                let host = host.to_ascii_lowercase();
                match host.strip_prefix("*.").or_else(|| host.strip_prefix('.')) {
                    Some(domain) => Hosts::Below(domain.to_owned()),
                    None => Hosts::Domain(host),
                }
            }
        };
        Some(Self { hosts, port })
    }
}

/// Host and port of `host`, `host:port`, `[::1]:port` or `::1`.
fn split_port(item: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = item.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            None => Some((host, None)),
            Some(port) => Some((host, Some(port.parse().ok()?))),
        };
    }
    match item.split_once(':') {
        // More than one colon: an address.
        Some((_, rest)) if rest.contains(':') => Some((item, None)),
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((item, None)),
    }
}

impl Hosts {
    fn have(&self, host: &str) -> bool {
        let is_below = |domain: &str| {
            let rest = host.len().checked_sub(domain.len());
            rest.and_then(|at| host.split_at_checked(at)).is_some_and(|(before, end)| {
                before.len() > 1 && before.ends_with('.') && end.eq_ignore_ascii_case(domain)
            })
        };
        match self {
            Self::Network(network) => {
                let address = host.parse::<IpAddr>();
                address.is_ok_and(|address| network.contains(&address.to_canonical()))
            }
            Self::Domain(domain) => host.eq_ignore_ascii_case(domain) || is_below(domain),
            Self::Below(domain) => is_below(domain),
        }
    }
}
