//! What a node says of a transaction that it was given.

use std::time::{Duration, UNIX_EPOCH};

use akash_types::Address;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::{Refusal, RefusalKind};
use super::config::GasSetting;
use super::effect::{Effect, TxRef};
use super::flight::{Flight, Look, Sent};
use super::hold::HoldReason;
use super::input::{Broadcasted, LaneBlock, OurTx, TxOutcome};
use super::machine::Lane;
use crate::follow::{FollowedBlock, TxOutcome as FollowedTx};
use crate::query::{BlockResults, Event, TxResult};

const FIRST_REPEAT: Duration = Duration::from_millis(250);
const LONGEST_REPEAT: Duration = Duration::from_secs(5);

impl Lane {
    pub(super) fn broadcast_answered(&mut self, tx: TxRef, attempt: u32, answer: Broadcasted) {
        let now = self.now;
        let Some(flight) = self.flights.of(tx) else { return };
        // Late answers to earlier attempts say less than what is known.
        if flight.attempt != attempt || flight.sent != Sent::Broadcasting {
            return;
        }
        match answer {
            Broadcasted::Accepted => {
                flight.sent = Sent::Resting;
                self.holds.accepted();
                if attempt == 1 {
                    self.sequence.fits();
                }
            }
            Broadcasted::Unknown => {
                let wait = FIRST_REPEAT.saturating_mul(1 << attempt.min(10)).min(LONGEST_REPEAT);
                flight.sent = Sent::Unknown { again_at: now.saturating_add(wait) };
            }
            Broadcasted::Refused(refusal) if refusal.kind() == RefusalKind::InCache => {
                flight.sent = Sent::Resting;
            }
            // No node has ever had it: its sequence and its intents are free.
            Broadcasted::Refused(refusal) if attempt == 1 => {
                let sequence = flight.sequence;
                if let Some(flight) = self.flights.remove(sequence) {
                    self.effects.push(Effect::Drop { tx });
                    self.refused(&flight, &refusal);
                }
            }
            // A node may have it from before. Blocks will tell.
            Broadcasted::Refused(refusal) => {
                flight.sent = Sent::Resting;
                match refusal.kind() {
                    RefusalKind::WrongSequence => self.sequence.want_after_misfit(now),
                    RefusalKind::MempoolFull => self.hold_for(&refusal),
                    _ => {}
                }
            }
        }
    }

    /// A transaction was refused before it was in anybody's mempool. Its sequence is used by the
    /// next one, and those already sent behind it are refused for theirs.
    fn refused(&mut self, flight: &Flight, refusal: &Refusal) {
        self.sequence.next = self.sequence.next.min(flight.sequence);
        let alone = flight.intents.len() == 1;
        let kind = refusal.kind();
        match kind {
            RefusalKind::WrongSequence | RefusalKind::TimedOut => {
                self.sequence.want_after_misfit(self.now);
            }
            RefusalKind::InsufficientFee
                if self.fees.raise(&refusal.log, self.config.fee_cap_percent) => {}
            RefusalKind::OutOfGas if matches!(self.config.gas, GasSetting::Auto(_)) => {
                self.gas.raise();
            }
            RefusalKind::MempoolFull
            | RefusalKind::InsufficientFee
            | RefusalKind::InsufficientFunds
            | RefusalKind::OutOfGas => self.hold_for(refusal),
            RefusalKind::BadSignature => {
                self.hold_for(refusal);
                // The account's number is part of what is signed.
                self.sequence.want();
            }
            RefusalKind::InCache => {}
            RefusalKind::TooLarge | RefusalKind::Other => {
                if let Some(reason) = Self::hold_for_text(refusal.message_index(), &refusal.log) {
                    self.holds.hold(reason, self.now);
                } else if let (true, Some(id)) = (alone, flight.intents.first()) {
                    self.at_fault(*id, refusal.codespace.clone(), refusal.code, &refusal.log);
                    return;
                } else {
                    self.halve(flight);
                }
            }
        }
        flight.intents.iter().for_each(|id| self.requeue(*id));
    }

    /// Lets the intents of a transaction go on in transactions half its size.
    pub(super) fn halve(&mut self, flight: &Flight) {
        let half = flight.intents.len().div_ceil(2);
        for id in &flight.intents {
            if let Some(entry) = self.queue.get_mut(*id) {
                entry.cap = entry.cap.min(half);
            }
        }
    }

