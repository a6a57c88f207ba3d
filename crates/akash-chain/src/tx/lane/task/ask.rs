//! What the lane asks its node.

use std::sync::Arc;
use std::time::Duration;

use akash_types::IntentId;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::super::message::bank;
use super::super::super::{
    Broadcast, BroadcastMode, Fee, Refusal, SignedTx, Signer, SimulateError, SimulationRefusal,
    TxHash, TxPlan, Unsigned, Wait, broadcast, simulate,
};
use super::super::{
    AccountRead, Broadcasted, Input, LaneConfig, LookedUp, Simulated, TxOutcome, TxRef, Verified,
};
use super::verify::holds;
use crate::query::{Node, Query, Transport};
use crate::transport::chain as in_words;

/// How long an answer is waited for. Blocks come every few seconds: what is later is no help.
const PATIENCE: Duration = Duration::from_secs(10);
/// Gas of a transaction that is never executed.
const PROBE_GAS: u64 = 200_000;

/// What came of an effect.
pub(super) enum Heard {
    Input(Input),
    Account { number: u64, read: AccountRead },
}

/// The node, and what is needed to ask it.
pub(super) struct Source<T> {
    pub(super) query: Query<T>,
    pub(super) node: Node,
    pub(super) chain_id: String,
    pub(super) config: LaneConfig,
    pub(super) probe: Option<Probe>,
}

/// A transaction with a sequence that no account reaches: whoever looks at it says which one is
/// due, and nobody executes it.
pub(super) struct Probe {
    to_simulate: Vec<u8>,
    signed: SignedTx,
}

pub(super) fn probe<S: Signer>(signer: &S, chain_id: &str, config: &LaneConfig) -> Option<Probe> {
    let account = signer.address();
    let message = bank::send(account, account, vec!["1uakt".parse().ok()?]).ok()?;
    let amount = config.fee.fee(PROBE_GAS).unwrap_or_default();
    let fee = Fee { amount, gas_limit: PROBE_GAS, granter: config.fee_granter };
    let plan = |fee| TxPlan {
        chain_id,
        // Not looked at: the sequence is wrong before the signature is.
        account_number: 0,
        sequence: u64::MAX,
        messages: std::slice::from_ref(&message),
        fee,
        memo: "",
        timeout_height: 0,
    };
    // Simulated without a fee: who cannot pay has a sequence all the same.
    let free = Fee { gas_limit: PROBE_GAS, ..Fee::default() };
    let to_simulate = Unsigned::new(&plan(&free), signer).ok()?.to_simulate();
    let signed = Unsigned::new(&plan(&fee), signer).ok()?.sign();
    Some(Probe { to_simulate, signed })
}

impl<T: Transport> Source<T> {
    /// First what blocks say, then what the mempool adds: in that order a block in between makes
    /// it look as if more waited, never less.
    pub(super) async fn read_account(&self) -> Heard {
        match timeout(PATIENCE, self.account()).await {
            Ok(Ok((number, read))) => Heard::Account { number, read },
            Ok(Err(reason)) => Heard::Input(Input::AccountUnread { reason }),
            Err(_) => {
                let reason = format!("no answer within {PATIENCE:?}");
                Heard::Input(Input::AccountUnread { reason })
            }
        }
    }

    async fn account(&self) -> Result<(u64, AccountRead), String> {
        let lowest = self.fresh_height().await?;
        let address = self.config.account;
        let answer = self.query.account(address).await.map_err(|error| in_words(&error))?;
        let account = answer.value.ok_or_else(|| {
            format!("account {address} does not exist; it does once somebody sends it coins")
        })?;
        // The node that answers this need not be the one that said its height.
        let height = answer.height.unwrap_or(lowest);
        let pending = self.pending().await?;
        let committed = account.sequence;
        Ok((account.number, AccountRead { committed, pending, height }))
    }

    /// Height of the node's newest block, if the node is of use.
    async fn fresh_height(&self) -> Result<u64, String> {
        let status = self.node.status().await.map_err(|error| in_words(&error))?;
        if status.catching_up {
            return Err("the node is catching up with the chain".to_owned());
        }
        if status.chain_id != self.chain_id {
            let (has, wants) = (status.chain_id, &self.chain_id);
            return Err(format!("the node is on chain {has}, expected {wants}"));
        }
        Ok(status.latest_height)
    }

