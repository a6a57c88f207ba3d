//! What a principal may do: one plain function.
//!
//! In every id the owner is the account that asks and the provider is this one, so another
//! tenant's lease cannot even be named: it looks like one that does not exist.
//!
//! Two rules are stricter than those of the existing provider, on purpose: the services that a
//! token names are all it may touch, and reading a service's status, moving hostnames and moving
//! addresses need their scopes.

mod request;

use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use provider_api::jwt::{Access, DeploymentGrant, ProviderAccess, Scope};

use super::Principal;
use super::denial::{Denial, Reason};

pub use request::{LeaseRef, Request};

use request::Target;

/// Whether a lease is active here; bseq does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Active,
    Absent,
    /// Not known yet. Such a lease may be asked for: the answer comes from what is kept under its
    /// id, and that is nothing if there is no such lease.
    Unknown,
}

/// Services that an answer may speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Services {
    All,
    /// In the order of their names, each once.
    Only(Vec<String>),
}

impl Services {
    fn only(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        names.dedup();
        Self::Only(names)
    }

    pub fn include(&self, service: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == service),
        }
    }
}

/// What was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The lease that was asked for, where one was. `None` too where its numbers make no id.
    pub lease: Option<LeaseId>,
    /// Of which services the answer may speak.
    pub services: Services,
}

/// Whether `principal` may do what it asks of `provider`.
pub fn authorize(
    principal: &Principal,
    provider: Address,
    request: &Request<'_>,
    presence: &dyn Fn(&LeaseId) -> Presence,
) -> Result<Grant, Denial> {
    let owner = admit(principal, provider)?;
    if matches!(request, Request::Operate) {
        let is_whole_account = match principal {
            Principal::Token(claims) => claims.access == Access::Full,
            _ => true,
        };
        return match owner == provider && is_whole_account {
            true => Ok(Grant { lease: None, services: Services::All }),
            false => Err(Reason::NotOperator.into()),
        };
    }
    let services = match request.scope() {
        Some(scope) => services(principal, provider, request.target(), scope)?,
        None => Services::All,
    };
    for wanted in request.services() {
        if !services.include(wanted) {
            return Err(Reason::Service.into());
        }
    }
    let lease = match request.lease() {
        None => None,
        Some(lease) => Some(find(owner, provider, lease, presence)?),
    };
    Ok(Grant { lease, services })
}

/// Who asks, if they may ask this provider for anything at all. Comes first: the numbers in a
/// request are not even read for others.
pub fn admit(principal: &Principal, provider: Address) -> Result<Address, Denial> {
    let account = principal.account().ok_or(Reason::NoCredentials)?;
    match principal {
        Principal::Token(claims) => match &claims.access {
            Access::Granular(permissions)
                if permissions.iter().all(|permission| permission.provider != provider) =>
            {
                Err(Reason::Provider.into())
            }
            _ => Ok(account),
        },
        _ => Ok(account),
    }
}

/// The services with which `scope` is allowed.
fn services(
    principal: &Principal,
    provider: Address,
    target: Option<Target>,
    scope: Scope,
) -> Result<Services, Reason> {
    let Principal::Token(claims) = principal else { return Ok(Services::All) };
    let listed = |scopes: &[Scope]| match scopes.contains(&scope) {
        true => Ok(Services::All),
        false => Err(Reason::Scope(scope)),
    };
    let permissions = match &claims.access {
        Access::Full => return Ok(Services::All),
        Access::Scoped(scopes) => return listed(scopes),
        Access::Granular(permissions) => permissions,
    };
    let here = permissions.iter().find(|permission| permission.provider == provider);
    match &here.ok_or(Reason::Provider)?.access {
        ProviderAccess::Full => Ok(Services::All),
        ProviderAccess::Scoped(scopes) => listed(scopes),
        ProviderAccess::Granular(grants) => granted(grants, target, scope),
    }
}

fn granted(
    grants: &[DeploymentGrant],
    target: Option<Target>,
    scope: Scope,
) -> Result<Services, Reason> {
    let matching = |grant: &&DeploymentGrant| target.is_none_or(|target| target.is_in(grant));
    if !grants.iter().any(|grant| matching(&grant)) {
        return Err(Reason::Deployment);
    }
    let allowing = grants.iter().filter(matching).filter(|grant| grant.scope.contains(&scope));
    let names: Vec<String> = allowing.flat_map(|grant| grant.services.iter().cloned()).collect();
    // No grant is without services, so none means that no grant has the scope.
    if names.is_empty() {
        return Err(Reason::Scope(scope));
    }
    // A manifest or a move is about the deployment as a whole.
    let whole = matches!(scope, Scope::SendManifest | Scope::HostnameMigrate | Scope::IpMigrate);
    Ok(if whole { Services::All } else { Services::only(names) })
}

fn find(
    owner: Address,
    provider: Address,
    lease: LeaseRef,
    presence: &dyn Fn(&LeaseId) -> Presence,
) -> Result<LeaseId, Denial> {
    let id = DeploymentId::new(owner, lease.dseq)
        .and_then(|deployment| GroupId::new(deployment, lease.gseq))
        .and_then(|group| OrderId::new(group, lease.oseq))
        .map(|order| LeaseId::new(order, provider));
    match id {
        Ok(id) if presence(&id) != Presence::Absent => Ok(id),
        _ => Err(Denial::NoSuchLease),
    }
}

#[cfg(test)]
mod tests;