    pub(super) fn hold_for(&mut self, refusal: &Refusal) {
        let log = refusal.log.clone();
        let reason = match refusal.kind() {
            RefusalKind::InsufficientFee => HoldReason::FeeTooLow { log },
            RefusalKind::InsufficientFunds => HoldReason::InsufficientFunds { log },
            RefusalKind::BadSignature => HoldReason::BadSignature { log },
            RefusalKind::OutOfGas => HoldReason::GasTooLow { log },
            _ => HoldReason::MempoolFull { log },
        };
        self.holds.hold(reason, self.now);
    }

    /// What a text about a whole transaction, not one of its messages, says of who pays for it.
    pub(super) fn hold_for_text(message_index: Option<usize>, text: &str) -> Option<HoldReason> {
        if message_index.is_some() {
            return None;
        }
        let log = text.to_owned();
        if text.contains("does not allow to pay fees for") || text.contains("fee allowance") {
            Some(HoldReason::FeeGrant { log })
        } else if text.contains("insufficient funds")
            || (text.contains("fee payer address") && text.contains("does not exist"))
        {
            Some(HoldReason::InsufficientFunds { log })
        } else {
            None
        }
    }

    /// Gives the same bytes to a node again.
    pub(super) fn send_again(&mut self, sequence: u64) {
        let found = self.flights.iter_mut().find(|flight| flight.sequence == sequence);
        let Some(flight) = found else { return };
        flight.attempt = flight.attempt.saturating_add(1);
        flight.sent = Sent::Broadcasting;
        let (tx, attempt) = (flight.tx, flight.attempt);
        self.effects.push(Effect::Rebroadcast { tx, attempt });
    }

    pub(super) fn send_again_if_due(&mut self) {
        let now = self.now;
        let due = self.flights.sequences(
            |flight| matches!(flight.sent, Sent::Unknown { again_at } if again_at <= now),
        );
        due.into_iter().for_each(|sequence| self.send_again(sequence));
    }

    /// When the next transaction is given again, or looked for again.
    pub(super) fn next_repeat(&self) -> Option<Duration> {
        let times = self.flights.iter().flat_map(|flight| {
            let again = match flight.sent {
                Sent::Unknown { again_at } => Some(again_at),
                Sent::Broadcasting | Sent::Resting => None,
            };
            let look = match flight.look {
                Look::Later { ask_at } => Some(ask_at),
                Look::Needless | Look::Asked | Look::Absent => None,
            };
            [again, look].into_iter().flatten()
        });
        times.min()
    }
}

impl LaneBlock {
    /// What a block did with transactions of `account`. Every transaction that got as far as its
    /// messages says whose sequence it used, also one that failed; one that did not used none.
    pub fn of(results: &BlockResults, unix_time: u64, account: Address) -> Self {
        let prefix = format!("{account}/");
        let txs = results.txs.iter().filter_map(|result| ours(result, &prefix)).collect();
        Self { height: results.height, unix_time, txs }
    }

    /// The same of a block that was followed.
    pub fn of_followed(block: &FollowedBlock, account: Address) -> Self {
        let since = block.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let txs = block.effects.txs.iter().filter_map(|tx| followed(tx, account)).collect();
        Self { height: block.height, unix_time: since.as_secs(), txs }
    }
}

fn followed(tx: &FollowedTx, account: Address) -> Option<OurTx> {
    let place = tx.signers.iter().position(|signer| signer.address == account)?;
    let sequence = tx.signers.get(place)?.sequence;
    // A transaction with a signature that cannot be read used its sequence up all the same.
    let signature = tx.signatures.get(place).and_then(|text| STANDARD.decode(text).ok());
    let refusal = (!tx.is_ok()).then(|| Refusal {
        codespace: tx.codespace.clone(),
        code: tx.code,
        log: tx.log.clone(),
    });
    let result = TxOutcome { refusal, gas_used: tx.gas_used };
    Some(OurTx { sequence, signature: signature.unwrap_or_default(), result })
}

fn ours(result: &TxResult, prefix: &str) -> Option<OurTx> {
    let mut values = result.events.iter().filter(|event| event.kind == "tx");
    let sequence = values
        .find_map(|event| event.attribute("acc_seq")?.strip_prefix(prefix)?.parse::<u64>().ok())?;
    // The signature of a signer follows its sequence.
    let signature = values.find_map(|event: &Event| event.attribute("signature"))?;
    let refusal = (!result.is_ok()).then(|| Refusal {
        codespace: result.codespace.clone(),
        code: result.code,
        log: result.log.clone(),
    });
    Some(OurTx {
        sequence,
        signature: STANDARD.decode(signature).ok()?,
        result: TxOutcome { refusal, gas_used: result.gas_used },
    })
}
