//! What the gateway needs of the rest of the provider.
//!
//! ```text
//! Provider     what the engine publishes; what tenants want of it
//! Cluster      what runs (the engine's port, which every driver implements)
//! ```
//!
//! The traits have async functions and no runtime.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use akash_types::{Address, DecCoin, ResourceOffer};
use provider_api::screening::ScreeningRequest;
use provider_api::status::{Readiness, VersionDocument};
use provider_engine::engine::Published;
use provider_engine::{Reply, TenantRequest};
use tokio::sync::watch;

/// The provider, as the gateway sees it. Cloning is cheap, and every clone is the same provider.
pub trait Provider: Clone + Send + Sync + 'static {
    /// The newest of what the engine shows. Nobody has to wait for it.
    fn published(&self) -> Arc<Published>;

    fn changes(&self) -> watch::Receiver<Arc<Published>>;

    /// Whether the provider can do its work, with its changes. `/readyz`, metrics and the operator
    /// are told the same.
    fn readiness(&self) -> watch::Receiver<Arc<Readiness>>;

    /// Who the provider is. The same value is the same pointer.
    fn identity(&self) -> Arc<Identity>;

    /// Hands something that a tenant wants to the engine, and waits for its answer.
    /// Fails when there is no answer; [`Busy`] says whether anything was begun.
    fn tenant(&self, request: TenantRequest) -> impl Future<Output = Result<Reply, Busy>> + Send;

    /// Whether there would be a bid on something, and at what price.
    fn screen(
        &self,
        request: ScreeningRequest,
    ) -> impl Future<Output = Result<Screening, Busy>> + Send;
}

/// Why the engine gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    #[error("the provider has too much to do, try again")]
    Full,
    #[error("the provider has not read the chain and its cluster yet, try again")]
    NotReady,
    #[error("the provider is stopping, try again when it runs")]
    Stopping,
    #[error(
        "the provider did not answer in time; it may have been done all the same: look at the \
         status, or send it again, which does no harm"
    )]
    TimedOut,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub address: Address,
    /// The name by which it is reached; may be empty.
    pub public_hostname: String,
    /// How long a tenant is warned before machines are taken back, if at all.
    pub reclamation_window: Option<Duration>,
    /// Which program runs, on which cluster.
    pub version: VersionDocument,
}

/// What became of a question about a bid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screening {
    Passed {
        offers: Vec<ResourceOffer>,
        /// What it would ask for per block.
        price: DecCoin,
    },
    /// There would be none, and all that speaks against it.
    Declined(Vec<String>),
    /// It cannot be said now, and why: the provider does not know the chain or its cluster yet, or
    /// does not see its cluster.
    NotReady(String),
}
