//! Who asks, and whether they may.

use std::future::Future;

use akash_types::{Address, LeaseId};
use http::StatusCode;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_engine::engine::Published;

/// Decides about requests. Every request is shown to it first, also those that anybody may make.
pub trait Gatekeeper: Clone + Send + Sync + 'static {
    /// Who asks, as far as they proved it.
    type Principal: Send + Sync + 'static;

    /// Who asks. What the connection knows of them is among the extensions of the request.
    ///
    /// # Errors
    ///
    /// When what they show proves nothing. Who shows nothing is somebody unknown, and no error.
    fn authenticate(
        &self,
        parts: &Parts,
    ) -> impl Future<Output = Result<Self::Principal, Denied>> + Send;

    /// Which account it is that asks, if it may ask this provider for anything of its own. Comes
    /// first: the numbers in a request are not even read for others.
    ///
    /// # Errors
    ///
    /// When it may not.
    fn admit(&self, principal: &Self::Principal) -> Result<Address, Denied>;

    /// Whether they may have what they ask for.
    ///
    /// # Errors
    ///
    /// When they may not, or when the account has no such lease here.
    fn authorize(
        &self,
        principal: &Self::Principal,
        request: &Request<'_>,
        published: &Published,
    ) -> Result<Grant, Denied>;
}

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Who asks is not known, or may not.
    Unauthorized {
        /// The HTTP status.
        status: StatusCode,
        /// What kind of failure it is.
        code: ErrorCode,
        /// The text that clients know it by.
        message: &'static str,
    },
    /// The account has no such lease here; every route says it in its own way.
    NoSuchLease,
}

/// A lease of whoever asks, at this provider. The numbers are as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRef {
    /// The deployment.
    pub dseq: u64,
    /// The group of it.
    pub gseq: u32,
    /// The order of the group.
    pub oseq: u32,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// To send the manifest of a deployment.
    SendManifest {
        /// The deployment.
        dseq: u64,
    },
    /// To read the manifest of a lease. Only granted services are shown.
    GetManifest(LeaseRef),
    /// To read the status of a lease. Only granted services are shown.
    LeaseStatus(LeaseRef),
    /// To read the status of one service.
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
        /// Where to.
        destination: Option<(u64, u32)>,
    },
    /// To move leased addresses; the same as hostnames.
    MigrateEndpoints {
        /// Where to.
        destination: Option<(u64, u32)>,
    },
}

/// What was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Who asks.
    pub owner: Option<Address>,
    /// The lease that was asked for, where one was.
    pub lease: Option<LeaseId>,
    /// Of which services the answer may speak.
    pub services: Services,
}

/// Services that somebody may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Services {
    /// All of them.
    All,
    /// These.
    Only(Vec<String>),
}

impl Services {
    /// Whether this one is among them.
    #[must_use]
    pub fn include(&self, service: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == service),
        }
    }
}
