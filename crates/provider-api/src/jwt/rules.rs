//! The rules that claims obey.

use std::collections::HashSet;

use akash_types::{Address, AddressError};

use super::token::{RawClaims, RawDeployment, RawLeases, RawPermission, Seconds};
use super::{Access, Claims, DeploymentGrant, Permission, ProviderAccess};

const VERSION: &str = "v1";

/// The claims of `issuer`, if every rule holds at `now` (seconds since 1970).
pub(super) fn check(raw: &RawClaims, issuer: Address, now: i64) -> Result<Claims, ClaimsError> {
    let time = |claim: Option<Seconds>, name| match claim {
        Some(Seconds(seconds)) => Ok(seconds),
        None => Err(ClaimsError::Missing { claim: name }),
    };
    let (issued_at, not_before) = (time(raw.iat, "iat")?, time(raw.nbf, "nbf")?);
    let expires_at = time(raw.exp, "exp")?;
    // No leeway: the existing provider gives none, and tokens are made to be used at once.
    if now < not_before {
        return Err(ClaimsError::NotYetValid { seconds: not_before.saturating_sub(now) });
    }
    if now >= expires_at {
        return Err(ClaimsError::Expired { seconds: now.saturating_sub(expires_at) });
    }
    if raw.version.as_deref() != Some(VERSION) {
        return Err(ClaimsError::Version);
    }
    let leases = raw.leases.as_ref().ok_or(ClaimsError::Missing { claim: "leases" })?;
    Ok(Claims { issuer, issued_at, not_before, expires_at, access: access(leases)? })
}

fn access(leases: &RawLeases) -> Result<Access, ClaimsError> {
    match leases.access.as_deref() {
        Some("full") => {
            absent_or_empty(leases.permissions.as_deref(), "permissions")?;
            absent_or_empty(leases.scope.as_deref(), "scope")?;
            Ok(Access::Full)
        }
        Some("scoped") => {
            absent(leases.permissions.as_ref(), "permissions")?;
            Ok(Access::Scoped(scopes(leases.scope.as_deref())?))
        }
        Some("granular") => {
            let entries = present(leases.permissions.as_deref(), "permissions")?;
            let mut providers = HashSet::new();
            let mut permissions = Vec::with_capacity(entries.len());
            for entry in entries {
                let permission = permission(entry)?;
                if !providers.insert(permission.provider) {
                    return Err(ClaimsError::ProviderTwice { provider: permission.provider });
                }
                permissions.push(permission);
            }
            Ok(Access::Granular(permissions))
        }
        _ => Err(ClaimsError::Access),
    }
}

fn permission(raw: &RawPermission) -> Result<Permission, ClaimsError> {
    let provider = raw.provider.as_deref().filter(|text| !text.is_empty());
    let provider = provider.ok_or(ClaimsError::Missing { claim: "provider" })?;
    let provider = provider.parse().map_err(ClaimsError::Provider)?;
    let access = match raw.access.as_deref() {
        Some("full") => {
            absent_or_empty(raw.deployments.as_deref(), "deployments")?;
            absent_or_empty(raw.scope.as_deref(), "scope")?;
            ProviderAccess::Full
        }
        Some("scoped") => {
            absent(raw.deployments.as_ref(), "deployments")?;
            ProviderAccess::Scoped(scopes(raw.scope.as_deref())?)
        }
        Some("granular") => {
            absent(raw.scope.as_ref(), "scope")?;
            let entries = present(raw.deployments.as_deref(), "deployments")?;
            ProviderAccess::Granular(entries.iter().map(deployment).collect::<Result<_, _>>()?)
        }
        _ => return Err(ClaimsError::Access),
    };
    Ok(Permission { provider, access })
}

fn deployment(raw: &RawDeployment) -> Result<DeploymentGrant, ClaimsError> {
    let dseq = raw.dseq.filter(|dseq| *dseq > 0);
    let dseq = dseq.ok_or(ClaimsError::Missing { claim: "dseq" })?;
    // 0 is how some clients write "all of them".
    let gseq = raw.gseq.filter(|gseq| *gseq > 0);
    let oseq = raw.oseq.filter(|oseq| *oseq > 0);
    if oseq.is_some() && gseq.is_none() {
        return Err(ClaimsError::Missing { claim: "gseq" });
    }
    let scope = scopes(raw.scope.as_deref())?;
    let services = present(raw.services.as_deref(), "services")?;
    let mut seen = HashSet::new();
    if let Some(twice) = services.iter().find(|service| !seen.insert(service.as_str())) {
        return Err(ClaimsError::ServiceTwice { service: twice.chars().take(64).collect() });
    }
    Ok(DeploymentGrant { dseq, gseq, oseq, scope, services: services.to_vec() })
}

