//! Making a token.

use akash_keys::SecretKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::claims::{RawClaims, RawDeployment, RawLeases, RawPermission, Seconds};
use super::{
    Access, Algorithm, Claims, ClaimsError, DeploymentGrant, Permission, ProviderAccess, Scope,
    rules,
};

/// Makes the token of `claims`, signed by their issuer. The same input makes the same token.
pub fn issue(claims: &Claims, algorithm: Algorithm, key: &SecretKey) -> Result<String, IssueError> {
    if key.public_key().address() != claims.issuer {
        return Err(IssueError::OtherKey);
    }
    let raw = raw(claims);
    rules::check(&raw, claims.issuer, claims.not_before)?;
    let payload = serde_json::to_vec(&raw).map_err(IssueError::Encode)?;
    let header = format!("{{\"alg\":\"{}\",\"typ\":\"JWT\"}}", algorithm.name());
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let text = format!("{}.{}", encode(header.as_bytes()), encode(&payload));
    let signature = key.sign(&algorithm.message(&text, claims.issuer));
    Ok(format!("{text}.{}", encode(&signature)))
}

fn raw(claims: &Claims) -> RawClaims {
    let leases = match &claims.access {
        Access::Full => RawLeases { access: text("full"), ..RawLeases::default() },
        Access::Scoped(scope) => {
            RawLeases { access: text("scoped"), scope: names(scope), permissions: None }
        }
        Access::Granular(permissions) => RawLeases {
            access: text("granular"),
            scope: None,
            permissions: Some(permissions.iter().map(permission).collect()),
        },
    };
    RawClaims {
        iss: Some(claims.issuer.to_string()),
        iat: Some(Seconds(claims.issued_at)),
        nbf: Some(Seconds(claims.not_before)),
        exp: Some(Seconds(claims.expires_at)),
        version: text("v1"),
        leases: Some(leases),
    }
}

fn permission(permission: &Permission) -> RawPermission {
    let provider = Some(permission.provider.to_string());
    let raw = RawPermission { provider, ..RawPermission::default() };
    match &permission.access {
        ProviderAccess::Full => RawPermission { access: text("full"), ..raw },
        ProviderAccess::Scoped(scope) => {
            RawPermission { access: text("scoped"), scope: names(scope), ..raw }
        }
        ProviderAccess::Granular(grants) => RawPermission {
            access: text("granular"),
            deployments: Some(grants.iter().map(deployment).collect()),
            ..raw
        },
    }
}

fn deployment(grant: &DeploymentGrant) -> RawDeployment {
    RawDeployment {
        dseq: Some(grant.dseq),
        gseq: grant.gseq,
        oseq: grant.oseq,
        scope: names(&grant.scope),
        services: Some(grant.services.clone()),
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn names(scope: &[Scope]) -> Option<Vec<String>> {
    Some(scope.iter().map(|scope| scope.name().to_owned()).collect())
}

/// Why no token is made.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The key is of another account.
    #[error("a token is signed by its issuer, and the key is of another account")]
    OtherKey,
    /// No provider would take it.
    #[error("providers would refuse the token")]
    Claims(#[from] ClaimsError),
    /// Never to be expected.
    #[error("writing the token")]
    Encode(#[source] serde_json::Error),
}
