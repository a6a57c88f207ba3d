//! Accounts: opened with deposits, closed with what is left of them.

use akash_proto::akash::base::deposit::v1 as wire_deposit;
use akash_proto::akash::escrow::v1 as wire;
use akash_types::{
    Address, Balance, Coin, Dec, DecCoin, Deposit, DepositSource, Depositor, EscrowAccount,
    EscrowAccountId, EscrowPayment, EscrowScope, EscrowState,
};

use super::{ACCOUNT_CLOSED, ACCOUNT_EXISTS, INVALID_ID, Working};
use crate::state::auth::ESCROW;
use crate::state::coins::Coins;
use crate::state::error::{GrpcCode, ModuleError, Outcome, TxError, sdk};
use crate::state::gas::Step;
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;
use crate::state::{deployment, market};

impl Exec {
    pub(crate) fn account_create(
        &mut self,
        id: EscrowAccountId,
        owner: Address,
        deposits: Vec<Depositor>,
    ) -> Outcome {
        if self.tables.escrow_account(id).is_some() {
            return Err(ACCOUNT_EXISTS.into());
        }
        self.step(Step::AccountCreate)?;
        let mut account = EscrowAccount {
            id,
            owner,
            state: EscrowState::Open,
            transferred: Vec::new(),
            settled_at: self.block.height,
            funds: Vec::new(),
            deposits: Vec::new(),
        };
        self.fetch_deposits(&mut account, deposits)?;
        self.tables.put_escrow_account(account, None);
        Ok(())
    }

    /// Takes deposits from their owners into an account.
    fn fetch_deposits(&mut self, account: &mut EscrowAccount, deposits: Vec<Depositor>) -> Outcome {
        for deposit in deposits {
            let denom = deposit.balance.denom().clone();
            if !account.funds.iter().any(|funds| funds.denom == denom) {
                account.funds.push(Balance { denom: denom.clone(), amount: Dec::ZERO });
            }
            if !account.transferred.iter().any(|coin| *coin.denom() == denom) {
                account.transferred.push(DecCoin::zero(denom.clone()));
            }
            self.step(Step::Transfer)?;
            self.pay_module(deposit.owner, ESCROW, &Coins::one(whole(&deposit.balance)?))?;
            if let Some(funds) = account.funds.iter_mut().find(|funds| funds.denom == denom) {
                // A debt starts again from nothing: settling finds it in the payments.
                let held = funds.amount.max(Dec::ZERO);
                funds.amount = held
                    .checked_add(deposit.balance.amount())
                    .ok_or_else(|| TxError::panic("Int overflow"))?;
            }
            account.deposits.push(deposit);
        }
        Ok(())
    }

    /// Adds deposits to an account. One that is overdrawn pays its debts with them, and is closed
    /// once they are paid.
    pub(super) fn account_deposit(
        &mut self,
        id: EscrowAccountId,
        deposits: Vec<Depositor>,
    ) -> Outcome {
        let mut account = self.load_account(id)?;
        if account.value.state == EscrowState::Closed {
            return Err(ACCOUNT_CLOSED.into());
        }
        account.dirty |= !deposits.is_empty();
        self.fetch_deposits(&mut account.value, deposits)?;
        let mut payments = Vec::new();
        if account.value.state == EscrowState::Overdrawn {
            let overdrawn;
            (payments, overdrawn) = self.settle(&mut account)?;
            self.close_payments(&mut payments)?;
            if !overdrawn {
                account.value.state = EscrowState::Closed;
            }
        }
        self.save(account, payments)
    }

    /// Settles and closes an account with all its payments.
    pub(crate) fn account_close(&mut self, id: EscrowAccountId) -> Outcome {
        let mut account = self.load_account(id)?;
        if account.value.state == EscrowState::Closed {
            return Err(ACCOUNT_CLOSED.into());
        }
        let (mut payments, _) = self.settle(&mut account)?;
        account.dirty = true;
        if account.value.state == EscrowState::Open {
            account.value.state = EscrowState::Closed;
        }
        self.close_payments(&mut payments)?;
        self.save(account, payments)
    }

    fn close_payments(&mut self, payments: &mut [Working<EscrowPayment>]) -> Outcome {
        for payment in payments {
            payment.dirty = true;
            if payment.value.state == EscrowState::Open {
                payment.value.state = EscrowState::Closed;
            }
            self.pay_out(payment)?;
        }
        Ok(())
    }

    /// Stores an account and its payments; what is closed has its consequences.
    pub(super) fn save(
        &mut self,
        account: Working<EscrowAccount>,
        payments: Vec<Working<EscrowPayment>>,
    ) -> Outcome {
        if account.dirty {
            self.save_account(account)?;
        }
        payments.into_iter().filter(|payment| payment.dirty).try_for_each(|payment| {
            let ended = payment.value.state != EscrowState::Open;
            let (id, state) = (payment.value.id, payment.value.state);
            self.tables.put_escrow_payment(payment.value, Some(payment.before));
            if ended { self.on_payment_closed(id, state) } else { Ok(()) }
        })
    }

