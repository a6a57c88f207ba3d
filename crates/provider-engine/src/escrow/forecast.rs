//! What an escrow account will be able to pay, computed exactly as the chain will settle it.
//!
//! The chain settles only when a transaction touches the account: each payment is then owed the
//! whole part of rate × blocks, and is paid in the order of its key until the funds of its
//! denomination are gone. Hence everything here is a function of the last settlement and a height.
//! Funds of other denominations are not assumed to help: the chain converts them only in an
//! emergency that nobody can foresee.

use akash_types::{Dec, DecCoin, Denom, EscrowAccount, EscrowPayment, EscrowPaymentId, LeaseId};

use crate::chain::PaidLease;

/// 10^18, the scale of [`Dec`].
const ONE: i128 = Dec::ONE.scaled();

/// The future of one account, if nobody deposits, joins or leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    settled_at: u64,
    pots: Vec<Pot>,
}

/// The funds of one denomination and who is paid from them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pot {
    denom: Denom,
    funds: Dec,
    /// In the order in which the chain pays them.
    payees: Vec<Payee>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Payee {
    lease: LeaseId,
    rate: Dec,
    /// Earned before the last settlement and not withdrawn; zero for leases of others, whose
    /// payments are not read.
    balance: Dec,
}

impl Forecast {
    /// The forecast of `account`, which pays `leases` (all that are active or reclaiming, of all
    /// providers), given our own `payments`.
    pub fn new(account: &EscrowAccount, leases: &[PaidLease], payments: &[EscrowPayment]) -> Self {
        let mut pots: Vec<Pot> = Vec::new();
        for PaidLease { lease, rate } in leases {
            let balance = payments
                .iter()
                .find(|payment| payment.id.lease_id() == *lease)
                .filter(|payment| payment.balance.denom() == rate.denom())
                .map_or(Dec::ZERO, |payment| payment.balance.amount());
            let payee = Payee { lease: *lease, rate: rate.amount(), balance };
            match pots.iter_mut().find(|pot| pot.denom == *rate.denom()) {
                Some(pot) if pot.payees.iter().any(|known| known.lease == *lease) => {}
                Some(pot) => pot.payees.push(payee),
                None => pots.push(Pot {
                    denom: rate.denom().clone(),
                    funds: funds_of(account, rate.denom()),
                    payees: vec![payee],
                }),
            }
        }
        for pot in pots.iter_mut().filter(|pot| pot.payees.len() > 1) {
            pot.payees.sort_by_cached_key(|payee| EscrowPaymentId::from(payee.lease).to_string());
        }
        // Kept for each account: most have one pot.
        pots.shrink_to_fit();
        Self { settled_at: account.settled_at, pots }
    }

    /// Height up to which everything was paid when the account was read.
    pub const fn settled_at(&self) -> u64 {
        self.settled_at
    }

    /// How many leases the account pays.
    pub fn payees(&self) -> usize {
        self.pots.iter().map(|pot| pot.payees.len()).sum()
    }

    /// The first height at which settling finds too little; never, if nothing is paid.
    pub fn dry_at(&self) -> Option<u64> {
        self.pots.iter().filter_map(|pot| pot.dry_after()).min().map(|blocks| {
            // The settled height itself when the account owes already.
            self.settled_at.saturating_add(blocks)
        })
    }

    /// How many blocks after `height` are still paid in full; zero when dry.
    pub fn blocks_left(&self, height: u64) -> Option<u64> {
        self.dry_at().map(|dry| dry.saturating_sub(height).saturating_sub(1))
    }

    /// What a withdrawal at `height` can pay the lease: what is earned, as far as it is covered.
    pub fn accrued(&self, lease: LeaseId, height: u64) -> Option<DecCoin> {
        let (pot, own) = self.find(lease)?;
        let blocks = height.saturating_sub(self.settled_at);
        let mut left = pot.funds.scaled().max(0);
        for payee in &pot.payees {
            let paid = due(payee.rate, blocks).map_or(left, |due| due.min(left));
            if payee.lease == own.lease {
                let earned = own.balance.scaled().saturating_add(paid);
                return DecCoin::new(pot.denom.clone(), Dec::from_scaled(earned)).ok();
            }
            left = left.saturating_sub(paid);
        }
        None
    }

