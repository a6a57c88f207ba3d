//! The balance checker: gets the provider paid, and lets no lease run without money.
//!
//! Tenants pay from an escrow account per deployment, which the chain settles only when a
//! transaction touches it. So the provider has to come for its money, which costs a fee, and has
//! to notice when an account can no longer pay: only a transaction, usually its withdrawal, makes
//! the chain close the lease. This machine decides when. One account at a time it goes
//!
//! ```text
//!                  height reached                 answer, nothing due
//!        waiting ────────────────▶ queued ─▶ reading ────────────────▶ waiting
//!                                    ▲        │  │
//!             time passed            │        │  │ answer, something due
//!        retrying ───────────────────┤        │  ▼
//!           ▲                        └──── withdrawing
//!           │                    ended, or  (one lease of the account)
//!           │                    time passed
//!           └─── no answer, too old, or too early to withdraw again
//! ```
//!
//! - Every withdrawal is decided on a fresh reading: a lease that is over is not paid a fee for.
//! - Money is fetched when it is worth many times the fee, when it has waited for the longest time
//!   allowed, before an account shared with others runs dry, once it is dry, or when the operator
//!   says so. [`WithdrawReason`] says which.
//! - One withdrawal per account at a time: the chain cannot settle an account twice in a block, nor
//!   in the block in which a lease was created. A reading at or after that height comes before.
//! - Withdrawals due soon go along with one that is due, so that they share a transaction.
//! - No answer is no news: it is asked again, at a growing distance, and holds up no other account.
//!
//! It must not know how messages become transactions, who else reads the chain, or what a lease
//! runs. It never ends a lease: it makes the chain look, and [`EscrowEffect::LooksOver`] tells the
//! engine where to.

mod account;
mod earnings;
mod effect;
mod engine;
mod forecast;
mod plan;
mod schedule;
mod settings;
mod wallet;

use std::collections::BTreeMap;

use akash_types::{DeploymentId, LeaseId};

pub use earnings::Standing;
pub use effect::{
    CheckFailure, Earning, EscrowEffect, EscrowInput, EscrowNote, Refusal, Total, WithdrawOutcome,
    WithdrawReason, WithdrawScope,
};
pub use forecast::Forecast;
pub use settings::Settings;
pub use wallet::{Funds, Shortage, WalletState};

use crate::chain::Head;
use crate::time::Now;
use account::{Account, Context, Next, Payee, note};
use plan::Pace;
use schedule::{Schedule, Stage};
use wallet::Wallet;

/// The balance checker of one provider.
#[derive(Clone, Debug)]
pub struct Escrow {
    settings: Settings,
    height: u64,
    pace: Pace,
    accounts: BTreeMap<DeploymentId, Account>,
    schedule: Schedule,
    wallet: Wallet,
    /// A withdrawal was wanted in this turn: others go along.
    sending: bool,
    announced: Option<Now>,
}

/// Until when an account can pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The first height that is not covered; never, if nothing is paid.
    pub dry_at: Option<u64>,
    /// How many blocks after the newest are still paid in full; zero when dry.
    pub blocks_left: Option<u64>,
    /// Height of the reading from which it was computed.
    pub read_at: u64,
}

/// What shows that an account cannot pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dryness {
    /// The first height that is not covered.
    pub since: u64,
    /// Height of the reading from which it was computed.
    pub read_at: u64,
}

