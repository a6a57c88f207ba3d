//! Parameters that governance sets on chain.

use std::time::Duration;

use crate::Coin;

/// Parameters of the market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketParams {
    /// Smallest deposit of a bid, of the time when there was one denomination; absent on chains
    /// that no longer set it.
    pub bid_min_deposit: Option<Coin>,
    /// How many bids an order takes.
    pub order_max_bids: u32,
    /// Smallest deposit of a bid, one per accepted denomination.
    pub bid_min_deposits: Vec<Coin>,
    /// Shortest reclamation window that may be asked for or offered.
    pub min_reclamation_window: Duration,
    /// Longest reclamation window that may be asked for or offered.
    pub max_reclamation_window: Duration,
}

/// Parameters of deployments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentParams {
    /// Smallest deposit of a deployment, one per accepted denomination.
    pub min_deposits: Vec<Coin>,
}
