//! What a token says, once its rules were found to hold.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_types::Address;

use super::Scope;

/// The claims of a token. Whoever has one from [`Token::verify`](super::Token::verify) knows that
/// its issuer signed it and that it is valid now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Whose token it is: the owner of every lease it speaks of.
    pub issuer: Address,
    /// When it was made, in seconds since 1970.
    pub issued_at: i64,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
    /// When it ends, in seconds since 1970.
    pub expires_at: i64,
    /// What it allows.
    pub access: Access,
}

/// What a token allows with the leases of its issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything, everywhere.
    Full,
    /// These things, with every lease at every provider.
    Scoped(Vec<Scope>),
    /// What each permission says, at the provider it names.
    Granular(Vec<Permission>),
}

/// What a token allows at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Which provider.
    pub provider: Address,
    /// What is allowed there.
    pub access: ProviderAccess,
}

/// What a token allows at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderAccess {
    /// Everything.
    Full,
    /// These things, with every lease.
    Scoped(Vec<Scope>),
    /// What each grant says, with the deployment it names.
    Granular(Vec<DeploymentGrant>),
}

/// What a token allows with one deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentGrant {
    /// Which deployment.
    pub dseq: u64,
    /// Which group of it; absent for all.
    pub gseq: Option<u32>,
    /// Which order of the group; absent for all.
    pub oseq: Option<u32>,
    /// What is allowed.
    pub scope: Vec<Scope>,
    /// With which services; never empty.
    pub services: Vec<String>,
}

impl Claims {
    /// How long the tenant's own tools let a token live.
    pub const LIFETIME: Duration = Duration::from_mins(15);

    /// Claims of `issuer`, valid from `now` for `lifetime`.
    pub fn new(issuer: Address, access: Access, now: SystemTime, lifetime: Duration) -> Self {
        let issued_at = seconds(now);
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        Self {
            issuer,
            issued_at,
            not_before: issued_at,
            expires_at: issued_at.saturating_add(lifetime),
            access,
        }
    }
}

/// Whole seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> i64 {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}