    pub(super) fn save_account(&mut self, account: Working<EscrowAccount>) -> Outcome {
        let Working { value: mut account, before, .. } = account;
        let ended = account.state != EscrowState::Open;
        if ended {
            self.step(Step::AccountClose)?;
            for deposit in std::mem::take(&mut account.deposits) {
                self.return_deposit(&mut account, &deposit)?;
            }
        }
        let (id, state) = (account.id, account.state);
        self.tables.put_escrow_account(account, Some(before));
        if !ended {
            return Ok(());
        }
        match id {
            EscrowAccountId::Deployment(deployment) => self.on_account_closed(deployment, state),
            // The chain looks for a deployment behind every account and stops here.
            EscrowAccountId::Bid(_) => Err(deployment::INVALID_ESCROW_ID.into()),
        }
    }

    fn return_deposit(&mut self, account: &mut EscrowAccount, deposit: &Depositor) -> Outcome {
        if deposit.balance.is_zero() {
            return Ok(());
        }
        let coin = whole(&deposit.balance)?;
        self.pay_from(ESCROW, deposit.owner, coin.clone())?;
        if deposit.source == DepositSource::Grant {
            self.restore_deposit_grant(deposit.owner, account.owner, &coin);
        }
        let denom = deposit.balance.denom();
        if let Some(funds) = account.funds.iter_mut().find(|funds| funds.denom == *denom) {
            funds.amount = funds
                .amount
                .checked_sub(deposit.balance.amount())
                .ok_or_else(|| TxError::panic("Int overflow"))?;
        }
        Ok(())
    }
}

pub(super) fn whole(coin: &DecCoin) -> Outcome<Coin> {
    let amount = u128::try_from(coin.amount().truncate_int())
        .map_err(|_| TxError::panic("negative coin amount"))?;
    Ok(Coin::new(coin.denom().clone(), amount))
}

const INVALID_SOURCE: ModuleError =
    ModuleError::new("akash", 4, GrpcCode::InvalidArgument, "invalid deposit source");

pub(crate) fn parse(deposit: Option<wire_deposit::Deposit>) -> Outcome<Deposit> {
    let deposit = deposit.unwrap_or_default();
    let coin = deposit.amount.unwrap_or_default();
    let text = format!("{}{}", coin.amount, coin.denom);
    let coin = Coin::try_from(coin).map_err(|_| sdk::INVALID_COINS.wrap(text))?;
    let sources: Vec<_> = deposit
        .sources
        .iter()
        .map(|code| DepositSource::from_code(*code))
        .collect::<Result<_, _>>()
        .map_err(|error| INVALID_SOURCE.detail(error))?;
    Deposit::new(coin, sources).map_err(|error| INVALID_SOURCE.detail(error))
}

impl Exec {
    /// Where the coins of a deposit come from: its sources in order, until it is covered. Limits of
    /// grants that are used are lowered.
    pub(crate) fn authorize_deposit(
        &mut self,
        owner: Address,
        scope: EscrowScope,
        deposit: &Deposit,
    ) -> Outcome<Vec<Depositor>> {
        let denom = deposit.coin().denom().clone();
        let height = self.block.height;
        let mut remaining = deposit.coin().amount();
        let mut depositors = Vec::new();
        let mut take = |owner, source, available: u128, remaining: &mut u128| {
            let taken = available.min(*remaining);
            if taken > 0 {
                let balance = DecCoin::try_from(Coin::new(denom.clone(), taken))
                    .map_err(|_| TxError::panic("Int overflow"))?;
                depositors.push(Depositor { owner, height, source, balance });
                *remaining -= taken;
            }
            Ok::<_, TxError>(taken)
        };
        for source in deposit.sources() {
            match source {
                DepositSource::Balance => {
                    let held = self.balance(owner, deposit.coin().denom().as_str());
                    take(owner, *source, held, &mut remaining)?;
                }
                DepositSource::Grant => {
                    for granter in self.deposit_granters(owner) {
                        let denom = deposit.coin().denom();
                        let limit = self.deposit_limit(granter, owner, scope, denom);
                        let taken = take(granter, *source, limit, &mut remaining)?;
                        if taken > 0 {
                            self.lower_deposit_limit(granter, owner, denom, taken);
                        }
                    }
                }
            }
        }
        match remaining {
            0 => Ok(depositors),
            _ => Err(market::INVALID_DEPOSIT.detail("insufficient balance")),
        }
    }
}

/// Adds funds to an account, whoever's it is.
pub(crate) struct AccountDeposit {
    signer: Address,
    id: EscrowAccountId,
    deposit: Deposit,
}

impl Message for AccountDeposit {
    type Wire = wire::MsgAccountDeposit;

    fn parse(wire: wire::MsgAccountDeposit) -> Outcome<Self> {
        let signer = signer(&wire.signer)?;
        let id = wire.id.unwrap_or_default();
        let id = EscrowAccountId::try_from(id).map_err(|error| INVALID_ID.detail(error))?;
        Ok(Self { signer, id, deposit: parse(wire.deposit)? })
    }

    fn signer(&self) -> Address {
        self.signer
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let deposits = exec.authorize_deposit(self.signer, self.id.scope(), &self.deposit)?;
        exec.account_deposit(self.id, deposits)
    }
}
