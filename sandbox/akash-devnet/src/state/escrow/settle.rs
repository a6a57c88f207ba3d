//! Settling: paying what is owed for the blocks since the last time.

use akash_types::{Dec, DecCoin, EscrowAccount, EscrowPayment, EscrowState};

use super::{ACCOUNT_CLOSED, Working};
use crate::state::error::{Outcome, TxError};
use crate::state::gas::Step;
use crate::state::run::Exec;

impl Exec {
    /// Settles an account: the payments that were looked at, and whether it is overdrawn.
    ///
    /// Open payments are looked at only if blocks have passed. The chain does not find those of an
    /// account that was settled in the same block; neither do we.
    pub(super) fn settle(
        &mut self,
        account: &mut Working<EscrowAccount>,
    ) -> Outcome<(Vec<Working<EscrowPayment>>, bool)> {
        if account.value.state == EscrowState::Closed {
            return Err(ACCOUNT_CLOSED.into());
        }
        self.step(Step::AccountSettle)?;
        let first = account.value.funds.first().ok_or_else(no_funds)?;
        if first.amount.is_negative() {
            return Ok((Vec::new(), true));
        }
        let mut blocks = 0;
        if account.value.state != EscrowState::Overdrawn {
            blocks = self.block.height.saturating_sub(account.value.settled_at);
            account.value.settled_at = self.block.height;
        }
        let states: &[_] = match blocks {
            0 => &[EscrowState::Overdrawn],
            _ => &[EscrowState::Overdrawn, EscrowState::Open],
        };
        account.dirty = true;
        let mut payments = self.account_payments(account.value.id, states);
        let overdrawn = pay(&mut account.value, &mut payments, blocks)?;
        if overdrawn {
            account.value.state = EscrowState::Overdrawn;
            for payment in &mut payments {
                payment.value.state = EscrowState::Overdrawn;
                payment.dirty = true;
                self.pay_out(payment)?;
            }
        }
        Ok((payments, overdrawn))
    }
}

fn no_funds() -> TxError {
    TxError::panic("runtime error: index out of range [0] with length 0")
}

fn overflow() -> TxError {
    TxError::panic("Int overflow")
}

/// Moves what is owed from the deposits to the payments; whether they run short.
fn pay(
    account: &mut EscrowAccount,
    payments: &mut [Working<EscrowPayment>],
    blocks: u64,
) -> Outcome<bool> {
    let mut overdrawn = false;
    let mut owed = Vec::with_capacity(payments.len());
    for payment in payments.iter_mut() {
        let amount = if payment.before == EscrowState::Overdrawn {
            let unsettled = payment.value.unsettled.amount();
            payment.value.unsettled = DecCoin::zero(payment.value.unsettled.denom().clone());
            unsettled
        } else {
            let rate = payment.value.rate.amount();
            rate.checked_mul_int(blocks.into())
                .and_then(|due| Dec::checked_from_int(due.truncate_int()))
                .ok_or_else(overflow)?
        };
        owed.push(amount);
    }
    for (payment, owed) in payments.iter_mut().zip(owed) {
        let denom = payment.value.rate.denom().clone();
        let settled = deduct(account, denom.as_str(), owed)?;
        let missing = owed.checked_sub(settled).ok_or_else(overflow)?;
        payment.dirty = true;
        payment.value.balance = plus(&payment.value.balance, settled)?;
        if missing.is_zero() {
            payment.value.state = EscrowState::Open;
        } else {
            overdrawn = true;
            payment.value.state = EscrowState::Overdrawn;
            payment.value.unsettled = plus(&payment.value.unsettled, missing)?;
        }
    }
    Ok(overdrawn)
}

/// `coin` and `amount` more of it.
fn plus(coin: &DecCoin, amount: Dec) -> Outcome<DecCoin> {
    DecCoin::new(coin.denom().clone(), amount)
        .and_then(|more| coin.checked_add(&more))
        .map_err(|_| overflow())
}

/// Takes `amount` from the deposits of its denomination, oldest first; what could be taken. What
/// is missing makes the funds of that denomination negative.
fn deduct(account: &mut EscrowAccount, denom: &str, amount: Dec) -> Outcome<Dec> {
    let funds = account.funds.iter_mut().find(|funds| funds.denom.as_str() == denom);
    let transferred = account.transferred.iter_mut().find(|coin| coin.denom().as_str() == denom);
    let (Some(funds), Some(transferred)) = (funds, transferred) else {
        return Err(TxError::panic(format_args!("unknown denom \"{denom}\"")));
    };
    let mut remaining = amount;
    for deposit in &mut account.deposits {
        if deposit.balance.denom().as_str() != denom || remaining.is_zero() {
            continue;
        }
        let held = deposit.balance.amount();
        let taken = held.min(remaining);
        let left = held.checked_sub(taken).ok_or_else(overflow)?;
        deposit.balance =
            DecCoin::new(deposit.balance.denom().clone(), left).map_err(|_| overflow())?;
        remaining = remaining.checked_sub(taken).ok_or_else(overflow)?;
        *transferred = plus(transferred, taken)?;
    }
    account.deposits.retain(|deposit| !deposit.balance.is_zero());
    funds.amount = funds.amount.checked_sub(amount).ok_or_else(overflow)?;
    amount.checked_sub(remaining).ok_or_else(overflow)
}
