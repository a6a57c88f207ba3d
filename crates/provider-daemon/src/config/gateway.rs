//! Where tenants connect, and with which certificates they are met.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::reader::{Reader, Wrong, hostname, socket};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    pub rest: SocketAddr,
    pub grpc: SocketAddr,
    /// Name at which tenants reach the provider.
    pub public_hostname: Option<String>,
    /// The certificate of an authority, besides the own one that is always there.
    pub certificate: Option<Certificate>,
    /// File with the token that metrics on the REST port may be read with.
    pub metrics_token: Option<PathBuf>,
}

/// Where the certificate of an authority comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// Two PEM files, which others renew.
    Files {
        /// The certificate, with those that signed it.
        certificate: PathBuf,
        key: PathBuf,
    },
    Issuer(Box<Issuer>),
}

/// How a certificate is obtained.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Issuer {{ domain: {:?}, directory_url: {:?}, storage: {:?}, .. }}", self.domain, self.directory_url, self.storage)]
pub struct Issuer {
    pub domain: String,
    /// Whom the authority writes to.
    pub email: String,
    pub directory_url: String,
    /// Where accounts and certificates are kept.
    pub storage: PathBuf,
    /// Port for http-01.
    pub http_port: Option<u16>,
    /// Port for tls-alpn-01.
    pub tls_port: Option<u16>,
    /// The authority's own root, where browsers do not have it.
    pub root: Option<PathBuf>,
    /// Account at the authority and its key, where it wants one.
    pub external_account: Option<(String, String)>,
}

pub(super) fn read(reader: &mut Reader<'_>, home: Option<&Path>) -> Option<Gateway> {
    let rest = reader.parsed("gateway-listen-address", socket);
    let grpc = reader.parsed("gateway-grpc-listen-address", socket);
    if let (Some(rest), Some(grpc)) = (rest, grpc)
        && rest == grpc
        && rest.port() != 0
    {
        let what = "it is the address of REST as well";
        reader.wrong("gateway-grpc-listen-address", Wrong::new(what, "give each its own port"));
    }
    let public_hostname = reader.optional("cluster-public-hostname", hostname);
    let issuer = issuer(reader, public_hostname.as_deref(), home);
    let files = files(reader);
    let certificate = match reader.switch("cert-issuer-enabled") {
        true => Some(Certificate::Issuer(Box::new(issuer?))),
        false => files,
    };
    let metrics_token = reader.some("metrics-token-file").map(PathBuf::from);
    Some(Gateway { rest: rest?, grpc: grpc?, public_hostname, certificate, metrics_token })
}

fn files(reader: &mut Reader<'_>) -> Option<Certificate> {
    match (reader.some("gateway-tls-cert"), reader.some("gateway-tls-key")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            if reader.text("cert-issuer-enabled") == "true" {
                let text = "not used, because --cert-issuer-enabled gets another certificate";
                reader.note("gateway-tls-cert", text);
            }
            Some(Certificate::Files { certificate: certificate.into(), key: key.into() })
        }
        (certificate, _) => {
            let (here, other) = match certificate {
                Some(_) => ("gateway-tls-key", "a certificate"),
                None => ("gateway-tls-cert", "a key"),
            };
            let what = format!("{other} is given without the other half");
            reader.wrong(here, Wrong::new(what, "give both files, or none"));
            None
        }
    }
}

/// What is wrong with the issuer is said even where it is off, except for what is only missing.
fn issuer(reader: &mut Reader<'_>, domain: Option<&str>, home: Option<&Path>) -> Option<Issuer> {
    let port = |text: &str| match text.parse::<u16>() {
        Ok(port) => Ok(Some(port).filter(|port| *port > 0)),
        Err(_) => Err(Wrong::new(format!("{text:?} is not a port"), "give 0 or 1 to 65535")),
    };
    let http_port = reader.parsed("cert-issuer-http-challenge-port", port);
    let tls_port = reader.parsed("cert-issuer-tls-challenge-port", port);
    let dns = reader.each("cert-issuer-dns-providers", |text| match text {
        "cf" | "gcloud" => Ok(()),
        _ => {
            let what = format!("cert issuer: invalid config: invalid dns provider {text}");
            Err(Wrong::new(what, "give cf for Cloudflare or gcloud for Google Cloud"))
        }
    });
    if !reader.switch("cert-issuer-enabled") {
        return None;
    }
    for (name, needed) in [
        ("cert-issuer-email", "an address to which the authority can write"),
        ("cert-issuer-ca-dir-url", "the URL of the authority's directory"),
        ("cluster-public-hostname", "the name to get a certificate for"),
    ] {
        if reader.some(name).is_none() {
            let what = "cert issuer: invalid config: it is missing";
            reader.wrong(name, Wrong::new(what, format!("give {needed}")));
        }
    }
    let (http_port, tls_port) = (http_port?, tls_port?);
    if !dns.is_empty() {
        let text = "not used: names are shown to be ours by http-01 or tls-alpn-01, not by dns-01";
        reader.note("cert-issuer-dns-providers", text);
    }
    if http_port.is_none() && tls_port.is_none() {
        let text = "no certificate will be issued, because there is no way to show that the name \
                    is ours: give a port for http-01 or tls-alpn-01";
        reader.note("cert-issuer-enabled", text);
    }
    let kid = reader.some("cert-issuer-kid");
    let hmac = reader.some("cert-issuer-hmac");
    if kid.is_some() != hmac.is_some() {
        let (here, what) = match kid {
            Some(_) => ("cert-issuer-hmac", "an account is given without its key"),
            None => ("cert-issuer-kid", "a key is given without its account"),
        };
        reader.wrong(here, Wrong::new(what, "give both, or none"));
    }
    let storage = reader.some("cert-issuer-storage-dir").map(PathBuf::from);
    Some(Issuer {
        domain: domain?.to_owned(),
        email: reader.text("cert-issuer-email"),
        directory_url: reader.text("cert-issuer-ca-dir-url"),
        storage: storage.or_else(|| Some(home?.join(".certissuer")))?,
        http_port,
        tls_port,
        root: reader.some("cert-issuer-ca-root").map(PathBuf::from),
        external_account: kid.zip(hmac),
    })
}