fn scopes(names: Option<&[String]>) -> Result<Vec<Scope>, ClaimsError> {
    let mut scopes = Vec::new();
    for name in names.unwrap_or_default() {
        let scope = Scope::named(name)
            .ok_or_else(|| ScopeError::Unknown { name: name.chars().take(64).collect() })?;
        if scopes.contains(&scope) {
            return Err(ScopeError::Twice { scope }.into());
        }
        scopes.push(scope);
    }
    if scopes.is_empty() { Err(ScopeError::Empty.into()) } else { Ok(scopes) }
}

fn present<'a, T>(list: Option<&'a [T]>, claim: &'static str) -> Result<&'a [T], ClaimsError> {
    list.filter(|list| !list.is_empty()).ok_or(ClaimsError::Missing { claim })
}

fn absent<T>(list: Option<&T>, claim: &'static str) -> Result<(), ClaimsError> {
    if list.is_some() { Err(ClaimsError::NotAllowed { claim }) } else { Ok(()) }
}

fn absent_or_empty<T>(list: Option<&[T]>, claim: &'static str) -> Result<(), ClaimsError> {
    absent(list.filter(|list| !list.is_empty()).as_ref(), claim)
}

/// Which rule a token breaks. The tenant is told only that one is; the log says which.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// Something that every token of its kind has is not there, or empty.
    #[error("claim {claim:?} is missing or empty")]
    Missing {
        /// Which.
        claim: &'static str,
    },
    /// Something that has no meaning with this kind of access.
    #[error("claim {claim:?} does not go with this access")]
    NotAllowed {
        /// Which.
        claim: &'static str,
    },
    /// Too early.
    #[error("it is valid in {seconds} s only; are both clocks right?")]
    NotYetValid {
        /// How much.
        seconds: i64,
    },
    /// Too late.
    #[error("it expired {seconds} s ago")]
    Expired {
        /// How much.
        seconds: i64,
    },
    /// Of another version.
    #[error("its version is not {VERSION:?}")]
    Version,
    /// Of a kind of access that is not known.
    #[error("its access is neither \"full\", \"scoped\" nor \"granular\"")]
    Access,
    /// The same provider twice.
    #[error("it has two permissions for provider {provider}")]
    ProviderTwice {
        /// Which.
        provider: Address,
    },
    /// A provider that is no account. Such tokens are already refused as malformed.
    #[error("it has a permission for a provider that is no account")]
    Provider(#[source] AddressError),
    /// The same service twice.
    #[error("it names service {service:?} twice")]
    ServiceTwice {
        /// Which, shortened.
        service: String,
    },
    /// A list of scopes that is none.
    #[error("scope")]
    Scope(#[from] ScopeError),
}

/// Why a list of scopes is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// It is empty.
    #[error("a scope lists at least one thing to do")]
    Empty,
    /// It has one that does not exist.
    #[error("there is no scope {name:?}")]
    Unknown {
        /// Which, shortened.
        name: String,
    },
    /// It has one twice.
    #[error("scope {scope} is listed twice")]
    Twice {
        /// Which.
        scope: Scope,
    },
}

/// A kind of thing to do with a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}", self.name())]
pub enum Scope {
    /// Send a manifest.
    SendManifest,
    /// Read the manifest back.
    GetManifest,
    /// Read logs.
    Logs,
    /// Run commands in containers.
    Shell,
    /// Read events of the cluster.
    Events,
    /// Read the status of lease and services.
    Status,
    /// Restart services. No route asks for it yet.
    Restart,
    /// Move hostnames from one deployment to another.
    HostnameMigrate,
    /// Move leased addresses from one deployment to another.
    IpMigrate,
    /// Ask for proof of the hardware. No route asks for it yet.
    Attestation,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 10] = [
        Self::SendManifest,
        Self::GetManifest,
        Self::Logs,
        Self::Shell,
        Self::Events,
        Self::Status,
        Self::Restart,
        Self::HostnameMigrate,
        Self::IpMigrate,
        Self::Attestation,
    ];

    /// As tokens name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendManifest => "send-manifest",
            Self::GetManifest => "get-manifest",
            Self::Logs => "logs",
            Self::Shell => "shell",
            Self::Events => "events",
            Self::Status => "status",
            Self::Restart => "restart",
            Self::HostnameMigrate => "hostname-migrate",
            Self::IpMigrate => "ip-migrate",
            Self::Attestation => "attestation",
        }
    }

    /// The scope of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}
