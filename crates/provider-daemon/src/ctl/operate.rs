//! What the operator's socket needs of the provider.

use provider_engine::engine::{BidStatus, LeaseStatus};
use provider_engine::journal::Subject;
use provider_engine::{OperatorRequest, Reply, TenantRequest};

use super::wire::{Attempt, Decided, Status};

/// The provider, as its operator sees it.
///
/// What only reads answers at once, from what was published last, and never waits for the engine.
pub trait Operate: Send + Sync + 'static {
    /// How the provider does.
    fn status(&self) -> Status;

    /// Bids that are open, on their way to the chain, or on their way out.
    fn bids(&self) -> Vec<BidStatus>;

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

/// Why the engine could not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("the provider has too much to do")]
    Busy,
    #[error("the provider is stopping")]
    Stopping,
    /// No answer came; it may have been done all the same.
    #[error("the provider did not answer in time; it may have been done all the same")]
    TimedOut,
}
