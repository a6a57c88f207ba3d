//! What the gateway needs of the rest of the provider.
//!
//! ```text
//! Gatekeeper   who asks, and whether they may
//! Provider     what the engine publishes; what tenants want of it
//! Cluster      what runs (the engine's port, which every driver implements)
//! ```
//!
//! The traits have async functions and no runtime.

mod gate;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use akash_types::{Address, DecCoin, ResourceOffer};
use provider_api::screening::ScreeningRequest;
use provider_api::status::VersionDocument;
use provider_engine::engine::Published;
use provider_engine::{Reply, TenantRequest};
use tokio::sync::watch;

pub use gate::{Denied, Gatekeeper, Grant, LeaseRef, Request, Services};

/// The provider, as the gateway sees it. Cloning is cheap, and every clone is the same provider.
pub trait Provider: Clone + Send + Sync + 'static {
    /// The newest of what the engine shows. Nobody has to wait for it.
    fn published(&self) -> Arc<Published>;

    /// The same, with its changes.
    fn changes(&self) -> watch::Receiver<Arc<Published>>;

    /// Who the provider is. The same value is the same pointer.
    fn identity(&self) -> Arc<Identity>;

    /// Hands something that a tenant wants to the engine, and waits for its answer.
    ///
    /// # Errors
    ///
    /// When the engine has too much to do already: nothing was begun.
    fn tenant(&self, request: TenantRequest) -> impl Future<Output = Result<Reply, Busy>> + Send;

    /// Whether there would be a bid on something, and at what price.
    ///
    /// # Errors
    ///
    /// When too many ask.
    fn screen(
        &self,
        request: ScreeningRequest,
    ) -> impl Future<Output = Result<Screening, Busy>> + Send;
}

/// Too much is asked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider has too much to do, try again")]
pub struct Busy;

/// Who the provider is.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// Its account.
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
    /// There would be a bid.
    Passed {
        /// What it would offer.
        offers: Vec<ResourceOffer>,
        /// What it would ask for per block.
        price: DecCoin,
    },
    /// There would be none, and all that speaks against it.
    Declined(Vec<String>),
}
