//! What the operator's socket needs of the provider.

use akash_types::{DecCoin, OrderId};
use provider_engine::engine::LeaseStatus;
use provider_engine::journal::Subject;
use provider_engine::{OperatorRequest, Reply, TenantRequest};

use super::wire::{Attempt, Decided, Status};

/// The provider, as its operator sees it.
///
/// What only reads answers at once, from what was published last, and never waits for the engine.
pub trait Operate: Send + Sync + 'static {
    /// How the provider does.
    fn status(&self) -> Status;

    /// Bids that are open, or on their way.
    fn bids(&self) -> Vec<BidStatus>;

    /// Every lease.
    fn leases(&self) -> Vec<LeaseStatus>;

    /// Orders and deployments with this number about which something was decided, those included
    /// that were declined or are over.
    fn subjects(&self, dseq: u64) -> Vec<Subject>;

    /// What was decided about something, oldest first, as far as that is known.
    fn decisions(&self, subject: Subject) -> Vec<Decided>;

    /// Asks the engine for something.
    fn operator(
        &self,
        request: OperatorRequest,
    ) -> impl Future<Output = Result<Reply, Unavailable>> + Send;

    /// Finds out which connections of tenants' pods are open that must not be, with pods of this
    /// image or the one that is set. Takes minutes.
    ///
    /// # Errors
    ///
    /// When it cannot be found out; in words, why.
    fn probe_isolation(
        &self,
        image: Option<String>,
    ) -> impl Future<Output = Result<Vec<Attempt>, String>> + Send;

    /// Asks the engine for something in the name of a tenant.
    fn tenant(
        &self,
        request: TenantRequest,
    ) -> impl Future<Output = Result<Reply, Unavailable>> + Send;
}

/// A bid of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidStatus {
    /// On which order.
    pub order: OrderId,
    /// Price per block, where it is known.
    pub price: Option<DecCoin>,
    /// Where it is in its life.
    pub stage: &'static str,
    /// Height at which it was made, once it was.
    pub created_at: Option<u64>,
}

/// Why the engine could not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Too much waits for it.
    #[error("the provider has too much to do")]
    Busy,
    /// It stops.
    #[error("the provider is stopping")]
    Stopping,
}
