//! Payments: what a provider earns from an account.

use akash_types::{Address, Coin, DecCoin, EscrowPayment, EscrowPaymentId, EscrowState};

use super::account::whole;
use super::{
    ACCOUNT_OVERDRAWN, INVALID_DENOMINATION, PAYMENT_CLOSED, PAYMENT_EXISTS, PAYMENT_RATE_ZERO,
    Working,
};
use crate::state::auth::ESCROW;
use crate::state::error::{Outcome, TxError};
use crate::state::gas::Step;
use crate::state::run::Exec;

impl Exec {
    /// Starts a payment of `rate` per block.
    pub(crate) fn payment_create(
        &mut self,
        id: EscrowPaymentId,
        owner: Address,
        rate: DecCoin,
    ) -> Outcome {
        let mut account = self.load_account(id.account_id())?;
        let (_, overdrawn) = self.settle(&mut account)?;
        if overdrawn {
            return Err(ACCOUNT_OVERDRAWN.into());
        }
        if !account.value.funds.iter().any(|funds| funds.denom == *rate.denom()) {
            return Err(INVALID_DENOMINATION.into());
        }
        if rate.is_zero() {
            return Err(PAYMENT_RATE_ZERO.into());
        }
        if self.tables.escrow_payment(id).is_some() {
            return Err(PAYMENT_EXISTS.into());
        }
        self.step(Step::PaymentCreate)?;
        // As on the chain, what settling gave to the other payments of the account is not stored:
        // it left the deposits and reaches nobody.
        if account.dirty {
            self.save_account(account)?;
        }
        let denom = rate.denom().clone();
        let payment = EscrowPayment {
            id,
            owner,
            state: EscrowState::Open,
            rate,
            balance: DecCoin::zero(denom.clone()),
            unsettled: DecCoin::zero(denom.clone()),
            withdrawn: Coin::new(denom, 0),
        };
        self.tables.put_escrow_payment(payment, None);
        Ok(())
    }

    pub(crate) fn payment_withdraw(&mut self, id: EscrowPaymentId) -> Outcome {
        let mut account = self.load_account(id.account_id())?;
        if self.load_payment(id)?.state != EscrowState::Open {
            return Err(PAYMENT_CLOSED.into());
        }
        let (mut payments, overdrawn) = self.settle(&mut account)?;
        if !overdrawn {
            let payment = payments.iter_mut().find(|payment| payment.value.id == id);
            let Some(payment) = payment else {
                return Err(TxError::panic(format_args!("couldn't find payment {id}")));
            };
            self.pay_out(payment)?;
        }
        self.step(Step::PaymentUpdate)?;
        self.save(account, payments)
    }

    /// Pays what was earned and ends the payment.
    pub(crate) fn payment_close(&mut self, id: EscrowPaymentId) -> Outcome {
        let mut account = self.load_account(id.account_id())?;
        if self.load_payment(id)?.state == EscrowState::Closed {
            return Err(PAYMENT_CLOSED.into());
        }
        let (mut payments, _) = self.settle(&mut account)?;
        account.dirty = true;
        for payment in &mut payments {
            payment.dirty = true;
            if payment.value.id == id {
                if payment.value.state == EscrowState::Open {
                    payment.value.state = EscrowState::Closed;
                }
                self.pay_out(payment)?;
            }
        }
        self.step(Step::PaymentUpdate)?;
        self.save(account, payments)
    }

    /// Sends the whole part of a payment's balance to its owner; the fraction stays.
    pub(super) fn pay_out(&mut self, payment: &mut Working<EscrowPayment>) -> Outcome {
        let earned = whole(&payment.value.balance)?;
        if earned.is_zero() {
            return Ok(());
        }
        self.pay_from(ESCROW, payment.value.owner, earned.clone())?;
        let overflow = |_| TxError::panic("Int overflow");
        let denom = earned.denom().clone();
        let withdrawn = payment.value.withdrawn.amount().checked_add(earned.amount());
        let withdrawn = withdrawn.ok_or_else(|| TxError::panic("Int overflow"))?;
        let paid = DecCoin::try_from(earned).map_err(overflow)?;
        let left = payment.value.balance.amount().checked_sub(paid.amount()).unwrap_or_default();
        payment.value.withdrawn = Coin::new(denom.clone(), withdrawn);
        payment.value.balance = DecCoin::new(denom, left).map_err(overflow)?;
        payment.dirty = true;
        Ok(())
    }
}
