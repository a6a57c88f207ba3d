//! The balance checker: what it is told, and what it wants done.

use akash_types::{Action, Class, DeploymentId, Intent, Outcome};

use crate::chain::{AccountRead, ChainQuery};
use crate::effect::{Effect, Fact};
use crate::engine::intents::{Begun, IntentKey};
use crate::engine::{Engine, Timer};
use crate::escrow::{
    EscrowEffect, EscrowInput, EscrowNote, Funds, WalletState, WithdrawOutcome, WithdrawReason,
};
use crate::input::TxEnd;
use crate::journal::{Decision, Subject};
use crate::lease::LeaseRecord;

impl Engine {
    pub(crate) fn escrow(&mut self, input: EscrowInput) {
        for effect in self.escrow.handle(self.now, self.head.head(), input) {
            self.escrow_effect(effect);
        }
    }

    pub(crate) fn escrow_block(&mut self) {
        self.escrow(EscrowInput::Tick);
    }

    pub(crate) fn escrow_tick(&mut self) {
        self.escrow(EscrowInput::Tick);
    }

    pub(crate) fn account_read(
        &mut self,
        deployment: DeploymentId,
        read: AccountRead,
        height: u64,
    ) {
        self.payments_read(deployment, &read.payments);
        self.escrow(EscrowInput::AccountRead { deployment, height, read });
    }

    pub(crate) fn wallet_read(&mut self, funds: Funds, height: u64) {
        self.publish(Fact::Balance { coins: funds.provider.clone(), height });
        self.escrow(EscrowInput::WalletRead { height, funds });
    }

    fn escrow_effect(&mut self, effect: EscrowEffect) {
        match effect {
            EscrowEffect::ReadAccount(deployment) => self.ask(ChainQuery::Account(deployment)),
            EscrowEffect::ReadWallet => self.ask(ChainQuery::Wallet),
            EscrowEffect::Withdraw { lease, why } => {
                let order = lease.order_id();
                // Read as over once: its payment has ended with it, and the second reading is near.
                // What does not run here is not collected for: a withdrawal would prove to a later
                // run that it did.
                let known = self.records.lease(order);
                let unfit = |lease: &LeaseRecord| !lease.is_alive() || lease.waits_unwatched();
                let is_left_over = matches!(why, WithdrawReason::LeftOpen { .. });
                if !self.may_act() || (!is_left_over && known.is_some_and(unfit)) {
                    let outcome = WithdrawOutcome::NothingToDo;
                    return self.escrow(EscrowInput::WithdrawEnded { lease, outcome });
                }
                if let Begun::Now(id) = self.intents.begin(self.now, IntentKey::Withdraw(order)) {
                    self.note_order(order, Decision::Withdraw { why: why.to_string() });
                    let action = Action::Withdraw { lease };
                    let intent = Intent::new(id, action, self.head.height());
                    self.out.push(Effect::Submit(intent.of_class(Class::Withdraw)));
                }
            }
            EscrowEffect::ForgetWithdraw { lease } => {
                if let Some(id) = self.intents.id_of(IntentKey::Withdraw(lease.order_id())) {
                    self.out.push(Effect::Forget(id));
                }
            }
            EscrowEffect::LooksOver { lease, height } => {
                let order = lease.order_id();
                if self.records.contains(order) {
                    self.ask_at_least(ChainQuery::Standing(order), height);
                }
            }
            EscrowEffect::Earned(earning) => {
                let (lease, amount) = (earning.lease, earning.received);
                let shown = amount.to_string();
                self.note_order(lease.order_id(), Decision::Earned { amount: shown });
                self.publish(Fact::Earned { lease, amount });
            }
            EscrowEffect::Settled(total) => {
                let amount = total.received.to_string();
                self.note_order(total.lease.order_id(), Decision::Earned { amount });
            }
            EscrowEffect::Wallet(state) => self.wallet_changed(state),
            EscrowEffect::Note(note) => {
                let (subject, what) = words(&note);
                self.note(subject, Decision::Escrow { what });
                match note {
                    EscrowNote::RanDry { deployment, since } => {
                        self.funds_changed(deployment, true, Some(since));
                    }
                    EscrowNote::FundedAgain { deployment, dry_at } => {
                        self.funds_changed(deployment, false, dry_at);
                    }
                    _ => {}
                }
            }
            EscrowEffect::WakeAt(moment) => self.schedule.timers.set(Timer::Escrow, moment),
        }
    }

    /// The account of a deployment cannot pay any more, or can again: that concerns all its leases.
    fn funds_changed(&mut self, deployment: DeploymentId, dry: bool, dry_at: Option<u64>) {
        let leases = self.records.leases();
        let leases: Vec<_> = leases
            .filter(|lease| lease.is_alive() && lease.id.deployment_id() == deployment)
            .map(|lease| lease.id)
            .collect();
        for lease in leases {
            self.publish(Fact::LeaseFunds { lease, dry, dry_at });
        }
    }

    fn wallet_changed(&mut self, state: WalletState) {
        let can_bid = state.allows_bids();
        self.note(Subject::Provider, Decision::Wallet { state: state.to_string() });
        self.publish(Fact::Wallet(state));
        if can_bid {
            self.reevaluate_pending();
        }
    }

    pub(crate) fn withdraw_ended(&mut self, lease: akash_types::LeaseId, end: TxEnd) {
        let TxEnd { outcome, fee, .. } = end;
        let outcome = match outcome {
            Outcome::Executed { height } => WithdrawOutcome::Landed { height, fee },
            Outcome::AlreadyHolds | Outcome::Forgotten => WithdrawOutcome::NothingToDo,
            Outcome::Refused { log, .. } => {
                WithdrawOutcome::Failed { reason: log, permanent: false, fee }
            }
            Outcome::Invalid { reason } => WithdrawOutcome::Failed { reason, permanent: true, fee },
            Outcome::Expired | Outcome::Unknown => {
                let reason = "it came into no block in time".to_owned();
                WithdrawOutcome::Failed { reason, permanent: false, fee }
            }
        };
        self.escrow(EscrowInput::WithdrawEnded { lease, outcome });
    }
}

/// What the balance checker notes, and about what.
fn words(note: &EscrowNote) -> (Subject, String) {
    match note {
        EscrowNote::CheckFailed { deployment, why, .. } => {
            (Subject::Deployment(*deployment), format!("its account could not be checked: {why}"))
        }
        EscrowNote::WithdrawFailed { lease, reason, .. } => {
            (Subject::Order(lease.order_id()), format!("the withdrawal failed: {reason}"))
        }
        EscrowNote::WithdrawUnanswered { lease } => {
            let what = "nobody says what became of the withdrawal".to_owned();
            (Subject::Order(lease.order_id()), what)
        }
        EscrowNote::RanDry { deployment, since } => {
            (Subject::Deployment(*deployment), format!("its account is dry since height {since}"))
        }
        EscrowNote::FundedAgain { deployment, .. } => {
            (Subject::Deployment(*deployment), "its account is funded again".to_owned())
        }
        EscrowNote::Refused { lease, why } => {
            (Subject::Order(lease.order_id()), format!("no withdrawal: {why}"))
        }
        EscrowNote::TotalUnread { lease } => {
            let what = "what it earned in the end could not be read".to_owned();
            (Subject::Order(lease.order_id()), what)
        }
    }
}
