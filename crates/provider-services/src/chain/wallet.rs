//! An account that sends messages and waits for their block, without a word.

use akash_chain::tx::{
    Broadcast, BroadcastMode, Fee, FeeRule, GasAdjustment, Message, RefusalKind, SignedTx, Signer,
    SimulateError, TxPlan, Unsigned, Wait, broadcast, simulate,
};
use akash_types::Address;
use anyhow::Context;

use super::network::Network;
use super::signer::AccountSigner;

/// Gas for which the fee of a simulated transaction is computed: the fee only has to be there.
const ASSUMED_GAS: u64 = 200_000;

/// An account, and what it takes to send something.
#[derive(Debug)]
pub(crate) struct Wallet<'a> {
    pub(crate) network: &'a Network,
    pub(crate) signer: AccountSigner,
    pub(crate) chain_id: &'a str,
    pub(crate) fees: FeeRule,
    pub(crate) adjustment: GasAdjustment,
}

impl Wallet<'_> {
    /// Whose it is.
    pub(crate) fn address(&self) -> Address {
        self.signer.address()
    }

    /// Sends messages in one transaction and waits until a block has it. Where others of this
    /// account were faster, it is made again with the sequence that the node says is due.
    ///
    /// # Errors
    ///
    /// When it was refused, or it is not known what became of it.
    pub(crate) async fn send(&self, messages: &[Message]) -> anyhow::Result<()> {
        let address = self.address();
        let account = self.network.query().account(address).await?.value;
        let account = account.with_context(|| {
            format!("account {address} is not on chain yet: it must receive something first")
        })?;
        let turn = |sequence| Turn { number: account.number, sequence };
        let (gas, sequence) = self.gas(messages, turn(account.sequence)).await?;
        let fee = self.fee(gas)?;
        let mut tx = self.signed(messages, &fee, turn(sequence))?;
        let mut outcome = self.broadcast(&tx).await?;
        let due = outcome
            .refusal()
            .filter(|refusal| refusal.kind() == RefusalKind::WrongSequence)
            .and_then(|refusal| refusal.sequence_mismatch());
        if let Some(due) = due {
            tx = self.signed(messages, &fee, turn(due.expected))?;
            outcome = self.broadcast(&tx).await?;
        }
        match outcome.refusal() {
            None => Ok(()),
            Some(refusal) => {
                let what = format!("transaction {} failed", tx.hash());
                Err(anyhow::Error::new(refusal).context(what))
            }
        }
    }

    async fn broadcast(&self, tx: &SignedTx) -> anyhow::Result<Broadcast> {
        let mode = BroadcastMode::Commit;
        Ok(broadcast(self.network.node(), tx, mode, Wait::default()).await?)
    }

    /// The gas limit, and the sequence that the simulation found to be due.
    async fn gas(&self, messages: &[Message], mut turn: Turn) -> anyhow::Result<(u64, u64)> {
        let fee = self.fee(ASSUMED_GAS)?;
        let mut again = true;
        loop {
            let raw = Unsigned::new(&self.plan(messages, &fee, turn), &self.signer)?.to_simulate();
            match simulate(self.network.query(), raw).await {
                Ok(simulation) => {
                    return Ok((self.adjustment.apply(simulation.gas_used)?, turn.sequence));
                }
                Err(SimulateError::Refused(refusal)) if again => {
                    let Some(due) = refusal.sequence_mismatch else {
                        let error = SimulateError::Refused(refusal);
                        return Err(anyhow::Error::new(error).context("nothing was sent"));
                    };
                    turn.sequence = due.expected;
                    again = false;
                }
                Err(error) => return Err(anyhow::Error::new(error).context("nothing was sent")),
            }
        }
    }

    fn fee(&self, gas_limit: u64) -> anyhow::Result<Fee> {
        Ok(Fee { amount: self.fees.fee(gas_limit)?, gas_limit, granter: None })
    }

    fn signed(&self, messages: &[Message], fee: &Fee, turn: Turn) -> anyhow::Result<SignedTx> {
        Ok(Unsigned::new(&self.plan(messages, fee, turn), &self.signer)?.sign())
    }

    fn plan<'a>(&'a self, messages: &'a [Message], fee: &'a Fee, turn: Turn) -> TxPlan<'a> {
        TxPlan {
            chain_id: self.chain_id,
            account_number: turn.number,
            sequence: turn.sequence,
            messages,
            fee,
            memo: "",
            timeout_height: 0,
        }
    }
}

/// Number and sequence of the sender.
#[derive(Clone, Copy, Debug)]
struct Turn {
    number: u64,
    sequence: u64,
}