    /// The sequence that the mempool waits for.
    async fn pending(&self) -> Result<u64, String> {
        let probe = self.probe.as_ref().ok_or("no transaction can be built to ask with")?;
        let simulated = simulate(&self.query, probe.to_simulate.clone()).await;
        if let Err(SimulateError::Refused(refusal)) = &simulated
            && let Some(mismatch) = refusal.sequence_mismatch
        {
            return Ok(mismatch.expected);
        }
        // A node that does not simulate checks what it is given, which costs nothing either.
        let given =
            broadcast(&self.node, &probe.signed, BroadcastMode::Sync, Wait::default()).await;
        let refusal = given.map_err(|error| in_words(&error))?.refusal();
        let mismatch = refusal.as_ref().and_then(Refusal::sequence_mismatch);
        mismatch.map(|mismatch| mismatch.expected).ok_or_else(|| {
            let said = refusal.map_or_else(|| "nothing".to_owned(), |refusal| refusal.to_string());
            format!("the node does not say which sequence is due: {said}")
        })
    }

    pub(super) async fn simulate(&self, tx: TxRef, raw: Vec<u8>) -> Heard {
        let answer = match timeout(PATIENCE, simulate(&self.query, raw)).await {
            Ok(Ok(simulation)) => Simulated::Gas(simulation.gas_used),
            Ok(Err(SimulateError::Refused(refusal))) => Simulated::Refused(refusal),
            Ok(Err(SimulateError::Query(_))) | Err(_) => Simulated::Unavailable,
        };
        Heard::Input(Input::Simulated { tx, answer })
    }

    pub(super) async fn look_up(&self, tx: TxRef, hash: Option<TxHash>) -> Heard {
        let answer = match hash {
            None => LookedUp::Absent,
            Some(hash) => match timeout(PATIENCE, self.node.tx(hash)).await {
                Ok(Ok(Some(found))) => {
                    let result = found.result;
                    let refusal = (!result.is_ok()).then_some(Refusal {
                        codespace: result.codespace,
                        code: result.code,
                        log: result.log,
                    });
                    let result = TxOutcome { refusal, gas_used: result.gas_used };
                    LookedUp::Found { height: found.height, result }
                }
                Ok(Ok(None)) => LookedUp::Absent,
                Ok(Err(_)) | Err(_) => LookedUp::Unavailable,
            },
        };
        Heard::Input(Input::LookedUp { tx, answer })
    }

    pub(super) async fn verify(&self, intent: IntentId, wanted: akash_types::Wanted) -> Heard {
        let question = async {
            // Before the question, so that an answer of the same node knows at least this height.
            let lowest = self.fresh_height().await.ok()?;
            let answer = holds(&self.query, self.config.owner, &wanted).await.ok()??;
            let height = answer.height.unwrap_or(lowest);
            Some(match answer.value {
                true => Verified::Holds { height },
                false => Verified::Open { height },
            })
        };
        let answer = timeout(PATIENCE, question).await.ok().flatten();
        let answer = answer.unwrap_or(Verified::Unavailable);
        Heard::Input(Input::Verified { intent, answer })
    }
}

/// What becomes of a transaction that cannot even be built.
pub(super) fn not_built(refusal: Refusal) -> Simulated {
    Simulated::Refused(SimulationRefusal {
        text: refusal.log,
        message_index: None,
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    })
}

/// Gives transactions to the node one after the other: each needs the one before it.
pub(super) async fn broadcast_in_order<T: Transport>(
    source: Arc<Source<T>>,
    mut txs: mpsc::UnboundedReceiver<(TxRef, u32, SignedTx)>,
    heard: mpsc::UnboundedSender<Heard>,
) {
    while let Some((tx, attempt, signed)) = txs.recv().await {
        let sent = broadcast(&source.node, &signed, BroadcastMode::Sync, Wait::default());
        let answer = match timeout(PATIENCE, sent).await {
            Ok(Ok(Broadcast::Pending | Broadcast::Delivered { .. })) => Broadcasted::Accepted,
            Ok(Ok(Broadcast::Refused(refusal))) => Broadcasted::Refused(refusal),
            Ok(Err(_)) | Err(_) => Broadcasted::Unknown,
        };
        if heard.send(Heard::Input(Input::BroadcastAnswered { tx, attempt, answer })).is_err() {
            return;
        }
    }
}
