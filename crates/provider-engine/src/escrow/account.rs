//! One deployment's account: what is known of it, and what follows from that.
//!
//! Knows nothing of other accounts and of queues.

use std::time::Duration;

use akash_types::{Coin, Dec, DecCoin, DeploymentId, EscrowPayment, EscrowState, LeaseId};

use super::effect::{CheckFailure, EscrowEffect, EscrowNote, WithdrawReason};
use super::forecast::Forecast;
use super::plan::{Pace, Plan, seed};
use super::schedule::Stage;
use super::settings::Settings;
use crate::chain::AccountRead;
use crate::few::Few;
use crate::time::Now;

/// Readings after which the last payment of a lease is given up.
const LAST_READINGS: u32 = 8;
/// The same where the payment is open and holds money: a week at the longest pause.
const LEFT_OPEN_READINGS: u32 = 1_008;

/// What a decision may look at besides the account.
pub(super) struct Context<'a> {
    pub(super) now: Now,
    pub(super) height: u64,
    pub(super) settings: &'a Settings,
    pub(super) pace: &'a Pace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Wait { check_at: u64, withdraw_at: Option<u64> },
    Retry { at: Now },
    Withdraw { lease: LeaseId, why: WithdrawReason },
    Gone,
}

/// The account of one deployment with leases of ours.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) id: DeploymentId,
    pub(super) stage: Stage,
    pub(super) leases: Few<LeaseId, Payee>,
    pub(super) known: Option<Known>,
    pub(super) plan: Plan,
    /// Older answers are of no use.
    pub(super) wanted: u64,
    seed: u64,
    read_failures: u32,
    /// Withdrawals in a row that failed, or did not end the dryness.
    attempts: u32,
    not_before: Now,
    was_dry: bool,
}

/// A lease of ours.
#[derive(Clone, Debug)]
pub(super) struct Payee {
    seed: u64,
    /// The operator wants a withdrawal.
    pub(super) asked: bool,
    pub(super) ended: Option<u64>,
    /// Readings since then that did not show its last payment.
    tries: u32,
    /// Whether a withdrawal landed since then.
    pub(super) collected: bool,
    /// Fees since the last payment.
    pub(super) fees: Vec<Coin>,
}

impl Payee {
    pub(super) fn new(lease: LeaseId) -> Self {
        Self {
            seed: seed(&lease),
            asked: false,
            ended: None,
            tries: 0,
            collected: false,
            fees: Vec::new(),
        }
    }
}

/// The last useful answer.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) height: u64,
    pub(super) state: EscrowState,
    pub(super) forecast: Forecast,
    pub(super) payments: Few<LeaseId, EscrowPayment>,
}

impl Known {
    /// Whether the chain still pays this lease from this account.
    pub(super) fn pays(&self, lease: LeaseId) -> bool {
        self.state == EscrowState::Open
            && self.payments.get(&lease).is_some_and(|paid| paid.state == EscrowState::Open)
    }
}

impl Account {
    pub(super) fn new(id: DeploymentId) -> Self {
        Self {
            id,
            stage: Stage::Queued { horizon: 0 },
            leases: Few::default(),
            known: None,
            plan: Plan::default(),
            wanted: 0,
            seed: seed(&id),
            read_failures: 0,
            attempts: 0,
            not_before: Now::default(),
            was_dry: false,
        }
    }

    pub(super) fn live(&self) -> impl Iterator<Item = LeaseId> {
        self.leases.iter().filter(|(_, payee)| payee.ended.is_none()).map(|(lease, _)| *lease)
    }

