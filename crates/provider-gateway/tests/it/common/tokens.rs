//! Accounts of the recorded chain, and what they prove who they are with.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{Certificate, KeyPair};
use akash_keys::mnemonic::Mnemonic;
use akash_keys::{HdPath, PublicKey, SecretKey};
use akash_types::Address;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use provider_api::jwt::{
    Access, Algorithm, Claims, DeploymentGrant, Permission, ProviderAccess, Scope, issue,
};
use provider_gateway::auth::{
    Authenticator, Authorizer, Certificates, KeyAnswer, LookupFailure, NoKey, PublicKeys,
};
use provider_gateway::port::Provider;

use super::{PROVIDER, fixture};

/// The key of an account of the recorded chain.
pub(crate) fn account(name: &str) -> SecretKey {
    let known: serde_json::Value =
        serde_json::from_str(&fixture("chain/throwaway-keys.json")).unwrap();
    let words = Mnemonic::parse(known[name]["mnemonic"].as_str().unwrap()).unwrap();
    words.derive("", &HdPath::default()).unwrap()
}

/// A token that is valid now.
pub(crate) fn token(key: &SecretKey, access: Access) -> String {
    token_from(key, access, SystemTime::now())
}

fn token_from(key: &SecretKey, access: Access, from: SystemTime) -> String {
    let claims = Claims::new(key.public_key().address(), access, from, Claims::LIFETIME);
    issue(&claims, Algorithm::Es256k, key).unwrap()
}

/// Accounts, and the certificates that are published and not revoked.
pub(crate) struct Chain {
    keys: Vec<PublicKey>,
    published: Mutex<Vec<Vec<u8>>>,
}

impl Chain {
    pub(crate) fn recorded() -> Self {
        let keys = ["tenant1", "main", "provider"].map(|name| account(name).public_key());
        Self { keys: keys.into(), published: Mutex::default() }
    }

    pub(crate) fn publish(&self, pair: &KeyPair) {
        self.published.lock().unwrap().push(pair.certificate().to_pem().into_bytes());
    }

    pub(crate) fn revoke(&self, pair: &KeyPair) {
        let pem = pair.certificate().to_pem().into_bytes();
        self.published.lock().unwrap().retain(|known| *known != pem);
    }
}

impl PublicKeys for Chain {
    fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
        let found = self.keys.iter().find(|key| key.address() == account);
        let answer = found.map_or(KeyAnswer::None(NoKey::NoAccount), |key| KeyAnswer::Key(*key));
        Box::pin(async move { Ok(answer) })
    }
}

impl Certificates for Chain {
    fn valid_certificate<'a>(
        &'a self,
        owner: Address,
        serial: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        let published = self.published.lock().unwrap();
        let found = published.iter().find(|pem| {
            let known = Certificate::from_pem(std::str::from_utf8(pem).unwrap()).unwrap();
            known.owner() == Ok(owner) && known.serial() == serial
        });
        let found = found.cloned();
        Box::pin(async move { Ok(found) })
    }
}

/// The authenticator of a gateway whose strangers are not told apart from tenants.
pub(crate) fn authenticator(chain: &Arc<Chain>) -> Arc<Authenticator> {
    Arc::new(Authenticator::new(chain.clone(), chain.clone(), Arc::new(|_| false)))
}

pub(crate) fn authorizer(
    authenticator: Arc<Authenticator>,
    provider: &impl Provider,
) -> Authorizer {
    Authorizer::new(PROVIDER.parse().unwrap(), authenticator, provider.changes())
}

/// Signs the tokens that requests name as the recordings do: `Bearer full` becomes a token of the
/// tenant that is valid now. Other words stay as they are.
#[derive(Clone)]
pub(crate) struct Tokens(Arc<[(&'static str, String)]>);

impl Tokens {
    pub(crate) fn recorded() -> Self {
        let (tenant, main) = (account("tenant1"), account("main"));
        let scoped = |scope| token(&tenant, Access::Scoped(vec![scope]));
        let web = |dseq| DeploymentGrant {
            dseq,
            gseq: None,
            oseq: None,
            scope: vec![Scope::Status, Scope::Logs, Scope::Shell],
            services: vec!["web".to_owned()],
        };
        let at_provider = Permission {
            provider: PROVIDER.parse().unwrap(),
            access: ProviderAccess::Granular(vec![web(9001), web(9002)]),
        };
        let earlier = SystemTime::now() - Duration::from_hours(1);
        let full = token(&tenant, Access::Full);
        Self(Arc::new([
            ("full", full.clone()),
            ("good", full),
            ("other", token(&main, Access::Full)),
            ("main", token(&main, Access::Full)),
            ("scoped-status", scoped(Scope::Status)),
            ("scoped-logs", scoped(Scope::Logs)),
            ("granular-svc", token(&tenant, Access::Granular(vec![at_provider]))),
            ("expired", token_from(&tenant, Access::Full, earlier)),
        ]))
    }

    pub(crate) fn sign(&self, headers: &mut HeaderMap) {
        let Some(header) = headers.get_mut(AUTHORIZATION) else { return };
        let name = header.to_str().unwrap().strip_prefix("Bearer ").unwrap_or_default();
        if let Some((_, token)) = self.0.iter().find(|(known, _)| *known == name) {
            *header = format!("Bearer {token}").parse().unwrap();
        }
    }
}
