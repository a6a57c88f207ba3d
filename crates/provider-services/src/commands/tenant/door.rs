//! The way to a provider: where it is, how it is known, and how it knows us.

use std::path::Path;
use std::time::{Duration, SystemTime};

use akash_chain::query::CertificateFilter;
use akash_keys::SecretKey;
use akash_keys::certificate::{Certificate, KeyFile, KeyFilePassword, KeyPair};
use akash_net::Trust;
use akash_types::{Address, CertificateState};
use anyhow::{Context, bail};
use provider_api::client::{Client, ClientCertificate, Credentials, ServerTrust};
use provider_api::jwt::{Access, Algorithm, Claims, issue};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::AuthType;
use crate::chain::Network;

/// For how long a token is good. A new one is made for each client.
const TOKEN_LIFE: Duration = Duration::from_mins(15);

/// What is needed to get in.
#[derive(Debug)]
pub(crate) struct Door<'a> {
    /// The node to ask; `None` to ask nobody.
    pub(crate) network: Option<&'a Network>,
    /// Where the provider is, if that is not to be looked up.
    pub(crate) url: Option<&'a str>,
    /// Public authorities that may vouch for the provider.
    pub(crate) authorities: &'a Trust,
}

/// By what a tenant is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Identity<'a> {
    /// By nothing.
    Nobody,
    /// By its key, or by the certificate that the key opens.
    Tenant { secret: &'a SecretKey, home: &'a Path, auth: AuthType },
}

impl Door<'_> {
    pub(crate) async fn client(
        &self,
        provider: Address,
        identity: Identity<'_>,
    ) -> anyhow::Result<Client> {
        let url = match (self.url, self.network) {
            (Some(url), _) => url.to_owned(),
            (None, Some(network)) => registered(network, provider).await?,
            (None, None) => bail!("--offline: give --provider-url, as nobody is asked for it"),
        };
        let credentials = match identity {
            Identity::Nobody => Credentials::None,
            Identity::Tenant { secret, auth: AuthType::Jwt, .. } => {
                Credentials::Bearer(token(secret, SystemTime::now())?)
            }
            Identity::Tenant { secret, home, auth: AuthType::Mtls } => {
                Credentials::Certificate(self.certificate(secret, home).await?)
            }
        };
        let published = match self.network {
            None => Vec::new(),
            Some(network) => published(network, provider).await?,
        };
        let trust = ServerTrust { published, authorities: self.authorities.clone() };
        Ok(Client::new(&url, &trust, credentials)?)
    }

    /// The own certificate, if a provider will take it.
    async fn certificate(
        &self,
        secret: &SecretKey,
        home: &Path,
    ) -> anyhow::Result<ClientCertificate> {
        let owner = secret.public_key().address();
        let make = "make one with `provider-services tx cert generate client` and publish it with \
                    `provider-services tx cert publish client`, or use --auth-type jwt";
        let file = KeyFile::of(home, &owner);
        let pair = file.read(&KeyFilePassword::of(secret));
        let pair = pair.with_context(|| format!("no certificate of {owner}: {make}"))?;
        let certificate = pair.certificate();
        if !is_current(certificate, SystemTime::now()) {
            bail!("the certificate in {} is not valid now: {make}", file.path().display());
        }
        if let Some(network) = self.network {
            let serial = certificate.serial();
            let state = CertificateState::Valid;
            let found = network.query().certificate(owner, serial, state).await?.value;
            if found.is_none() {
                bail!("certificate {serial} of {owner} is not published, or was revoked: {make}");
            }
        }
        client_certificate(&pair)
    }
}

fn client_certificate(pair: &KeyPair) -> anyhow::Result<ClientCertificate> {
    let key = PrivatePkcs8KeyDer::from(pair.key().to_pkcs8_der()?.to_vec());
    Ok(ClientCertificate {
        certificate: CertificateDer::from(pair.certificate().der().to_vec()),
        key: PrivateKeyDer::from(key),
    })
}

async fn registered(network: &Network, provider: Address) -> anyhow::Result<String> {
    let found = network.query().provider(provider).await?.value;
    let found = found.with_context(|| {
        format!("{provider} is not registered as a provider on this chain; check --provider")
    })?;
    Ok(found.host_uri)
}

/// The certificates by which a provider may show itself now.
async fn published(
    network: &Network,
    provider: Address,
) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let filter = CertificateFilter {
        owner: Some(provider),
        state: Some(CertificateState::Valid),
        ..CertificateFilter::default()
    };
    let now = SystemTime::now();
    let found = network.query().certificates(&filter).await?.value.items;
    let parsed = found.iter().filter_map(|published| {
        let certificate = Certificate::from_pem(std::str::from_utf8(&published.certificate).ok()?);
        certificate.ok().filter(|certificate| is_current(certificate, now))
    });
    Ok(parsed.map(|certificate| CertificateDer::from(certificate.der().to_vec())).collect())
}

fn is_current(certificate: &Certificate, now: SystemTime) -> bool {
    (certificate.not_before()..=certificate.not_after()).contains(&now)
}

/// A token for everything of its issuer, as the Go program makes it.
fn token(secret: &SecretKey, now: SystemTime) -> anyhow::Result<String> {
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    let claims = Claims {
        issuer: secret.public_key().address(),
        issued_at: seconds(since_1970),
        not_before: seconds(since_1970),
        expires_at: seconds(since_1970 + TOKEN_LIFE),
        access: Access::Full,
    };
    issue(&claims, Algorithm::Es256k, secret).context("cannot make a token")
}
