//! Which proxy leads to a target.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use ipnet::IpNet;
use percent_encoding::percent_decode_str;

#[derive(Clone, Debug, Default)]
pub struct Proxies {
    https: Option<Proxy>,
    http: Option<Proxy>,
    except: NoProxy,
}

/// A proxy. Its password is shown nowhere.
#[derive(Clone, PartialEq, Eq, derive_more::Display, derive_more::Debug)]
#[debug("Proxy({self})")]
#[display("{}", self.uri.to_string().trim_end_matches('/'))]
pub struct Proxy {
    uri: Uri,
    authorization: Option<HeaderValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Direct,
    /// Connect to the proxy, which opens a tunnel to the target or forwards requests.
    Via(Proxy),
}

/// A variable that names no proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {wrong}")]
pub struct ProxyError {
    /// Name of the environment variable, as it was written.
    pub variable: &'static str,
    pub wrong: String,
}

impl Proxies {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; where one is not set, the same in lower
    /// case.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let either =
            |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, set(name)?)));
        let proxy = |names| {
            let read = |(variable, text): (&'static str, String)| {
                Proxy::parse(&text).map_err(|wrong| ProxyError { variable, wrong })
            };
            either(names).map(read).transpose()
        };
        let except = either(["NO_PROXY", "no_proxy"]);
        Ok(Self {
            https: proxy(["HTTPS_PROXY", "https_proxy"])?,
            http: proxy(["HTTP_PROXY", "http_proxy"])?,
            except: except.map(|(_, text)| NoProxy::parse(&text)).unwrap_or_default(),
        })
    }

    /// The way to a host, which is a name or an address with or without brackets. This machine is
    /// always reached straight, as by Go programs.
    pub fn route(&self, is_tls: bool, host: &str, port: u16) -> Route {
        let proxy = if is_tls { &self.https } else { &self.http };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_here = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        match proxy {
            Some(proxy) if !is_here && !self.except.has(host, port) => Route::Via(proxy.clone()),
            _ => Route::Direct,
        }
    }
}

impl Proxy {
    /// Reads `http://user:password@host:port`; without a scheme it is `http`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(format!(
                "names a proxy by {scheme}://: give http://HOST:PORT, through which TLS is tunneled"
            ));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let wrong = || format!("names no proxy by {host:?}: give http://HOST:PORT");
        let parsed: Uri = format!("http://{host}").parse().map_err(|_| wrong())?;
        let name = parsed.host().filter(|name| !name.is_empty()).ok_or_else(wrong)?;
        let has_port = parsed.authority().is_some_and(|authority| authority.as_str() != name);
        if has_port && parsed.port_u16().is_none() {
            return Err(wrong());
        }
        let port = parsed.port_u16().unwrap_or(80);
        let uri = format!("http://{name}:{port}").parse().map_err(|_| wrong())?;
        Ok(Self { uri, authorization: authorization(user) })
    }

    pub const fn uri(&self) -> &Uri {
        &self.uri
    }

    /// By what we are known there, if by anything.
    pub const fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }
}