    /// A reading came; `None` if it changes nothing about what is being waited for.
    pub(super) fn answer(
        &mut self,
        cx: &Context<'_>,
        height: u64,
        facts: AccountRead,
        out: &mut Vec<EscrowEffect>,
    ) -> Option<Next> {
        let found = facts.account.is_some();
        if self.known.as_ref().is_none_or(|known| known.height < height) {
            self.absorb(height, facts, out);
        }
        let horizon = match self.stage {
            Stage::Withdrawing { .. } => return None,
            Stage::Reading { horizon, .. } | Stage::Queued { horizon } => horizon,
            Stage::Waiting { .. } | Stage::Retrying { .. } => 0,
        };
        if height < self.wanted {
            let asked = matches!(self.stage, Stage::Reading { .. });
            let why = CheckFailure::TooOld { got: height, wanted: self.wanted };
            return asked.then(|| self.failed(cx, why, out));
        }
        if !found {
            return Some(self.failed(cx, CheckFailure::NoAccount, out));
        }
        self.settle_ended(cx, height, out);
        let missing = self.live().find(|lease| {
            self.known.as_ref().is_some_and(|known| !known.payments.contains_key(lease))
        });
        let next = self.decide(cx, horizon, out);
        match (missing, &next) {
            (Some(lease), Next::Wait { .. }) => {
                Some(self.failed(cx, CheckFailure::NoPayment(lease), out))
            }
            _ => {
                self.read_failures = 0;
                Some(next)
            }
        }
    }

    /// A reading did not come, or is of no use.
    pub(super) fn failed(
        &mut self,
        cx: &Context<'_>,
        why: CheckFailure,
        out: &mut Vec<EscrowEffect>,
    ) -> Next {
        self.read_failures = self.read_failures.saturating_add(1);
        let retry_in = cx.settings.retry.within(self.read_failures, self.seed);
        let (deployment, failures) = (self.id, self.read_failures);
        out.push(note(EscrowNote::CheckFailed { deployment, failures, why, retry_in }));
        self.give_up_ended(cx, out);
        if self.leases.is_empty() {
            return Next::Gone;
        }
        let blind = self.read_failures >= cx.settings.blind_after && self.not_before <= cx.now;
        if blind && let Some(next) = self.close_dry(cx, cx.height) {
            return next;
        }
        Next::Retry { at: cx.now.after(retry_in) }
    }

    /// A withdrawal did not succeed: the next one waits.
    pub(super) fn refused(&mut self, cx: &Context<'_>, permanent: bool) -> Duration {
        // While an account is dry, each attempt has set the time of the next one already.
        if self.was_dry && !permanent && cx.now < self.not_before {
            return self.not_before.since(cx.now);
        }
        self.hold_back(cx, permanent)
    }

    fn hold_back(&mut self, cx: &Context<'_>, permanent: bool) -> Duration {
        self.attempts = self.attempts.saturating_add(1);
        let failures = if permanent { u32::MAX } else { self.attempts };
        let pause = cx.settings.retry.within(failures, self.seed);
        self.not_before = cx.now.after(pause);
        pause
    }

    /// A withdrawal is in a block.
    pub(super) fn landed(&mut self, height: u64) {
        self.wanted = self.wanted.max(height);
        if !self.was_dry {
            self.attempts = 0;
            self.not_before = Now::default();
        }
    }

    /// What follows from what is known.
    fn decide(&mut self, cx: &Context<'_>, horizon: u64, out: &mut Vec<EscrowEffect>) -> Next {
        if self.leases.is_empty() {
            return Next::Gone;
        }
        let own: Vec<_> = self.payable();
        let Some(known) = &self.known else { return Next::Read };
        let height = cx.height.max(known.height);
        self.plan = match own.as_slice() {
            [] => Plan::default(),
            own => Plan::new(&known.forecast, own, cx.settings, cx.pace),
        };
        for lease in
            self.live().filter(|lease| known.payments.contains_key(lease) && !known.pays(*lease))
        {
            out.push(EscrowEffect::LooksOver { lease, height: known.height });
        }
        self.tell_dryness(height, out);
        if let Some(lease) = self.take_asked(height, out) {
            return Next::Withdraw { lease, why: WithdrawReason::Operator };
        }
        if let Some(next) = self.withdraw(cx, height, horizon) {
            return next;
        }
        if let Some((lease, left)) = self.left_open(cx.settings).next() {
            if cx.now < self.not_before {
                return Next::Retry { at: self.not_before };
            }
            return Next::Withdraw { lease, why: WithdrawReason::LeftOpen { left } };
        }
        if let Some(tries) =
            self.leases.values().filter(|p| p.ended.is_some()).map(|p| p.tries).max()
        {
            return Next::Retry { at: cx.now.after(cx.settings.retry.within(tries, self.seed)) };
        }
        let every = cx.pace.blocks(cx.settings.check_every);
        let every = every.saturating_sub(self.seed % (every / 8).saturating_add(1)).max(1);
        let withdraw_at = self.plan.next.map(|due| due.at);
        let check_at = [withdraw_at, self.plan.dry_at].into_iter().flatten();
        let check_at = check_at.fold(height.saturating_add(every), u64::min);
        Next::Wait { check_at: check_at.max(height.saturating_add(1)), withdraw_at }
    }

