//! Where Redis is: a URL, parsed.
//!
//! ```text
//! redis://[[user]:password@]host[:port][/db]
//! redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/master[/db]
//! ```
//!
//! With `rediss` instead of `redis` the connection is TLS. The query may have `ca`, `cert` and
//! `key` (PEM files), `sentinel_user` and `sentinel_password`.

use std::fmt;
use std::str::FromStr;

use akash_net::{TlsError, TlsFiles, Trust};
use percent_encoding::percent_decode_str;

/// Where Redis is and how to log in. Does not show passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(super) servers: Servers,
    pub(super) login: Login,
    pub(super) db: i64,
    pub(super) tls: Option<TlsFiles>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Servers {
    One(Address),
    Sentinels { sentinels: Vec<Address>, master: String, login: Login },
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

/// What is wrong with the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("a Redis URL begins with redis://, rediss://, redis+sentinel:// or rediss+sentinel://")]
    Scheme,
    #[error("`{0}` is not a host with an optional port, such as 10.0.0.7:6379")]
    Address(String),
    #[error("several hosts need redis+sentinel:// and the master's name as path")]
    SeveralServers,
    #[error("the master's name is missing: redis+sentinel://host:26379/mymaster")]
    Master,
    #[error("`{0}` is not the number of a database: expected 0 or higher")]
    Db(String),
    #[error(
        "`{0}` is not an option: ca, cert and key go with rediss, \
         sentinel_user and sentinel_password with +sentinel"
    )]
    Option(String),
    #[error("cert and key belong together: give both or none")]
    Identity,
    #[error("a part of the URL is not UTF-8 once its %-escapes are decoded")]
    Encoding,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(url: &str) -> Result<Self, TargetError> {
        let (scheme, rest) = url.split_once("://").ok_or(TargetError::Scheme)?;
        let (tls, sentinel) = match scheme {
            "redis" => (false, false),
            "rediss" => (true, false),
            "redis+sentinel" => (false, true),
            "rediss+sentinel" => (true, true),
            _ => return Err(TargetError::Scheme),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // Passwords may hold a slash and an at, so the login ends at the last at.
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (parse_login(login)?, rest),
            None => (Login::default(), rest),
        };
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let options = Options::parse(query, tls, sentinel)?;
        let (servers, db) = if sentinel {
            let addresses = hosts.split(',').map(|host| parse_address(host, 26379));
            let (master, db) = path.split_once('/').unwrap_or((path, ""));
            let master = Some(decode(master)?).filter(|name| !name.is_empty());
            let servers = Servers::Sentinels {
                sentinels: addresses.collect::<Result<_, _>>()?,
                master: master.ok_or(TargetError::Master)?,
                login: options.sentinel_login,
            };
            (servers, db)
        } else if hosts.contains(',') {
            return Err(TargetError::SeveralServers);
        } else {
            (Servers::One(parse_address(hosts, 6379)?), path)
        };
        Ok(Self { servers, login, db: parse_db(db)?, tls: options.tls })
    }
}

struct Options {
    tls: Option<TlsFiles>,
    sentinel_login: Login,
}

impl Options {
    fn parse(query: &str, tls: bool, sentinel: bool) -> Result<Self, TargetError> {
        let (mut ca, mut cert, mut key) = (None, None, None);
        let mut sentinel_login = Login::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            match name {
                "ca" if tls => ca = Some(value.into()),
                "cert" if tls => cert = Some(value.into()),
                "key" if tls => key = Some(value.into()),
                "sentinel_user" if sentinel => sentinel_login.user = Some(value),
                "sentinel_password" if sentinel => sentinel_login.password = Some(value),
                _ => return Err(TargetError::Option(name.to_owned())),
            }
        }
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err(TargetError::Identity),
        };
        Ok(Self { tls: tls.then_some(TlsFiles { ca, identity }), sentinel_login })
    }
}

fn parse_login(text: &str) -> Result<Login, TargetError> {
    let some = |text: &str| Ok(Some(decode(text)?).filter(|text| !text.is_empty()));
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    Ok(Login { user: some(user)?, password: some(password)? })
}

fn parse_address(text: &str, usual_port: u16) -> Result<Address, TargetError> {
    let wrong = || TargetError::Address(text.to_owned());
    // [::1]:6379, or without the port
    let (host, port) = match text.strip_prefix('[') {
        Some(v6) => {
            let (host, rest) = v6.split_once(']').ok_or_else(wrong)?;
            host.parse::<std::net::Ipv6Addr>().map_err(|_| wrong())?;
            (
                host,
                if rest.is_empty() {
                    None
                } else {
                    Some(rest.strip_prefix(':').ok_or_else(wrong)?)
                },
            )
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map_or(Ok(usual_port), |port| port.parse().map_err(|_| wrong()))?;
    if host.is_empty() || port == 0 {
        return Err(wrong());
    }
    Ok(Address { host: host.to_owned(), port })
}

fn parse_db(text: &str) -> Result<i64, TargetError> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse::<u32>().map(i64::from).map_err(|_| TargetError::Db(text.to_owned()))
}

fn decode(text: &str) -> Result<String, TargetError> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| TargetError::Encoding)?;
    Ok(decoded.into_owned())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = self.password.as_ref().map(|_| "(secret)");
        f.debug_struct("Login").field("user", &self.user).field("password", &password).finish()
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { servers, login, db, tls } = self;
        f.debug_struct("Target")
            .field("servers", servers)
            .field("login", login)
            .field("db", db)
            .field("tls", tls)
            .finish()
    }
}

impl Target {
    /// Whether the files it names can be used. They are read again at every connect, so that
    /// renewed ones are taken.
    pub fn check(&self) -> Result<(), TlsError> {
        self.tls.as_ref().map_or(Ok(()), |files| files.configure(&Trust::default()).map(drop))
    }
}

#[cfg(test)]
mod tests;
