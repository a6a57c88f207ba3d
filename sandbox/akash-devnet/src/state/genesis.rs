//! What a chain starts with.

use std::time::Duration;

use akash_types::{Address, Coin, Dec, Denom, DeploymentParams, MarketParams};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// Name of the chain; part of every signature.
    pub chain_id: String,
    /// Height of the first block, from 1.
    pub initial_height: u64,
    /// When the chain starts, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    /// Who holds what; account numbers follow this order.
    pub accounts: Vec<(Address, Vec<Coin>)>,
    pub params: Params,
}

/// Parameters of the modules and of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Least price of a unit of gas in `uakt`; the node refuses cheaper transactions in CheckTx.
    pub min_gas_price: Dec,
    pub max_memo_characters: u64,
    /// Most signatures of a transaction.
    pub tx_sig_limit: u64,
    /// Denominations that cannot be sent from account to account.
    pub send_disabled: Vec<Denom>,
    pub market: MarketParams,
    pub deployment: DeploymentParams,
    /// What the verification module says of itself, on a chain that has one. Bids are not compared.
    pub verification_active: Option<bool>,
    /// What the oracle says that 1 AKT is worth in USD.
    pub akt_price: Option<Dec>,
}

impl Genesis {
    /// A chain with the parameters of a recorded v2.1.0 network, starting at height 1.
    pub fn for_devnet(
        chain_id: impl Into<String>,
        time_unix_nanos: i64,
        accounts: Vec<(Address, Vec<Coin>)>,
    ) -> Self {
        let chain_id = chain_id.into();
        let params = Params::default();
        Self { chain_id, initial_height: 1, time_unix_nanos, accounts, params }
    }
}

impl Default for Params {
    /// The parameters of a recorded v2.1.0 network.
    fn default() -> Self {
        Self {
            // 0.025
            min_gas_price: Dec::from_scaled(25_000_000_000_000_000),
            max_memo_characters: 256,
            tx_sig_limit: 7,
            send_disabled: coins(&[("uact", 0)]).iter().map(|coin| coin.denom().clone()).collect(),
            market: MarketParams {
                bid_min_deposit: coins(&[("uakt", 500_000)]).into_iter().next(),
                order_max_bids: 20,
                bid_min_deposits: coins(&[("uact", 500_000), ("uakt", 500_000)]),
                min_reclamation_window: Duration::from_hours(1),
                max_reclamation_window: Duration::from_hours(720),
            },
            deployment: DeploymentParams {
                min_deposits: coins(&[("uakt", 500_000), ("uact", 500_000)]),
            },
            verification_active: None,
            akt_price: None,
        }
    }
}

/// Coins of denominations that are known to be valid.
fn coins(coins: &[(&str, u128)]) -> Vec<Coin> {
    let coin = |&(denom, amount): &(&str, u128)| Some(Coin::new(denom.parse().ok()?, amount));
    coins.iter().filter_map(coin).collect()
}

/// Why no chain can start like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    #[error("the chain id is empty")]
    NoChainId,
    #[error("the initial height is 0, expected 1 or more")]
    HeightZero,
    #[error("account {address} is listed twice")]
    DuplicateAccount { address: Address },
    #[error("account {address} belongs to module {module}")]
    ModuleAccount { address: Address, module: &'static str },
    #[error("too much {denom} is given out")]
    TooMuch { denom: Denom },
}
