//! An account that sends messages and waits for their block, without a word.

use akash_chain::tx::{BroadcastMode, FeeRule, GasAdjustment, Message, Signer};
use akash_types::Address;
use anyhow::Context;

use super::maker::{Maker, Turn, broadcast_in_turn};
use super::network::Network;
use super::signer::AccountSigner;

/// An account, and what it takes to send something.
#[derive(Debug)]
pub(crate) struct Wallet<'a> {
    pub(crate) network: &'a Network,
    signer: AccountSigner,
    maker: Maker<'a>,
}

impl<'a> Wallet<'a> {
    pub(crate) fn new(
        network: &'a Network,
        signer: AccountSigner,
        chain_id: &'a str,
        fees: FeeRule,
        adjustment: GasAdjustment,
    ) -> Self {
        let maker =
            Maker { chain_id, fees, adjustment, granter: None, memo: "", timeout_height: 0 };
        Self { network, signer, maker }
    }

    pub(crate) fn address(&self) -> Address {
        self.signer.address()
    }

    /// Sends messages in one transaction and waits until a block has it.
    pub(crate) async fn send(&self, messages: &[Message]) -> anyhow::Result<()> {
        let Self { network, signer, maker } = self;
        let turn = next_turn(network, self.address()).await?;
        let (gas, turn) = maker.gas(network, messages, signer, turn).await?;
        let fee = maker.fee(gas)?;
        let signed = |turn| maker.sign(messages, &fee, signer, turn);
        let (tx, outcome) = broadcast_in_turn(network, BroadcastMode::Commit, turn, signed).await?;
        match outcome.refusal() {
            None => Ok(()),
            Some(refusal) => {
                let what = format!("transaction {} failed", tx.hash());
                Err(anyhow::Error::new(refusal).context(what))
            }
        }
    }
}

/// Number and sequence of an account, as the chain has them.
pub(crate) async fn next_turn(network: &Network, address: Address) -> anyhow::Result<Turn> {
    let account = network.query().account(address).await?.value;
    let account = account.with_context(|| {
        format!("account {address} is not on chain yet: it must receive something first")
    })?;
    Ok(Turn { number: account.number, sequence: account.sequence, free: true })
}
