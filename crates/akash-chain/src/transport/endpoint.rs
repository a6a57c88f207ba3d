//! Where a node listens: the URL an operator writes.

use std::fmt;
use std::time::Duration;

use akash_net::{Connector, Outbound, Target};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::header::HeaderValue;
use http::uri::{Authority, PathAndQuery, Scheme};
use percent_encoding::percent_decode_str;

/// Address of a node's port.
///
/// User info of the URL (`https://user:password@…`) becomes HTTP basic authentication and is
/// shown nowhere.
#[derive(Clone, derive_more::Debug)]
#[debug("Endpoint({self})")]
pub struct Endpoint {
    uri: Uri,
    authorization: Option<HeaderValue>,
    outbound: Outbound,
}

impl Endpoint {
    /// A CometBFT RPC address: `http`, `https` or `tcp` (which is http), or `host:port` alone.
    pub fn rpc(text: &str) -> Result<Self, EndpointError> {
        let trimmed = text.trim();
        match trimmed.contains("://") {
            true => Self::parse(trimmed, &["http", "https", "tcp"]),
            false => Self::parse(&format!("tcp://{trimmed}"), &["tcp"]),
        }
    }

    /// A gRPC address: `http` (in the clear) or `https`. One of them must be written: whether
    /// `host:port` alone means TLS differs between tools.
    pub fn grpc(text: &str) -> Result<Self, EndpointError> {
        Self::parse(text.trim(), &["http", "https"])
    }

    fn parse(text: &str, schemes: &'static [&'static str]) -> Result<Self, EndpointError> {
        let wrong = |reason: &dyn fmt::Display| EndpointError::Url {
            url: without_user_info(text),
            reason: reason.to_string(),
        };
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
        if !schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            let (url, schemes) = (without_user_info(text), schemes);
            return Err(EndpointError::Scheme { url, schemes });
        }
        let written: Uri = text.parse().map_err(|error| wrong(&error))?;
        let authority = written.authority().ok_or_else(|| wrong(&"it names no host"))?;
        let (user, address) =
            authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
        let address: Authority = address.parse().map_err(|error| wrong(&error))?;
        if address.host().is_empty() {
            return Err(wrong(&"it names no host"));
        }
        if address.as_str() != address.host() && address.port_u16().is_none() {
            return Err(wrong(&"its port is not a number from 0 to 65535"));
        }
        let mut parts = http::uri::Parts::default();
        let tls = scheme.eq_ignore_ascii_case("https");
        parts.scheme = Some(if tls { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(address);
        let path = written.path_and_query().cloned();
        parts.path_and_query = Some(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
        let uri = Uri::from_parts(parts).map_err(|error| wrong(&error))?;
        let authorization = authorization(user).map_err(|error| wrong(&error))?;
        Ok(Self { uri, authorization, outbound: Outbound::default() })
    }

    /// The same, reached in this way: through its proxies, with its trust and certificates.
    pub fn through(mut self, outbound: Outbound) -> Self {
        self.outbound = outbound;
        self
    }

    /// How it is reached.
    pub const fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    /// Makes connections to it.
    pub(super) fn connector(&self, dial: Duration) -> Connector {
        let target =
            Target { host: self.host().to_owned(), port: self.port(), is_tls: self.is_tls() };
        Connector::new(self.outbound.clone(), target, dial)
    }

    /// Whether it is reached by TLS.
    pub fn is_tls(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// The host's name or address; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// The port, 443 for https and 80 otherwise unless the URL names one.
    pub fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(if self.is_tls() { 443 } else { 80 })
    }

    /// The URL without user info.
    pub const fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The URL of something below this one; a query stays behind it.
    pub(super) fn below(&self, path: &str) -> Result<Uri, http::Error> {
        let base = self.uri.path().trim_end_matches('/');
        let query = self.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("{base}{path}{query}"))?);
        Ok(Uri::from_parts(parts)?)
    }

    /// Value of the `authorization` header, if the URL had user info.
    pub const fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }
}

