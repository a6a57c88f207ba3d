//! Money held for others: what tenants deposit for their deployments, what providers deposit for
//! their bids, and what is owed from the former to the latter.
//!
//! An account is settled only when a transaction touches it: for the blocks since the last time,
//! each payment gets its rate from the deposits, in the order in which they were made. When they
//! run dry the account and its payments are overdrawn, which closes the deployment.
//!
//! Quirks of the chain that are kept, because providers meet them: a payment cannot be withdrawn
//! twice in one block, and closing the account of a bid ends in an error after it took effect.

mod account;
mod settle;

pub(crate) use account::{AccountDeposit, parse as parse_deposit};
pub(crate) use akash_types::{EscrowAccount, EscrowPayment};

use std::sync::Arc;

use account::whole;
use akash_types::{Address, Coin, DecCoin, EscrowAccountId, EscrowPaymentId, EscrowState};

use super::error::{GrpcCode, ModuleError, Outcome};
use super::run::Exec;
use super::tables::Tables;
use crate::state::auth::ESCROW;
use crate::state::error::TxError;
use crate::state::gas::Step;

const SPACE: &str = "escrow";

const fn error(code: u32, grpc: GrpcCode, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, grpc, text)
}

const ACCOUNT_EXISTS: ModuleError = error(1, GrpcCode::AlreadyExists, "account exists");
const ACCOUNT_CLOSED: ModuleError = error(2, GrpcCode::FailedPrecondition, "account closed");
pub(crate) const ACCOUNT_NOT_FOUND: ModuleError = error(3, GrpcCode::NotFound, "account not found");
const ACCOUNT_OVERDRAWN: ModuleError = error(4, GrpcCode::FailedPrecondition, "account overdrawn");
const INVALID_DENOMINATION: ModuleError =
    error(5, GrpcCode::InvalidArgument, "invalid denomination");
const PAYMENT_EXISTS: ModuleError = error(6, GrpcCode::AlreadyExists, "payment exists");
const PAYMENT_CLOSED: ModuleError = error(7, GrpcCode::FailedPrecondition, "payment closed");
pub(crate) const PAYMENT_NOT_FOUND: ModuleError = error(8, GrpcCode::NotFound, "payment not found");
const PAYMENT_RATE_ZERO: ModuleError = error(9, GrpcCode::InvalidArgument, "payment rate zero");
const INVALID_ID: ModuleError = error(12, GrpcCode::InvalidArgument, "invalid ID");

/// Something loaded to be changed: what it was, and whether it must be stored.
struct Working<T> {
    value: T,
    before: EscrowState,
    dirty: bool,
}

impl Tables {
    pub(crate) fn escrow_account(&self, id: EscrowAccountId) -> Option<&EscrowAccount> {
        self.escrow_accounts.get(&Arc::from(id.to_string()))
    }

    pub(crate) fn escrow_payment(&self, id: EscrowPaymentId) -> Option<&EscrowPayment> {
        self.escrow_payments.get(&Arc::from(id.to_string()))
    }

    fn put_escrow_account(&mut self, account: EscrowAccount, before: Option<EscrowState>) {
        let key: Arc<str> = Arc::from(account.id.to_string());
        if let Some(before) = before.filter(|before| *before != account.state) {
            self.escrow_accounts_by_state.remove(&(before, Arc::clone(&key)));
        }
        self.escrow_accounts_by_state.insert((account.state, Arc::clone(&key)), ());
        self.escrow_accounts.insert(key, account);
    }

    fn put_escrow_payment(&mut self, payment: EscrowPayment, before: Option<EscrowState>) {
        let key: Arc<str> = Arc::from(payment.id.to_string());
        if let Some(before) = before.filter(|before| *before != payment.state) {
            self.escrow_payments_by_state.remove(&(before, Arc::clone(&key)));
        }
        self.escrow_payments_by_state.insert((payment.state, Arc::clone(&key)), ());
        self.escrow_payments.insert(key, payment);
    }
}

impl Exec {
    fn load_account(&self, id: EscrowAccountId) -> Outcome<Working<EscrowAccount>> {
        let value = self.tables.escrow_account(id).cloned().ok_or(ACCOUNT_NOT_FOUND)?;
        Ok(Working { before: value.state, value, dirty: false })
    }

    fn load_payment(&self, id: EscrowPaymentId) -> Outcome<EscrowPayment> {
        Ok(self.tables.escrow_payment(id).cloned().ok_or(PAYMENT_NOT_FOUND)?)
    }

    /// Payments of an account in these states, state by state, each in the order of its key.
    fn account_payments(
        &self,
        id: EscrowAccountId,
        states: &[EscrowState],
    ) -> Vec<Working<EscrowPayment>> {
        let (start, end) = (Arc::<str>::from(format!("{id}/")), Arc::<str>::from(format!("{id}0")));
        let mut found = Vec::new();
        for state in states {
            let keys = self
                .tables
                .escrow_payments_by_state
                .between((*state, Arc::clone(&start)), (*state, Arc::clone(&end)));
            for ((_, key), ()) in keys {
                let payment = self.tables.escrow_payments.get(key).cloned();
                found.extend(payment.map(|value| Working {
                    before: value.state,
                    value,
                    dirty: false,
                }));
            }
        }
        found
    }
}

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
    fn pay_out(&mut self, payment: &mut Working<EscrowPayment>) -> Outcome {
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
