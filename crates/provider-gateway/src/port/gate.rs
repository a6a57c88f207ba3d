//! Who asks, and whether they may.

use std::future::Future;

use akash_types::Address;
use http::request::Parts;
use http::{Extensions, StatusCode};
use provider_api::error::ErrorCode;
use provider_engine::engine::Published;

pub use crate::auth::{Grant, LeaseRef, Request, Services};

/// Decides about requests. Every request is shown to it first, also those that anybody may make.
pub trait Gatekeeper: Clone + Send + Sync + 'static {
    /// Who asks, as far as they proved it.
    type Principal: Send + Sync + 'static;

    /// Who asks. What the connection knows of them is among the extensions of the request.
    fn authenticate(
        &self,
        parts: &Parts,
    ) -> impl Future<Output = Result<Self::Principal, Denied>> + Send;

    /// Waits until what a request was authenticated with is revoked; for ever, where it cannot be.
    /// The end of a token's time is none: clients do not open a stream again for it.
    fn revoked(&self, _: &Extensions) -> impl Future<Output = ()> + Send + 'static {
        std::future::pending()
    }

    /// Which account it is that asks, if it may ask this provider for anything of its own. Comes
    /// first: the numbers in a request are not even read for others.
    fn admit(&self, principal: &Self::Principal) -> Result<Address, Denied>;

    /// Whether they may have what they ask for.
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