    /// What the account will hold of `denom` after settling at `height`.
    pub fn left(&self, denom: &Denom, height: u64) -> Option<Dec> {
        let pot = self.pots.iter().find(|pot| pot.denom == *denom)?;
        let blocks = height.saturating_sub(self.settled_at);
        let funds = pot.funds.scaled().max(0);
        let left = pot.due(blocks).map_or(0, |due| funds.saturating_sub(due).max(0));
        Some(Dec::from_scaled(left))
    }

    /// The height since which the lease has not been paid out, as far as its balance tells.
    pub fn unpaid_since(&self, lease: LeaseId) -> Option<u64> {
        let (_, payee) = self.find(lease)?;
        let blocks = payee.balance.scaled().checked_div(payee.rate.scaled())?;
        Some(self.settled_at.saturating_sub(u64::try_from(blocks).unwrap_or(u64::MAX)))
    }

    /// The height at which the lease will have earned the `amount` of its denomination, covered or
    /// not; never at rate zero.
    pub fn reaches(&self, lease: LeaseId, amount: impl FnOnce(&Denom) -> Dec) -> Option<u64> {
        let (pot, payee) = self.find(lease)?;
        let missing = amount(&pot.denom).scaled().saturating_sub(payee.balance.scaled()).max(0);
        let whole = missing.checked_rem(payee.rate.scaled())? == 0;
        let blocks = missing.checked_div(payee.rate.scaled())?.saturating_add(i128::from(!whole));
        Some(self.settled_at.saturating_add(u64::try_from(blocks).unwrap_or(u64::MAX)))
    }

    fn find(&self, lease: LeaseId) -> Option<(&Pot, &Payee)> {
        self.pots.iter().find_map(|pot| {
            pot.payees.iter().find(|payee| payee.lease == lease).map(|payee| (pot, payee))
        })
    }
}

impl Pot {
    /// What all payees are owed after `blocks`; `None` is more than can be counted.
    fn due(&self, blocks: u64) -> Option<i128> {
        self.payees.iter().try_fold(0_i128, |sum, payee| sum.checked_add(due(payee.rate, blocks)?))
    }

    fn covers(&self, blocks: u64) -> bool {
        self.due(blocks).is_some_and(|due| due <= self.funds.scaled())
    }

    /// The smallest number of blocks that is not covered; `None` if every number is.
    fn dry_after(&self) -> Option<u64> {
        if !self.payees.iter().any(|payee| payee.rate.is_positive()) {
            return self.funds.is_negative().then_some(0);
        }
        let total =
            self.payees.iter().fold(0_i128, |sum, payee| sum.saturating_add(payee.rate.scaled()));
        let fits = |blocks: i128| u64::try_from(blocks).unwrap_or(u64::MAX);
        let funds = self.funds.scaled().max(0);
        // Only whole units are owed, so less than one unit per payee separates the chain's answer
        // from funds ÷ rate: the answer is searched for between the two.
        let units = i128::try_from(self.payees.len()).unwrap_or(i128::MAX).saturating_mul(ONE);
        let mut covered = fits(funds.checked_div(total)?);
        let most = funds.saturating_add(units).checked_div(total)?;
        let mut uncovered = fits(most).saturating_add(1);
        if !self.covers(covered) {
            (covered, uncovered) = (0, covered);
            if !self.covers(0) {
                return Some(0);
            }
        }
        while uncovered.saturating_sub(covered) > 1 {
            let middle = covered.midpoint(uncovered);
            if self.covers(middle) {
                covered = middle;
            } else {
                uncovered = middle;
            }
        }
        Some(uncovered)
    }
}

/// What the chain owes for `blocks` at `rate`: the whole part, scaled.
fn due(rate: Dec, blocks: u64) -> Option<i128> {
    let due = rate.scaled().checked_mul(i128::from(blocks))?;
    Some(due - due % ONE)
}

/// What the account holds of `denom`. An account without it cannot pay: that is none, not unknown.
fn funds_of(account: &EscrowAccount, denom: &Denom) -> Dec {
    let funds = account.funds.iter().find(|funds| funds.denom == *denom);
    funds.map_or(Dec::ZERO, |funds| funds.amount)
}