impl Escrow {
    /// A checker that watches nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            height: 0,
            pace: Pace::default(),
            accounts: BTreeMap::new(),
            schedule: Schedule::default(),
            wallet: Wallet::default(),
            sending: false,
            announced: None,
        }
    }

    /// Other settings from now on. Where they differ, every account and the wallet are read again at
    /// the next input: what was planned by the old ones may lie a day ahead.
    pub fn configure(&mut self, mut settings: Settings) {
        settings.akt_price = self.settings.akt_price;
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        self.wallet.read_soon();
        let waiting: Vec<_> = self.accounts.keys().copied().collect();
        for id in waiting {
            self.read_soon(id, 0);
        }
    }

    /// Takes one input at a moment and a head, and says what to do.
    pub fn handle(&mut self, now: Now, head: Head, input: EscrowInput) -> Vec<EscrowEffect> {
        let mut out = Vec::new();
        if head.height > self.height {
            self.height = head.height;
            self.pace.see(head);
        }
        match input {
            EscrowInput::Tick => {}
            EscrowInput::LeaseStarted { lease, created_at } => {
                self.start(lease, created_at, &mut out);
            }
            EscrowInput::LeaseEnded { lease, height } => self.end(lease, height, &mut out),
            EscrowInput::AccountRead { deployment, height, read } => {
                self.step(now, deployment, &mut out, |account, cx, out| {
                    account.answer(cx, height, read, out)
                });
            }
            EscrowInput::WalletRead { height, funds } => {
                // The last price known is better than none.
                self.settings.akt_price = funds.akt_price.or(self.settings.akt_price);
                let with = (&self.settings, &self.pace);
                let changed = self.wallet.answer(self.height, height, &funds, with);
                out.extend(changed.map(EscrowEffect::Wallet));
            }
            EscrowInput::WithdrawEnded { lease, outcome } => {
                self.withdrawn(now, lease, outcome, &mut out);
            }
            EscrowInput::WithdrawNow(scope) => self.ask(scope, &mut out),
        }
        self.turn(now, &mut out);
        out
    }

    /// How a lease stands; nothing before its account was read.
    pub fn standing(&self, lease: LeaseId) -> Option<Standing> {
        self.accounts.get(&lease.deployment_id())?.standing(lease, self.height)
    }

    /// Until when the account of a lease can pay; `None` before it was read, and once the chain does
    /// not pay the lease any more.
    pub fn outlook(&self, lease: LeaseId) -> Option<Outlook> {
        let account = self.accounts.get(&lease.deployment_id())?;
        let known = account.known.as_ref().filter(|known| known.pays(lease))?;
        let height = self.height.max(known.height);
        Some(Outlook {
            dry_at: account.plan.dry_at,
            blocks_left: known.forecast.blocks_left(height),
            read_at: known.height,
        })
    }

    /// What shows that the account of a lease cannot pay; `None` if it can, or nothing is known.
    pub fn dryness(&self, lease: LeaseId) -> Option<Dryness> {
        let Outlook { dry_at, read_at, .. } = self.outlook(lease)?;
        Some(Dryness { since: dry_at.filter(|dry| *dry <= self.height)?, read_at })
    }

    /// Whether the provider can pay; nothing before the first answer, which forbids nothing.
    pub const fn wallet(&self) -> Option<&WalletState> {
        self.wallet.state()
    }

    /// How many accounts are watched.
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    fn start(&mut self, lease: LeaseId, created_at: u64, out: &mut Vec<EscrowEffect>) {
        if lease.provider() != self.settings.provider {
            let why = Refusal::NotOurs;
            return out.push(note(EscrowNote::Refused { lease, why }));
        }
        let id = lease.deployment_id();
        if !self.accounts.contains_key(&id) {
            let account = Account::new(id);
            self.schedule.enter(id, account.stage);
            self.accounts.insert(id, account);
        }
        let Some(account) = self.accounts.get_mut(&id) else { return };
        if account.leases.contains_key(&lease) {
            return;
        }
        account.leases.insert(lease, Payee::new(lease));
        account.wanted = account.wanted.max(created_at);
        self.read_soon(id, 0);
    }

    fn end(&mut self, lease: LeaseId, height: u64, out: &mut Vec<EscrowEffect>) {
        let id = lease.deployment_id();
        let Some(account) = self.accounts.get_mut(&id) else { return };
        let Some(payee) = account.leases.get_mut(&lease) else { return };
        payee.ended.get_or_insert(height);
        account.wanted = account.wanted.max(height);
        match account.stage {
            Stage::Withdrawing { lease: of, .. } if of == lease => {
                out.push(EscrowEffect::ForgetWithdraw { lease });
                self.apply(id, Next::Read, Now::default(), out);
            }
            _ => self.read_soon(id, 0),
        }
    }

    fn ask(&mut self, scope: WithdrawScope, out: &mut Vec<EscrowEffect>) {
        let ids: Vec<_> = match scope {
            WithdrawScope::All => self.accounts.keys().copied().collect(),
            WithdrawScope::Lease(lease) => vec![lease.deployment_id()],
        };
        let mut found = false;
        for id in ids {
            let Some(account) = self.accounts.get_mut(&id) else { continue };
            for (lease, payee) in account.leases.iter_mut() {
                let meant = scope == WithdrawScope::All || scope == WithdrawScope::Lease(*lease);
                payee.asked |= meant && payee.ended.is_none();
                found |= meant;
            }
            self.read_soon(id, 0);
        }
        if let WithdrawScope::Lease(lease) = scope
            && !found
        {
            out.push(note(EscrowNote::Refused { lease, why: Refusal::Unknown }));
        }
    }

    fn withdrawn(
        &mut self,
        now: Now,
        lease: LeaseId,
        outcome: WithdrawOutcome,
        out: &mut Vec<EscrowEffect>,
    ) {
        self.step(now, lease.deployment_id(), out, |account, cx, out| {
            let payee = account.leases.get_mut(&lease)?;
            let waited =
                matches!(account.stage, Stage::Withdrawing { lease: of, .. } if of == lease);
            match outcome {
                WithdrawOutcome::Landed { height, fee } => {
                    payee.fees.extend(fee);
                    payee.collected |= payee.ended.is_some();
                    account.landed(height);
                    let idle = matches!(account.stage, Stage::Waiting { .. });
                    (waited || idle).then_some(Next::Read)
                }
                WithdrawOutcome::NothingToDo => {
                    account.refused(cx, false);
                    waited.then_some(Next::Read)
                }
                WithdrawOutcome::Failed { reason, permanent, fee } => {
                    payee.fees.extend(fee);
                    let retry_in = account.refused(cx, permanent);
                    out.push(note(EscrowNote::WithdrawFailed {
                        lease,
                        reason,
                        permanent,
                        retry_in,
                    }));
                    waited.then_some(Next::Read)
                }
            }
        });
    }

    /// What is due by time and by height, and whose turn it is to be read.
    fn turn(&mut self, now: Now, out: &mut Vec<EscrowEffect>) {
        while let Some(id) = self.schedule.timer(now) {
            self.step(now, id, out, Self::time_passed);
        }
        while let Some(id) = self.schedule.withdrawal(self.height) {
            self.sending = true;
            self.read_soon(id, 0);
        }
        if std::mem::take(&mut self.sending) {
            let window = self.pace.blocks(self.settings.batch_window);
            while let Some(id) = self.schedule.withdrawal(self.height.saturating_add(window)) {
                self.read_soon(id, window);
            }
        }
        while let Some(id) = self.schedule.check(self.height) {
            self.read_soon(id, 0);
        }
        self.start_reading(now, out);
        if self.wallet.is_due(now, self.height, &self.settings) {
            out.push(EscrowEffect::ReadWallet);
        }
        self.announce(now, out);
    }

    fn time_passed(
        account: &mut Account,
        cx: &Context<'_>,
        out: &mut Vec<EscrowEffect>,
    ) -> Option<Next> {
        match account.stage {
            Stage::Reading { .. } => {
                let why = CheckFailure::Unanswered(cx.settings.read_limit);
                Some(account.failed(cx, why, out))
            }
            Stage::Withdrawing { lease, .. } => {
                out.push(note(EscrowNote::WithdrawUnanswered { lease }));
                Some(Next::Read)
            }
            Stage::Retrying { .. } | Stage::Queued { .. } | Stage::Waiting { .. } => {
                Some(Next::Read)
            }
        }
    }

    fn start_reading(&mut self, now: Now, out: &mut Vec<EscrowEffect>) {
        let until = now.after(self.settings.read_limit);
        while let Some(id) = self.schedule.next_queued(self.settings.reads_at_once) {
            let Some(account) = self.accounts.get_mut(&id) else { continue };
            let Stage::Queued { horizon } = account.stage else { continue };
            account.stage = Stage::Reading { until, horizon };
            self.schedule.enter(id, account.stage);
            out.push(EscrowEffect::ReadAccount(id));
        }
    }

    fn announce(&mut self, now: Now, out: &mut Vec<EscrowEffect>) {
        let announced = self.announced.filter(|at| *at > now);
        let next = [self.schedule.next_timer(), self.wallet.timer()].into_iter().flatten().min();
        self.announced = match (announced, next) {
            (Some(known), Some(next)) if known <= next => Some(known),
            (known, None) => known,
            (_, Some(next)) => {
                out.push(EscrowEffect::WakeAt(next));
                Some(next)
            }
        };
    }

    /// Lets an account decide.
    fn step(
        &mut self,
        now: Now,
        id: DeploymentId,
        out: &mut Vec<EscrowEffect>,
        decide: impl FnOnce(&mut Account, &Context<'_>, &mut Vec<EscrowEffect>) -> Option<Next>,
    ) {
        let Some(account) = self.accounts.get_mut(&id) else { return };
        let (settings, pace) = (&self.settings, &self.pace);
        let cx = Context { now, height: self.height, settings, pace };
        if let Some(next) = decide(account, &cx, out) {
            self.apply(id, next, now, out);
        }
    }

    /// Has an account read unless it is being read, or is about to be after a withdrawal.
    fn read_soon(&mut self, id: DeploymentId, horizon: u64) {
        let Some(account) = self.accounts.get_mut(&id) else { return };
        if matches!(account.stage, Stage::Waiting { .. } | Stage::Retrying { .. }) {
            self.schedule.leave(id, account.stage);
            account.stage = Stage::Queued { horizon };
            self.schedule.enter(id, account.stage);
        }
    }

    fn apply(&mut self, id: DeploymentId, next: Next, now: Now, out: &mut Vec<EscrowEffect>) {
        let Some(account) = self.accounts.get_mut(&id) else { return };
        self.schedule.leave(id, account.stage);
        account.stage = match next {
            Next::Read => Stage::Queued { horizon: 0 },
            Next::Wait { check_at, withdraw_at } => Stage::Waiting { check_at, withdraw_at },
            Next::Retry { at } => Stage::Retrying { at },
            Next::Withdraw { lease, why } => {
                self.sending = true;
                out.push(EscrowEffect::Withdraw { lease, why });
                Stage::Withdrawing { lease, until: now.after(self.settings.withdraw_limit) }
            }
            Next::Gone => {
                self.accounts.remove(&id);
                return;
            }
        };
        self.schedule.enter(id, account.stage);
    }
}

#[cfg(test)]
mod tests;
