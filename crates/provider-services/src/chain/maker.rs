//! How a transaction is made and sent: gas, fee, signature, broadcast.

use akash_chain::tx::{
    Broadcast, BroadcastMode, Fee, FeeRule, GasAdjustment, Message, RefusalKind, SignedTx,
    SimulateError, TxPlan, Unsigned, Wait, broadcast, simulate,
};
use akash_types::Address;

use super::keyring::AccountSigner;
use super::network::Network;

/// Gas for which the fee of a simulated transaction is computed: the fee only has to be there.
const ASSUMED_GAS: u64 = 200_000;

/// Number and sequence of the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) number: u64,
    pub(crate) sequence: u64,
    /// Whether the sequence may be another one, because nobody asked for this one.
    pub(crate) free: bool,
}

/// What holds for every transaction of a command.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) chain_id: &'a str,
    pub(crate) fees: FeeRule,
    pub(crate) adjustment: GasAdjustment,
    pub(crate) granter: Option<Address>,
    pub(crate) memo: &'a str,
    pub(crate) timeout_height: u64,
}

impl Maker<'_> {
    /// What a transaction with this much gas costs.
    pub(crate) fn fee(&self, gas_limit: u64) -> anyhow::Result<Fee> {
        Ok(Fee { amount: self.fees.fee(gas_limit)?, gas_limit, granter: self.granter })
    }

    /// The gas limit, and the turn with the sequence that the simulation found to be due.
    pub(crate) async fn gas(
        &self,
        network: &Network,
        messages: &[Message],
        signer: &AccountSigner,
        mut turn: Turn,
    ) -> anyhow::Result<(u64, Turn)> {
        let fee = self.fee(ASSUMED_GAS)?;
        let mut again = turn.free;
        loop {
            let raw = Unsigned::new(&self.plan(messages, &fee, turn), signer)?.to_simulate();
            match simulate(network.query(), raw).await {
                Ok(simulation) => return Ok((self.adjustment.apply(simulation.gas_used)?, turn)),
                Err(SimulateError::Refused(refusal))
                    if again && refusal.sequence_mismatch.is_some() =>
                {
                    // Others of this account wait to be included.
                    let due = refusal.sequence_mismatch.map(|mismatch| mismatch.expected);
                    turn.sequence = due.unwrap_or(turn.sequence);
                    again = false;
                }
                Err(error) => return Err(anyhow::Error::new(error).context("nothing was sent")),
            }
        }
    }

    pub(crate) fn sign(
        &self,
        messages: &[Message],
        fee: &Fee,
        signer: &AccountSigner,
        turn: Turn,
    ) -> anyhow::Result<SignedTx> {
        Ok(Unsigned::new(&self.plan(messages, fee, turn), signer)?.sign())
    }

    fn plan<'a>(&'a self, messages: &'a [Message], fee: &'a Fee, turn: Turn) -> TxPlan<'a> {
        TxPlan {
            chain_id: self.chain_id,
            account_number: turn.number,
            sequence: turn.sequence,
            messages,
            fee,
            memo: self.memo,
            timeout_height: self.timeout_height,
        }
    }
}

/// Sends; once more if others of this account were faster and the node says which sequence is due.
pub(crate) async fn broadcast_in_turn(
    network: &Network,
    mode: BroadcastMode,
    turn: Turn,
    signed: impl Fn(Turn) -> anyhow::Result<SignedTx>,
) -> anyhow::Result<(SignedTx, Broadcast)> {
    let tx = signed(turn)?;
    let outcome = broadcast(network.node(), &tx, mode, Wait::default()).await?;
    let due = outcome
        .refusal()
        .filter(|refusal| refusal.kind() == RefusalKind::WrongSequence && turn.free)
        .and_then(|refusal| refusal.sequence_mismatch());
    let Some(due) = due else { return Ok((tx, outcome)) };
    let tx = signed(Turn { sequence: due.expected, ..turn })?;
    let outcome = broadcast(network.node(), &tx, mode, Wait::default()).await?;
    Ok((tx, outcome))
}
