//! What the lane asks its node.

use std::sync::Arc;
use std::time::Duration;

use akash_types::{
    Address, BidState, CertificateState, EscrowState, IntentId, LeaseId, LeaseState, Provider,
    Wanted,
};
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
use crate::query::{Answer, Node, Query, QueryError, Transport};
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

/// Whether a state holds for `owner`, as the node knows it now, and at which height; `None` where
/// the answers of several nodes do not fit together.
pub(super) async fn holds<T: Transport>(
    query: &Query<T>,
    owner: Address,
    wanted: &Wanted,
) -> Result<Option<Answer<bool>>, QueryError> {
    Ok(Some(match wanted {
        Wanted::Bid(bid) => query.bid(*bid).await?.map(|found| found.is_some()),
        Wanted::BidOver(bid) => query.bid(*bid).await?.map(|found| {
            let state = found.map(|found| found.bid.state);
            !matches!(state, Some(BidState::Open | BidState::Active))
        }),
        Wanted::Withdrawn { lease, since } => return is_withdrawn(query, *lease, *since).await,
        Wanted::Reclaiming(lease) => query
            .lease(*lease)
            .await?
            .map(|found| found.is_some_and(|found| found.lease.state != LeaseState::Active)),
        Wanted::CertificateValid { serial } => query
            .certificate(owner, serial, CertificateState::Valid)
            .await?
            .map(|found| found.is_some()),
        Wanted::CertificateRevoked { serial } => query
            .certificate(owner, serial, CertificateState::Revoked)
            .await?
            .map(|found| found.is_some()),
        Wanted::Provider(provider) => query
            .provider(provider.owner)
            .await?
            .map(|found| found.map(sorted) == Some(sorted(provider.as_ref().clone()))),
        Wanted::Unverifiable => Answer { value: false, height: None },
    }))
}

/// A payment that has ended was paid out. One that goes on was, if its account was settled since
/// and nothing was left on it.
///
/// The account comes first: whatever it was settled for until then has reached the payment by the
/// time that one is read. The other way round a block in between looks like a withdrawal.
async fn is_withdrawn<T: Transport>(
    query: &Query<T>,
    lease: LeaseId,
    since: u64,
) -> Result<Option<Answer<bool>>, QueryError> {
    let deployment = query.deployment(lease.deployment_id()).await?;
    let lease = query.lease(lease).await?;
    let heights = deployment.height.zip(lease.height);
    if heights.is_some_and(|(before, after)| after < before) {
        return Ok(None);
    }
    let height = heights.map(|(before, _)| before);
    let account = deployment.value.and_then(|deployment| deployment.account);
    let settled = account.is_some_and(|account| account.settled_at >= since);
    let payment = lease.value.and_then(|lease| lease.payment);
    let value = payment.is_some_and(|payment| {
        payment.state != EscrowState::Open
            || (settled && payment.balance.amount().truncate_int() == 0)
    });
    Ok(Some(Answer { value, height }))
}

/// The order of attributes says nothing.
fn sorted(mut provider: Provider) -> Provider {
    provider.attributes.sort();
    provider
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::Value;

    use super::*;
    use crate::query::{NoAnswer, Reply};

    const RECORDED: &str = include_str!("../../../../../../fixtures/chain/grpc.jsonl");
    const LEASE: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/101/1/1/\
                         akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    /// Nodes behind one address: each question is answered at the height that is next.
    struct Heights(std::sync::Mutex<Vec<u64>>);

    impl Transport for Heights {
        async fn unary(&self, path: &str, _: Vec<u8>) -> Result<Reply, NoAnswer> {
            let mut calls = RECORDED.lines().map(|line| serde_json::from_str(line).unwrap());
            let found = calls.find(|call: &Value| call["method"] == path && call["code"] == 0);
            let bytes = STANDARD.decode(found.unwrap()["response_b64"].as_str().unwrap()).unwrap();
            let height = Some(self.0.lock().unwrap().remove(0));
            Ok(Reply { bytes: bytes.into(), height })
        }
    }

    /// The recorded payment is open with nothing left on it; its account was settled at 117.
    #[tokio::test]
    async fn a_withdrawal_is_seen_only_by_nodes_that_do_not_go_back() {
        let lease: LeaseId = LEASE.parse().unwrap();
        for (since, heights, answer) in [
            (117, [170, 170], Some((true, 170))),
            (117, [170, 173], Some((true, 170))),
            (118, [170, 173], Some((false, 170))),
            (117, [173, 170], None),
        ] {
            let query = Query::new(Heights(heights.to_vec().into()));
            let wanted = Wanted::Withdrawn { lease, since };
            let found = holds(&query, lease.provider(), &wanted).await.unwrap();
            let found = found.map(|found| (found.value, found.height.unwrap()));
            assert_eq!(found, answer, "since {since} at {heights:?}");
        }
    }
}
