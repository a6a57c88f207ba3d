//! Everybody who may ask, each with what they show.

use std::time::{Duration, SystemTime};

use akash_keys::SecretKey;
use akash_keys::certificate::KeyPair;
use provider_api::jwt::{
    Access, Algorithm, Claims, DeploymentGrant, Permission, ProviderAccess, Scope, issue,
};

use crate::common::{OTHER, OWNER, PROVIDER};
use crate::secured::support::{Client, pair, pair_from};
use crate::secured::{Chain, account, token};

/// What somebody shows.
#[derive(Clone)]
pub(crate) struct Shown {
    /// A client that shows the certificate, if there is one.
    pub(crate) tls: Client,
    /// The `Authorization` header.
    pub(crate) header: Option<String>,
}

fn certificate(pair: &KeyPair) -> Shown {
    Shown { tls: Client::showing(&[pair]), header: None }
}

fn header(text: String) -> Shown {
    Shown { tls: Client::new(), header: Some(text) }
}

fn bearer(token: &str) -> Shown {
    header(format!("Bearer {token}"))
}

/// A token of the tenant's that is valid for a quarter of an hour from `start`.
fn dated(tenant: &SecretKey, start: SystemTime) -> String {
    let owner = tenant.public_key().address();
    let claims = Claims::new(owner, Access::Full, start, Claims::LIFETIME);
    issue(&claims, Algorithm::Es256k, tenant).unwrap()
}

/// The words of one token under the signature of another.
fn forged(words: &str, signature: &str) -> String {
    let (words, _) = words.rsplit_once('.').unwrap();
    let (_, signature) = signature.rsplit_once('.').unwrap();
    format!("{words}.{signature}")
}

fn granular(provider: &str, access: ProviderAccess) -> Access {
    Access::Granular(vec![Permission { provider: provider.parse().unwrap(), access }])
}

/// Everything with `web` of a deployment.
fn of(dseq: u64, gseq: Option<u32>, oseq: Option<u32>) -> Access {
    let grant = DeploymentGrant {
        dseq,
        gseq,
        oseq,
        scope: Scope::ALL.to_vec(),
        services: vec!["web".to_owned()],
    };
    granular(PROVIDER, ProviderAccess::Granular(vec![grant]))
}

/// Everybody, under the name that the tables have for them. Publishes what has to be published.
pub(crate) fn everybody(chain: &Chain) -> Vec<(&'static str, Shown)> {
    let (tenant, stranger) = (account("tenant1"), account("main"));
    assert_eq!(tenant.public_key().address().to_string(), OWNER);
    let foreign = stranger.public_key().address().to_string();
    let now = SystemTime::now();
    let hour = Duration::from_hours(1);
    let (good, others) = (pair(OWNER, 5, &[]), pair(&foreign, 6, &[]));
    let (revoked, unpublished) = (pair(OWNER, 7, &[]), pair(OWNER, 8, &[]));
    let expired = pair_from(OWNER, 9, &[], now - 2 * hour);
    for published in [&good, &others, &revoked, &expired] {
        chain.publish(published);
    }
    chain.revoke(&revoked);
    let full = token(&tenant, Access::Full);
    let foreign_full = token(&stranger, Access::Full);
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
    let unsigned = format!("{unsigned}.{}.", full.split('.').nth(1).unwrap());
    let mut both = certificate(&good);
    both.header = Some(format!("Bearer {full}"));
    let own = |access| bearer(&token(&tenant, access));
    let mut everybody = vec![
        ("nobody", Shown { tls: Client::new(), header: None }),
        ("owner's certificate", certificate(&good)),
        ("stranger's certificate", certificate(&others)),
        ("revoked certificate", certificate(&revoked)),
        ("unpublished certificate", certificate(&unpublished)),
        ("expired certificate", certificate(&expired)),
        ("owner's token", bearer(&full)),
        ("stranger's token", bearer(&foreign_full)),
        ("certificate and token", both),
        ("expired token", bearer(&dated(&tenant, now - hour))),
        ("token of tomorrow", bearer(&dated(&tenant, now + 24 * hour))),
        ("forged token", bearer(&forged(&full, &foreign_full))),
        ("unsigned token", bearer(&unsigned)),
        ("no token at all", bearer("garbage")),
        ("another scheme", header("Basic dGVuYW50OnNlY3JldA==".to_owned())),
        ("all of this provider", own(granular(PROVIDER, ProviderAccess::Full))),
        (
            "status at this provider",
            own(granular(PROVIDER, ProviderAccess::Scoped(vec![Scope::Status]))),
        ),
        ("another provider", own(granular(OTHER, ProviderAccess::Full))),
        ("web of this lease", own(of(9002, Some(1), Some(1)))),
        ("web of this deployment", own(of(9002, None, None))),
        ("web of another order", own(of(9002, Some(1), Some(2)))),
        ("web of another group", own(of(9002, Some(2), None))),
        ("web of another deployment", own(of(9001, None, None))),
    ];
    let scoped = Scope::ALL.map(|scope| (scope.name(), own(Access::Scoped(vec![scope]))));
    everybody.extend(scoped);
    everybody
}
