//! What was paid, seen by comparing two readings of an account.
//!
//! Nothing is added up here: the chain keeps what each payment withdrew, and the difference is
//! what came. Whatever caused it (our withdrawal, the operator's own, a close) counts alike.

use akash_types::{Coin, Dec, DecCoin, EscrowState, LeaseId};

use super::account::{Account, Context, Known, note};
use super::effect::{Earning, EscrowEffect, EscrowNote, Refusal, Total};
use super::forecast::Forecast;
use crate::chain::AccountRead;
use crate::few::Few;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What it is paid per block.
    pub rate: DecCoin,
    /// What the chain has paid out for it so far.
    pub received: Coin,
    /// What a withdrawal would pay now.
    pub accrued: DecCoin,
    /// The first height that is not covered; never, if nothing is paid.
    pub dry_at: Option<u64>,
    /// Height of the reading that says so.
    pub read_at: u64,
}

impl Account {
    /// Takes newer facts in, and says what was paid since the last ones.
    pub(super) fn absorb(&mut self, height: u64, facts: AccountRead, out: &mut Vec<EscrowEffect>) {
        let Some(account) = facts.account else { return };
        let forecast = Forecast::new(&account, &facts.leases, &facts.payments);
        let payments: Few<_, _> =
            facts.payments.into_iter().map(|payment| (payment.id.lease_id(), payment)).collect();
        let new = Known { height, state: account.state, forecast, payments };
        if let Some(old) = &self.known {
            for (lease, payee) in self.leases.iter_mut() {
                if let Some(earning) = earned(*lease, old, &new) {
                    let fees = std::mem::take(&mut payee.fees);
                    out.push(EscrowEffect::Earned(Earning { fees, ..earning }));
                }
            }
        }
        self.known = Some(new);
    }

    /// Ends leases that are over and whose last payment this reading shows.
    pub(super) fn settle_ended(
        &mut self,
        cx: &Context<'_>,
        height: u64,
        out: &mut Vec<EscrowEffect>,
    ) {
        let Some(known) = &self.known else { return };
        self.leases.retain(|lease, payee| {
            let read = payee.ended.is_some_and(|ended| ended <= height);
            // One that the chain left open is settled once what it held was withdrawn.
            let is_last = |state| state != EscrowState::Open || payee.collected;
            let last = known.payments.get(lease).filter(|paid| is_last(paid.state));
            let (true, Some(payment)) = (read, last) else { return true };
            out.push(EscrowEffect::Settled(Total {
                lease: *lease,
                received: payment.withdrawn.clone(),
                unsettled: payment.unsettled.clone(),
                height,
            }));
            false
        });
        self.give_up_ended(cx, out);
    }

    /// The lease that the operator wants withdrawn; those that cannot be are refused.
    pub(super) fn take_asked(
        &mut self,
        height: u64,
        out: &mut Vec<EscrowEffect>,
    ) -> Option<LeaseId> {
        let known = self.known.as_ref()?;
        for (lease, payee) in self.leases.iter_mut().filter(|(_, payee)| payee.asked) {
            // One whose payment is not in the answer stays asked for: nothing is known of it.
            if !known.payments.contains_key(lease) {
                continue;
            }
            payee.asked = false;
            let accrued = known.forecast.accrued(*lease, height);
            let why = match accrued {
                _ if payee.ended.is_some() || !known.pays(*lease) => Refusal::PaymentClosed,
                Some(accrued) if accrued.amount() >= Dec::ONE => return Some(*lease),
                _ => Refusal::NothingEarned,
            };
            out.push(note(EscrowNote::Refused { lease: *lease, why }));
        }
        None
    }

    /// How a lease stands at `height`.
    pub(super) fn standing(&self, lease: LeaseId, height: u64) -> Option<Standing> {
        let known = self.known.as_ref()?;
        let payment = known.payments.get(&lease)?;
        let height = height.max(known.height);
        let accrued = known.forecast.accrued(lease, height);
        Some(Standing {
            rate: payment.rate.clone(),
            received: payment.withdrawn.clone(),
            accrued: accrued.unwrap_or_else(|| payment.balance.clone()),
            dry_at: self.plan.dry_at,
            read_at: known.height,
        })
    }
}

/// What the lease was paid between two readings, without the fees.
fn earned(lease: LeaseId, old: &Known, new: &Known) -> Option<Earning> {
    let (before, after) = (old.payments.get(&lease)?, new.payments.get(&lease)?);
    let received = after.withdrawn.amount().checked_sub(before.withdrawn.amount())?;
    if received == 0 {
        return None;
    }
    // All that was earned until the newer settlement, less what is still there.
    let earned = old.forecast.accrued(lease, new.forecast.settled_at());
    // A payment that was left open by a lease that is over is in no forecast.
    let earned = earned.unwrap_or_else(|| before.balance.clone());
    let expected = earned.amount().checked_sub(after.balance.amount()).unwrap_or(Dec::ZERO);
    let denom = earned.denom().clone();
    Some(Earning {
        lease,
        received: Coin::new(after.withdrawn.denom().clone(), received),
        expected: DecCoin::new(denom.clone(), expected).unwrap_or_else(|_| DecCoin::zero(denom)),
        fees: Vec::new(),
        height: new.height,
    })
}
