//! What a principal may do: one plain function.
//!
//! In every id the owner is the account that asks and the provider is this one, so another
//! tenant's lease cannot even be named: it looks like one that does not exist.
//!
//! Two rules are stricter than those of the existing provider, on purpose: the services that a
//! token names are all it may touch, and reading a service's status, moving hostnames and moving
//! addresses need their scopes.

use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use provider_api::jwt::{Access, DeploymentGrant, ProviderAccess, Scope};

use super::Principal;
use super::denial::Denial;

/// A lease of whoever asks, at this provider. The numbers are as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRef {
    pub dseq: u64,
    pub gseq: u32,
    /// The order of the group.
    pub oseq: u32,
}

impl LeaseRef {
    /// The lease of `owner` at `provider`; `None` where the numbers make no id.
    fn id(self, owner: Address, provider: Address) -> Option<LeaseId> {
        let deployment = DeploymentId::new(owner, self.dseq).ok()?;
        let group = GroupId::new(deployment, self.gseq).ok()?;
        Some(LeaseId::new(OrderId::new(group, self.oseq).ok()?, provider))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// What anybody may ask for.
    Public,
    /// Something of the account's own; what it is stands in a message that is read afterwards.
    Unread,
    /// To send the manifest of a deployment. Whether there is a lease is looked at later: a
    /// manifest that makes no sense is told so first.
    SendManifest {
        dseq: u64,
    },
    /// To read the manifest of a lease. Only granted services are shown.
    GetManifest(LeaseRef),
    /// To read the status of a lease. Only granted services are shown.
    LeaseStatus(LeaseRef),
    ServiceStatus(LeaseRef, &'a str),
    /// To read logs: of these services, of all granted ones if none is named.
    Logs(LeaseRef, &'a [&'a str]),
    /// To read events; the same as logs.
    Events(LeaseRef, &'a [&'a str]),
    /// To run a command in a service.
    Shell(LeaseRef, &'a str),
    /// To move hostnames to a deployment, and a group of it, once they are known: they stand in
    /// the body, which is read only after asking without.
    MigrateHostnames {
        destination: Option<(u64, u32)>,
    },
    /// To move leased addresses; the same as hostnames.
    MigrateEndpoints {
        destination: Option<(u64, u32)>,
    },
    /// What only the provider's own account may do.
    Operate,
}

/// What a grant of a token is compared with; what is absent is not compared.
#[derive(Clone, Copy, Debug)]
struct Target {
    dseq: u64,
    gseq: Option<u32>,
    oseq: Option<u32>,
}

impl Target {
    fn is_in(self, grant: &DeploymentGrant) -> bool {
        let same = |ours: Option<u32>, theirs: Option<u32>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        grant.dseq == self.dseq && same(self.gseq, grant.gseq) && same(self.oseq, grant.oseq)
    }
}

impl Request<'_> {
    /// What a limited token must list.
    pub const fn scope(&self) -> Option<Scope> {
        match self {
            Self::Public | Self::Unread | Self::Operate => None,
            Self::SendManifest { .. } => Some(Scope::SendManifest),
            Self::GetManifest(_) => Some(Scope::GetManifest),
            Self::LeaseStatus(_) | Self::ServiceStatus(..) => Some(Scope::Status),
            Self::Logs(..) => Some(Scope::Logs),
            Self::Events(..) => Some(Scope::Events),
            Self::Shell(..) => Some(Scope::Shell),
            Self::MigrateHostnames { .. } => Some(Scope::HostnameMigrate),
            Self::MigrateEndpoints { .. } => Some(Scope::IpMigrate),
        }
    }

    pub const fn lease(&self) -> Option<LeaseRef> {
        match self {
            Self::GetManifest(lease)
            | Self::LeaseStatus(lease)
            | Self::ServiceStatus(lease, _)
            | Self::Logs(lease, _)
            | Self::Events(lease, _)
            | Self::Shell(lease, _) => Some(*lease),
            _ => None,
        }
    }

    fn target(&self) -> Option<Target> {
        match self {
            Self::SendManifest { dseq } => Some(Target { dseq: *dseq, gseq: None, oseq: None }),
            Self::MigrateHostnames { destination } | Self::MigrateEndpoints { destination } => {
                destination.map(|(dseq, gseq)| Target { dseq, gseq: Some(gseq), oseq: None })
            }
            _ => self.lease().map(|lease| Target {
                dseq: lease.dseq,
                gseq: Some(lease.gseq),
                oseq: Some(lease.oseq),
            }),
        }
    }

