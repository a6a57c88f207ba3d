//! What is asked for, as far as it matters for whether it is allowed.

use provider_api::jwt::{DeploymentGrant, Scope};

/// A lease of whoever asks, at this provider. The numbers are as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRef {
    pub dseq: u64,
    pub gseq: u32,
    /// The order of the group.
    pub oseq: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
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
    /// To read logs: of these services, of all granted ones if none is named. No such lease: the
    /// socket is closed with code 4001.
    Logs(LeaseRef, &'a [&'a str]),
    /// To read events; the same as logs.
    Events(LeaseRef, &'a [&'a str]),
    /// To run a command in a service. No such lease: told by a result frame.
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
pub(super) struct Target {
    dseq: u64,
    gseq: Option<u32>,
    oseq: Option<u32>,
}

impl Target {
    pub(super) fn is_in(self, grant: &DeploymentGrant) -> bool {
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
            Self::Operate => None,
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
            Self::SendManifest { .. }
            | Self::MigrateHostnames { .. }
            | Self::MigrateEndpoints { .. }
            | Self::Operate => None,
        }
    }

    pub(super) fn target(&self) -> Option<Target> {
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

    pub(super) fn services(&self) -> impl Iterator<Item = &str> {
        let (one, more) = match self {
            Self::ServiceStatus(_, service) | Self::Shell(_, service) => (Some(*service), &[][..]),
            Self::Logs(_, services) | Self::Events(_, services) => (None, *services),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(more.iter().copied())
    }
}
