//! Orders, as the chain holds them.

use std::time::Duration;

use crate::{GroupSpec, OrderId, OrderState};

/// An order: a group that looks for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which one.
    pub id: OrderId,
    /// Its state.
    pub state: OrderState,
    /// What it asks for.
    pub spec: GroupSpec,
    /// Height at which it was created.
    pub created_at: u64,
    /// The shortest reclamation window that a bid must offer; absent if none is asked for.
    pub reclamation_min_window: Option<Duration>,
}