fn authorization(user_info: &str) -> Option<HeaderValue> {
    if user_info.is_empty() {
        return None;
    }
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let decode = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let credentials = [decode(user), vec![b':'], decode(password)].concat();
    // Base64 is always a header's value.
    let mut value =
        HeaderValue::try_from(format!("Basic {}", STANDARD.encode(credentials))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        let variables = variables.to_vec();
        Proxies::new(move |name| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn route(variables: &[(&str, &str)], is_tls: bool, host: &str, port: u16) -> String {
        match proxies(variables).unwrap().route(is_tls, host, port) {
            Route::Direct => "direct".to_owned(),
            Route::Via(proxy) => proxy.to_string(),
        }
    }

    #[test]
    fn the_scheme_chooses_the_proxy_and_capitals_come_first() {
        let both = [("HTTPS_PROXY", "http://secure:1"), ("HTTP_PROXY", "plain:2")];
        assert_eq!(route(&both, true, "node", 443), "http://secure:1");
        assert_eq!(route(&both, false, "node", 80), "http://plain:2");
        assert_eq!(route(&both[..1], false, "node", 80), "direct");
        assert_eq!(route(&[], true, "node", 443), "direct");
        let lower = [("https_proxy", "low"), ("HTTPS_PROXY", "")];
        assert_eq!(route(&lower, true, "node", 443), "http://low:80");
        let upper = [("https_proxy", "low"), ("HTTPS_PROXY", "up:3")];
        assert_eq!(route(&upper, true, "node", 443), "http://up:3");
    }

    #[test]
    fn this_machine_is_reached_straight() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]"] {
            assert_eq!(route(&[("HTTPS_PROXY", "p:1")], true, host, 443), "direct", "{host}");
        }
        assert_ne!(route(&[("HTTPS_PROXY", "p:1")], true, "localhost.example", 443), "direct");
    }

    #[test]
    fn no_proxy_has_hosts_domains_addresses_networks_ports_and_everything() {
        for (list, host, port, is_direct) in [
            ("node.example", "node.example", 443, true),
            ("node.example", "a.node.example", 443, true),
            ("node.example", "anode.example", 443, false),
            ("NODE.example", "Node.Example", 443, true),
            (".example", "node.example", 443, true),
            (".example", "example", 443, false),
            ("*.example", "a.b.example", 443, true),
            ("*.example", "example", 443, false),
            ("10.1.2.3", "10.1.2.3", 443, true),
            ("10.1.2.3", "10.1.2.4", 443, false),
            ("10.0.0.0/8", "10.200.1.1", 443, true),
            ("10.0.0.0/8", "11.0.0.1", 443, false),
            ("0.0.0.0/0", "8.8.8.8", 443, true),
            ("0.0.0.0/0", "2001:db8::1", 443, false),
            ("2001:db8::/32", "[2001:db8:1::1]", 443, true),
            ("2001:db8::/32", "2001:db9::1", 443, false),
            ("10.0.0.0/8", "node.example", 443, false),
            ("node.example:8443", "node.example", 8443, true),
            ("node.example:8443", "node.example", 443, false),
            ("10.1.2.3:9090", "10.1.2.3", 9090, true),
            ("10.1.2.3:9090", "10.1.2.3", 443, false),
            ("[2001:db8::1]:9090", "2001:db8::1", 9090, true),
            ("*", "anything", 1, true),
            (" a , , *", "anything", 1, true),
            ("a,b.example,10.0.0.0/8", "x.b.example", 1, true),
            ("10.0.0.0/33,a:b", "10.0.0.1", 1, false),
            ("", "node.example", 443, false),
        ] {
            let variables = [("HTTPS_PROXY", "p:1"), ("no_proxy", list)];
            let found = route(&variables, true, host, port);
            assert_eq!(found == "direct", is_direct, "{list:?} {host}:{port}: {found}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_named_without_its_password() {
        for (text, part) in [
            ("socks5://user:secret@proxy:1080", "socks5://"),
            ("https://user:secret@proxy", "https://"),
            ("http://user:secret@", "names no proxy"),
            ("http://user:secret@pro xy", "names no proxy"),
            ("proxy:port", "names no proxy"),
        ] {
            let error = proxies(&[("HTTPS_PROXY", text)]).unwrap_err().to_string();
            assert!(error.starts_with("HTTPS_PROXY ") && error.contains(part), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let proxy = Proxy::parse("http://us%40er:p%3Ass@proxy:3128/").unwrap();
        assert_eq!(proxy.authorization().unwrap(), "Basic dXNAZXI6cDpzcw==");
        assert_eq!(format!("{proxy:?}"), "Proxy(http://proxy:3128)");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(list in ".{0,60}", proxy in ".{0,60}", host in ".{0,40}") {
            let variables = [("HTTPS_PROXY", proxy.as_str()), ("NO_PROXY", list.as_str())];
            if let Ok(proxies) = proxies(&variables) {
                let _ = proxies.route(true, &host, 443);
            }
        }
    }
}
