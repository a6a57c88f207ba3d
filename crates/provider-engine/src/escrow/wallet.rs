//! The accounts that pay: whether bids can be paid for; and the price by which fees are weighed.
//!
//! ```text
//! fine ⇄ low (warned) ⇄ empty (no new bids)
//! ```
//!
//! The state is a function of the last balances read, so it mends by itself once money is there.
//! An answer that does not come changes nothing.

use std::fmt;

use akash_types::{Coin, Dec};

use super::plan::Pace;
use super::settings::Settings;
use crate::time::Now;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funds {
    /// By the provider, whose account pays deposits.
    pub provider: Vec<Coin>,
    /// By the account that pays fees, where that is another: a fee granter, or the key that acts
    /// for the provider by authz.
    pub fee_payer: Option<Vec<Coin>>,
    /// What 1 AKT is worth in USD, where the chain says so.
    pub akt_price: Option<Dec>,
}

impl From<Vec<Coin>> for Funds {
    fn from(provider: Vec<Coin>) -> Self {
        Self { provider, fee_payer: None, akt_price: None }
    }
}

/// Whether the provider can pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalletState {
    Fine,
    /// There is less than the operator wants to keep.
    Low(Shortage),
    /// A bid's deposit or its fees cannot be paid: no new bids.
    Empty(Shortage),
}

impl WalletState {
    /// What these funds allow.
    pub fn of(funds: &Funds, settings: &Settings) -> Self {
        let (fee, deposit) = (settings.fee.denom(), &settings.bid_deposit);
        let short = |account: &[Coin], needed: Coin| {
            let of_denom = account.iter().filter(|held| held.denom() == needed.denom());
            let held = of_denom.fold(0_u128, |sum, held| sum.saturating_add(held.amount()));
            let held = Coin::new(needed.denom().clone(), held);
            (held.amount() < needed.amount()).then_some(Shortage { held, needed })
        };
        let payer = funds.fee_payer.as_ref().unwrap_or(&funds.provider);
        let shares = funds.fee_payer.is_none() && deposit.denom() == fee;
        let together = if shares { deposit.amount() } else { 0 };
        let reserve = settings.fee_reserve.saturating_add(together);
        let to_bid = short(payer, Coin::new(fee.clone(), reserve))
            .or_else(|| short(&funds.provider, deposit.clone()));
        match to_bid {
            Some(shortage) => Self::Empty(shortage),
            None => short(payer, Coin::new(fee.clone(), settings.minimum_balance))
                .map_or(Self::Fine, Self::Low),
        }
    }

    /// Whether new bids can be paid.
    pub const fn allows_bids(&self) -> bool {
        !matches!(self, Self::Empty(_))
    }
}

impl fmt::Display for WalletState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fine => f.write_str("enough for bids"),
            Self::Low(Shortage { held, needed }) => {
                write!(f, "{held} can be spent, less than --minimum-balance ({needed})")
            }
            Self::Empty(Shortage { held, needed }) => {
                write!(f, "{held} can be spent, a bid needs {needed} for deposit and fees")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub held: Coin,
    pub needed: Coin,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wallet {
    state: Option<WalletState>,
    read_at: Option<u64>,
    next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// To be read at this height.
    At(u64),
    /// Asked for; asked again if no answer comes until then.
    Asked(Now),
}

impl Default for Next {
    fn default() -> Self {
        Self::At(0)
    }
}

impl Wallet {
    /// What is known; nothing before the first answer.
    pub(super) const fn state(&self) -> Option<&WalletState> {
        self.state.as_ref()
    }

    pub(super) fn is_due(&mut self, now: Now, height: u64, settings: &Settings) -> bool {
        let due = match self.next {
            Next::At(at) => at <= height,
            Next::Asked(until) => until <= now,
        };
        if due {
            self.next = Next::Asked(now.after(settings.read_limit));
        }
        due
    }

    /// Has it read with the next input, unless an answer is waited for.
    pub(super) const fn read_soon(&mut self) {
        if let Next::At(_) = self.next {
            self.next = Next::At(0);
        }
    }

    /// The moment at which something is to be done, whatever the height.
    pub(super) const fn timer(&self) -> Option<Now> {
        match self.next {
            Next::At(_) => None,
            Next::Asked(at) => Some(at),
        }
    }

    /// Takes an answer in; the state, if it changed.
    pub(super) fn answer(
        &mut self,
        head: u64,
        height: u64,
        funds: &Funds,
        (settings, pace): (&Settings, &Pace),
    ) -> Option<WalletState> {
        if self.read_at.is_some_and(|read| height < read) {
            return None;
        }
        self.read_at = Some(height);
        let state = WalletState::of(funds, settings);
        let every = pace.blocks(settings.check_every);
        // Help is waited for more eagerly than trouble.
        let every = if state == WalletState::Fine { every } else { (every / 10).max(1) };
        self.next = Next::At(head.max(height).saturating_add(every));
        // How much is missing is news only when it begins or ends to be.
        let kind = |state: &WalletState| std::mem::discriminant(state);
        let changed = self.state.as_ref().map(kind) != Some(kind(&state));
        self.state = Some(state.clone());
        changed.then_some(state)
    }
}