/// HTTP basic authentication from the user info of a URL.
fn authorization(user_info: &str) -> Result<Option<HeaderValue>, http::header::InvalidHeaderValue> {
    if user_info.is_empty() {
        return Ok(None);
    }
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let decode = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let credentials = [decode(user), vec![b':'], decode(password)].concat();
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(credentials)))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// The URL as it may be shown.
fn without_user_info(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let separator = if url.contains("://") { "://" } else { "" };
    format!("{scheme}{separator}{host}{tail}")
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.uri.to_string().trim_end_matches('/'))
    }
}

/// Why a text is not the address of a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Not a scheme that leads to a node.
    #[error("node address {url:?} must start with one of: {}", .schemes.join("://, ") + "://")]
    Scheme {
        /// The text, without user info.
        url: String,
        /// What it may start with.
        schemes: &'static [&'static str],
    },
    /// Not a URL.
    #[error("node address {url:?} is not a valid URL: {reason}")]
    Url {
        /// The text, without user info.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_cometbft_reads_them() {
        for (text, uri, port, tls) in [
            ("http://localhost:26657", "http://localhost:26657/", 26657, false),
            ("tcp://10.0.0.1:26657", "http://10.0.0.1:26657/", 26657, false),
            ("tcp://node", "http://node/", 80, false),
            ("node:26657", "http://node:26657/", 26657, false),
            ("HTTPS://rpc.akashnet.net", "https://rpc.akashnet.net/", 443, true),
            ("https://rpc.akashnet.net:443/", "https://rpc.akashnet.net:443/", 443, true),
            ("http://[::1]:26657", "http://[::1]:26657/", 26657, false),
            ("http://[::1]", "http://[::1]/", 80, false),
            (" https://host/rpc/akash?key=1 ", "https://host/rpc/akash?key=1", 443, true),
        ] {
            let endpoint = Endpoint::rpc(text).unwrap();
            assert_eq!(endpoint.uri().to_string(), uri, "{text}");
            assert_eq!((endpoint.port(), endpoint.is_tls()), (port, tls), "{text}");
            assert_eq!(endpoint.authorization(), None, "{text}");
        }
        assert_eq!(Endpoint::rpc("http://node:1").unwrap().to_string(), "http://node:1");
    }

    #[test]
    fn user_info_becomes_basic_authentication_and_is_not_shown() {
        let endpoint = Endpoint::rpc("https://us%40er:p%3Ass@node:1/path").unwrap();
        assert_eq!(endpoint.authorization().unwrap(), "Basic dXNAZXI6cDpzcw==");
        assert_eq!(endpoint.uri().to_string(), "https://node:1/path");
        assert!(!format!("{endpoint:?} {:?}", endpoint.authorization()).contains("dXNA"));
        let error = Endpoint::grpc("ftp://us@er:secret@node/a@b").unwrap_err();
        assert_eq!(
            error.to_string(),
            "node address \"ftp://node/a@b\" must start with one of: http://, https://"
        );
        let error = Endpoint::rpc("http://user:secret@no de/").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn what_is_below_keeps_path_and_query() {
        for (text, uri) in [
            ("http://node:1", "http://node:1/websocket"),
            ("https://node/rpc/akash/", "https://node/rpc/akash/websocket"),
            ("https://node/rpc?key=1", "https://node/rpc/websocket?key=1"),
        ] {
            let below = Endpoint::rpc(text).unwrap().below("/websocket").unwrap();
            assert_eq!(below.to_string(), uri, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "http://",
            "http:///path",
            "unix:///run/node.sock",
            "ws://node",
            "://",
            "http://a b",
            "http://node:port",
            "http://node:99999",
            "http://user@",
            "http://:26657",
        ] {
            assert!(Endpoint::rpc(text).is_err(), "{text:?}");
        }
        for text in ["node:9090", "tcp://node:9090", ""] {
            assert!(Endpoint::grpc(text).is_err(), "{text:?}");
        }
    }
}