    fn services(&self) -> impl Iterator<Item = &str> {
        let (one, more) = match self {
            Self::ServiceStatus(_, service) | Self::Shell(_, service) => (Some(*service), &[][..]),
            Self::Logs(_, services) | Self::Events(_, services) => (None, *services),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(more.iter().copied())
    }
}

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
    /// The account that asks. `None` only for what anybody may ask for: then nothing here is the
    /// caller's own.
    pub account: Option<Address>,
    /// The lease that was asked for. `None` if the account has none of that id here, which each
    /// route says in its own way.
    pub lease: Option<LeaseId>,
    /// True if that lease is known to be active.
    pub is_active: bool,
    /// Of which services the answer may speak.
    pub services: Services,
}

impl Grant {
    const fn of(account: Option<Address>, services: Services) -> Self {
        Self { account, lease: None, is_active: false, services }
    }

    /// The account that asks for something of its own.
    pub fn owner(&self) -> Result<Address, Denial> {
        self.account.ok_or(Denial::NoCredentials)
    }
}

/// Whether `principal` may do what it asks of `provider`.
pub fn authorize(
    principal: &Principal,
    provider: Address,
    request: &Request<'_>,
    presence: &dyn Fn(&LeaseId) -> Presence,
) -> Result<Grant, Denial> {
    let admitted = admit(principal, provider);
    if matches!(request, Request::Public) {
        return Ok(Grant::of(admitted.ok(), Services::All));
    }
    let account = admitted?;
    if matches!(request, Request::Operate) {
        let is_whole_account = match principal {
            Principal::Token(claims) => claims.access == Access::Full,
            _ => true,
        };
        return match account == provider && is_whole_account {
            true => Ok(Grant::of(Some(account), Services::All)),
            false => Err(Denial::NotOperator),
        };
    }
    let services = match request.scope() {
        Some(scope) => services(principal, provider, request.target(), scope)?,
        None => Services::All,
    };
    for wanted in request.services() {
        if !services.include(wanted) {
            return Err(Denial::Service);
        }
    }
    let grant = Grant::of(Some(account), services);
    let Some(lease) = request.lease().and_then(|lease| lease.id(account, provider)) else {
        return Ok(grant);
    };
    Ok(match presence(&lease) {
        Presence::Absent => grant,
        presence => Grant { lease: Some(lease), is_active: presence == Presence::Active, ..grant },
    })
}

/// Who asks, if they may ask this provider for anything of their own. Comes first: what is wrong
/// with a request is not even told to others.
pub(super) fn admit(principal: &Principal, provider: Address) -> Result<Address, Denial> {
    let account = principal.account().ok_or(Denial::NoCredentials)?;
    match principal {
        Principal::Token(claims) => match &claims.access {
            Access::Granular(permissions)
                if permissions.iter().all(|permission| permission.provider != provider) =>
            {
                Err(Denial::Provider)
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
) -> Result<Services, Denial> {
    let Principal::Token(claims) = principal else { return Ok(Services::All) };
    let listed = |scopes: &[Scope]| match scopes.contains(&scope) {
        true => Ok(Services::All),
        false => Err(Denial::Scope(scope)),
    };
    let permissions = match &claims.access {
        Access::Full => return Ok(Services::All),
        Access::Scoped(scopes) => return listed(scopes),
        Access::Granular(permissions) => permissions,
    };
    let here = permissions.iter().find(|permission| permission.provider == provider);
    match &here.ok_or(Denial::Provider)?.access {
        ProviderAccess::Full => Ok(Services::All),
        ProviderAccess::Scoped(scopes) => listed(scopes),
        ProviderAccess::Granular(grants) => granted(grants, target, scope),
    }
}

fn granted(
    grants: &[DeploymentGrant],
    target: Option<Target>,
    scope: Scope,
) -> Result<Services, Denial> {
    let matching = |grant: &&DeploymentGrant| target.is_none_or(|target| target.is_in(grant));
    if !grants.iter().any(|grant| matching(&grant)) {
        return Err(Denial::Deployment);
    }
    let allowing = grants.iter().filter(matching).filter(|grant| grant.scope.contains(&scope));
    let names: Vec<String> = allowing.flat_map(|grant| grant.services.iter().cloned()).collect();
    // No grant is without services, so none means that no grant has the scope.
    if names.is_empty() {
        return Err(Denial::Scope(scope));
    }
    // A manifest or a move is about the deployment as a whole.
    let whole = matches!(scope, Scope::SendManifest | Scope::HostnameMigrate | Scope::IpMigrate);
    Ok(if whole { Services::All } else { Services::only(names) })
}

#[cfg(test)]
mod tests;