    fn withdraw(&mut self, cx: &Context<'_>, height: u64, horizon: u64) -> Option<Next> {
        let dry = self.plan.is_dry(height);
        let due = self.plan.next.filter(|due| due.at <= height.saturating_add(horizon));
        if !dry && due.is_none() {
            return None;
        }
        if cx.now < self.not_before {
            return Some(Next::Retry { at: self.not_before });
        }
        if dry {
            return self.close_dry(cx, height);
        }
        let (due, known) = (due?, self.known.as_ref()?);
        let why = due.why(&known.forecast, height)?;
        Some(Next::Withdraw { lease: due.lease, why })
    }

    /// Settles an account that is dry, so that the chain closes it. Driven again and again, at a
    /// growing pace, until it is closed or funded.
    fn close_dry(&mut self, cx: &Context<'_>, height: u64) -> Option<Next> {
        let since = self.plan.dry_at.filter(|dry| *dry <= height)?;
        let (lease, _) = *self.payable().first()?;
        self.hold_back(cx, false);
        Some(Next::Withdraw { lease, why: WithdrawReason::Dry { since } })
    }

    /// Leases that run and are paid, as far as is known.
    fn payable(&self) -> Vec<(LeaseId, u64)> {
        let Some(known) = &self.known else { return Vec::new() };
        let live = self.leases.iter().filter(|(_, payee)| payee.ended.is_none());
        live.filter(|(lease, _)| known.pays(**lease)).map(|(id, payee)| (*id, payee.seed)).collect()
    }

    /// Leases that are over and whose payment the chain left open, with what it holds: a close in a
    /// block in which the account was settled before does not end the payment. It is withdrawn if
    /// that pays for the fee.
    fn left_open(&self, settings: &Settings) -> impl Iterator<Item = (LeaseId, DecCoin)> {
        let known = self.known.as_ref();
        let over =
            self.leases.iter().filter(|(_, payee)| payee.ended.is_some() && !payee.collected);
        over.filter_map(move |(lease, payee)| {
            let known = known.filter(|known| known.pays(*lease))?;
            let payment = known.payments.get(lease)?;
            let is_read = payee.ended.is_some_and(|ended| ended <= known.height);
            let least = settings.fees(1, payment.balance.denom()).max(Dec::ONE);
            let left = payment.balance.amount() >= least;
            (is_read && left).then(|| (*lease, payment.balance.clone()))
        })
    }

    fn tell_dryness(&mut self, height: u64, out: &mut Vec<EscrowEffect>) {
        let (deployment, dry_at) = (self.id, self.plan.dry_at);
        match (self.was_dry, dry_at.filter(|dry| *dry <= height)) {
            (false, Some(since)) => {
                out.push(note(EscrowNote::RanDry { deployment, since }));
                self.was_dry = true;
            }
            (true, None) if self.known.as_ref().is_some_and(|k| k.state == EscrowState::Open) => {
                out.push(note(EscrowNote::FundedAgain { deployment, dry_at }));
                self.was_dry = false;
                self.attempts = 0;
                self.not_before = Now::default();
            }
            _ => {}
        }
    }

    /// Counts a reading that did not show the last payment of leases that are over; after enough
    /// of them it is given up.
    pub(super) fn give_up_ended(&mut self, cx: &Context<'_>, out: &mut Vec<EscrowEffect>) {
        let open: Vec<LeaseId> = self.left_open(cx.settings).map(|(lease, _)| lease).collect();
        self.leases.retain(|lease, payee| {
            payee.tries = payee.tries.saturating_add(u32::from(payee.ended.is_some()));
            let most = if open.contains(lease) { LEFT_OPEN_READINGS } else { LAST_READINGS };
            let keep = payee.tries < most;
            if !keep {
                out.push(note(EscrowNote::TotalUnread { lease: *lease }));
            }
            keep
        });
    }
}

pub(super) const fn note(note: EscrowNote) -> EscrowEffect {
    EscrowEffect::Note(note)
}
