//! The chain: a devnet node without its network, and who signs on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_chain::follow::BlockEffects;
use akash_chain::query::Query;
use akash_chain::tx::{Fee, FeeRule, Message, Refusal, TxPlan, Unsigned};
use akash_devnet::node::{Block, Chain as ChainFacts, History, Node};
use akash_devnet::state::{Genesis, State};
use akash_keys::SecretKey;
use akash_types::Address;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::decode;
use super::snapshot::{Snapshot, now};

/// Name of the chain.
pub(crate) const CHAIN_ID: &str = "simulation";
/// When it starts, in nanoseconds since 1970.
const START: i64 = 1_800_000_000_000_000_000;
/// What everybody has at the start, of each denomination.
const RICH: u128 = 1_000_000_000_000;

/// An account and its key.
#[derive(Clone, Debug)]
pub(crate) struct Wallet {
    pub(crate) key: SecretKey,
    pub(crate) address: Address,
}

impl Wallet {
    /// One of any number of wallets; `None` for a number whose digest is no key, which nobody has
    /// seen.
    pub(crate) fn numbered(number: u64) -> Option<Self> {
        let digest = Sha256::digest(format!("simulated wallet {number}"));
        let key = SecretKey::from_bytes(&digest).ok()?;
        Some(Self { address: key.public_key().address(), key })
    }
}

pub(crate) struct Chain {
    pub(crate) node: Node<State>,
    effects: BTreeMap<u64, Arc<BlockEffects>>,
    fee: FeeRule,
}

impl Chain {
    /// A chain before its first block, on which these accounts are rich.
    pub(crate) fn new(rich: &[Address]) -> Option<Self> {
        let coins: Vec<_> = ["uact", "uakt"]
            .iter()
            .filter_map(|denom| Some(akash_types::Coin::new(denom.parse().ok()?, RICH)))
            .collect();
        let accounts = rich.iter().map(|address| (*address, coins.clone())).collect();
        let genesis = Genesis::for_devnet(CHAIN_ID, START, accounts);
        let state = State::from_genesis(&genesis).ok()?;
        let facts = ChainFacts { retain_states: 60, ..ChainFacts::new(CHAIN_ID, 1, START) };
        let fee = FeeRule::parse("", "0.025uakt").ok()?;
        Some(Self { node: Node::new(facts, state), effects: BTreeMap::new(), fee })
    }

    /// The past as a node knows it that is so many blocks behind.
    pub(crate) fn history(&self, lag: u64) -> History<State> {
        match lag {
            0 => self.node.history().clone(),
            lag => self.node.history().behind(lag),
        }
    }

    /// Height of the newest block.
    pub(crate) const fn height(&self) -> u64 {
        self.node.history().latest()
    }

    /// Questions to the newest state.
    pub(crate) fn query(&self) -> Query<Snapshot> {
        let history = self.node.history();
        let state = history.state(history.latest()).unwrap_or_else(|| self.node.check_state());
        Snapshot::query(state.clone())
    }

    /// Makes a block `since` the start of the chain.
    pub(crate) fn make_block(&mut self, since: std::time::Duration) -> Arc<Block> {
        let nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        let block = self.node.produce_block(START.saturating_add(nanos));
        self.effects.insert(block.height(), Arc::new(decode::effects(&block)));
        block
    }

    pub(crate) fn effects(&self, height: u64) -> Arc<BlockEffects> {
        self.effects.get(&height).cloned().unwrap_or_default()
    }

    /// Account number, and the next sequence by blocks and mempool.
    pub(crate) fn account(&self, state: &State, address: Address) -> Option<(u64, u64)> {
        let answer = now(Snapshot::query(state.clone()).account(address))?;
        answer.ok()?.value.map(|account| (account.number, account.sequence))
    }

    /// Sends messages in one transaction, without those that the chain would refuse: those are
    /// given back with its words.
    pub(crate) fn send(
        &mut self,
        wallet: &Wallet,
        mut messages: Vec<Message>,
    ) -> Vec<(Message, String)> {
        let mut refused = Vec::new();
        let Some((number, sequence)) = self.account(self.node.check_state(), wallet.address) else {
            return refused;
        };
        while !messages.is_empty() {
            let plan = |fee| TxPlan {
                chain_id: CHAIN_ID,
                account_number: number,
                sequence,
                messages: &messages,
                fee,
                memo: "",
                timeout_height: 0,
            };
            let free = Fee { gas_limit: 1, ..Fee::default() };
            let Ok(unsigned) = Unsigned::new(&plan(&free), &wallet.key) else { return refused };
            match self.node.check_state().simulate(&unsigned.to_simulate()) {
                Ok(tried) => {
                    let gas_limit = tried.gas_used.saturating_mul(2).saturating_add(50_000);
                    let amount = self.fee.fee(gas_limit).unwrap_or_default();
                    let fee = Fee { amount, gas_limit, granter: None };
                    let Ok(unsigned) = Unsigned::new(&plan(&fee), &wallet.key) else { break };
                    let raw = unsigned.sign().raw().to_vec();
                    // A mempool that takes no more is a tenant's bad luck as well.
                    let _ = self.node.broadcast(Bytes::from(raw));
                    break;
                }
                Err(error) => {
                    let words = error.to_string();
                    let refusal = Refusal { codespace: String::new(), code: 0, log: words.clone() };
                    let index = refusal.message_index().unwrap_or(0);
                    if index >= messages.len() {
                        break;
                    }
                    refused.push((messages.remove(index), words));
                }
            }
        }
        refused
    }
}
