//! The chain's rules as a state machine.
//!
//! [`State`] holds everything the chain keeps. Blocks and transactions go in as bytes and numbers,
//! results and events come out; the same input gives the same output, bit for bit. There is no IO,
//! no clock and no randomness here, and nothing may know the network or who asks.
//!
//! ```text
//! begin_block ─ deliver_tx* ─ end_block ─ commit ┐      check_tx   on a copy, reset at commit
//!      └────────────────────────────────────────┘      simulate, query   at any time
//! ```
//!
//! All tables are persistent trees, so a copy of the state costs a few reference counts: that is
//! how a failed transaction is undone, how a simulation runs on a shared state, and how a node
//! keeps a second state for CheckTx.
//!
//! Left out of the real chain: inflation, staking and its rewards (fees go to the distribution
//! module and stay there), governance, the burn-mint exchange (so no debt in `uact` is ever paid in
//! `uakt`), IBC and contracts. Parameters, and the price of the oracle, are those of genesis.

mod address;
mod ante;
mod audit;
mod auth;
mod authz;
mod bank;
mod cert;
mod coins;
mod deployment;
mod error;
mod escrow;
mod events;
mod feegrant;
mod gas;
mod genesis;
mod keys;
mod market;
mod msg;
mod provider;
mod query;
mod run;
mod tables;
mod tx;

use std::sync::Arc;

use akash_types::Coin;
use sha2::{Digest, Sha256};

pub use error::{GrpcCode, TxError};
pub use events::Event;
pub use genesis::{Genesis, GenesisError, Params};
pub use query::QueryError;
pub use run::{BlockInfo, SimulateError, Simulated};
pub use tx::TxResult;

use auth::{DISTRIBUTION, FEE_COLLECTOR};
use gas::Gas;
use run::{Env, Exec};
use tables::Tables;

/// Everything the chain keeps, at one point of its life. Cheap to clone.
#[derive(Clone)]
pub struct State {
    tables: Tables,
    env: Arc<Env>,
    block: BlockInfo,
    /// Digest of everything since the last commit.
    changes: Sha256,
    app_hash: [u8; 32],
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("chain_id", &self.env.chain_id)
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}

impl State {
    /// The state before the first block.
    pub fn from_genesis(genesis: &Genesis) -> Result<Self, GenesisError> {
        if genesis.chain_id.is_empty() {
            return Err(GenesisError::NoChainId);
        }
        let Some(height) = genesis.initial_height.checked_sub(1) else {
            return Err(GenesisError::HeightZero);
        };
        let mut tables = Tables::default();
        let mut changes = Sha256::new();
        changes.update(genesis.chain_id.as_bytes());
        for (address, coins) in &genesis.accounts {
            let address = *address;
            if tables.accounts.contains(&address) {
                return Err(GenesisError::DuplicateAccount { address });
            }
            if let Some(module) = auth::module_of(address) {
                return Err(GenesisError::ModuleAccount { address, module: module.name });
            }
            tables.ensure_account(address);
            let mut held = coins::Coins::default();
            for coin in coins {
                let too_much = |coin: &Coin| GenesisError::TooMuch { denom: coin.denom().clone() };
                held = held.plus(coin).ok_or_else(|| too_much(coin))?;
                tables.supply = tables.supply.plus(coin).ok_or_else(|| too_much(coin))?;
            }
            changes.update(format!("{address}={held};").as_bytes());
            tables.balances.insert(address, held);
        }
        for module in auth::MODULES {
            if let Some(address) = address::module(module.name) {
                tables.ensure_account(address);
            }
        }
        let block =
            BlockInfo { height, time_unix_nanos: genesis.time_unix_nanos, proposer: [0; 20] };
        let env = Env {
            chain_id: genesis.chain_id.clone(),
            params: genesis.params.clone(),
            initial_height: genesis.initial_height,
        };
        let mut state = Self { tables, env: Arc::new(env), block, changes, app_hash: [0; 32] };
        state.commit();
        Ok(state)
    }

    /// Begins a block; what happens before its transactions.
    pub fn begin_block(&mut self, block: BlockInfo) -> Vec<Event> {
        self.block = block;
        self.changes.update(block.height.to_le_bytes());
        self.changes.update(block.time_unix_nanos.to_le_bytes());
        self.changes.update(block.proposer);
        let mut exec = Exec::new(&self.tables, &self.env, block, Gas::unlimited());
        let fees = address::module(FEE_COLLECTOR)
            .and_then(|collector| Some((collector, exec.tables.balances.get(&collector)?.clone())));
        if let Some((collector, fees)) = fees
            && !fees.is_empty()
            && exec.pay_module(collector, DISTRIBUTION, &fees).is_ok()
        {
            self.tables = exec.tables;
            for event in &mut exec.events {
                event.push("mode", "BeginBlock");
            }
            return exec.events;
        }
        Vec::new()
    }

    /// Ends a block. Nothing of the market or of escrow happens by itself, so nothing happens.
    pub fn end_block(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// Makes the block final; the digest of the chain up to here.
    ///
    /// It covers the block's height, time and proposer, and every transaction with its result and
    /// events: whoever applies the same blocks by the same rules gets the same digest.
    pub fn commit(&mut self) -> [u8; 32] {
        let changes = std::mem::take(&mut self.changes).finalize();
        let chained = Sha256::new().chain_update(self.app_hash).chain_update(changes).finalize();
        self.app_hash = chained.into();
        self.app_hash
    }

    pub const fn app_hash(&self) -> [u8; 32] {
        self.app_hash
    }

    /// The block that is being made, or was made last.
    pub const fn block(&self) -> BlockInfo {
        self.block
    }

    /// Height of the block that is being made, or was made last.
    pub const fn height(&self) -> u64 {
        self.block.height
    }

    pub fn initial_height(&self) -> u64 {
        self.env.initial_height
    }

    pub fn chain_id(&self) -> &str {
        &self.env.chain_id
    }

    pub fn params(&self) -> &Params {
        &self.env.params
    }
}
