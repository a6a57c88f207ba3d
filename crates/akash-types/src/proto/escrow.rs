//! Escrow accounts and payments.

use akash_proto::akash::escrow::types::v1 as wire;

use super::error::{At, ConvertError, ConvertProblem, defaulted, list, messages, required};
use super::id::address;
use super::params::{count, wire_count};
use crate::escrow::{Depositor, EscrowAccount, EscrowPayment};
use crate::{DepositSource, EscrowState};

impl TryFrom<wire::Account> for EscrowAccount {
    type Error = ConvertError;

    fn try_from(account: wire::Account) -> Result<Self, Self::Error> {
        let id = required("id", account.id)?;
        let state = account.state.ok_or(ConvertProblem::Missing).at("state")?;
        let read = || -> Result<Self, ConvertError> {
            Ok(Self {
                id,
                owner: address("owner", &state.owner)?,
                state: EscrowState::from_code(state.state).at("state")?,
                transferred: list("transferred", state.transferred)?,
                settled_at: count("settled_at", state.settled_at)?,
                funds: list("funds", state.funds)?,
                deposits: list("deposits", state.deposits)?,
            })
        };
        read().at("state")
    }
}

impl From<EscrowAccount> for wire::Account {
    fn from(account: EscrowAccount) -> Self {
        let state = wire::AccountState {
            owner: account.owner.to_string(),
            state: account.state.code(),
            transferred: messages(account.transferred),
            settled_at: wire_count(account.settled_at),
            funds: messages(account.funds),
            deposits: messages(account.deposits),
        };
        Self { id: Some(account.id.into()), state: Some(state) }
    }
}

impl TryFrom<wire::Depositor> for Depositor {
    type Error = ConvertError;

    fn try_from(depositor: wire::Depositor) -> Result<Self, Self::Error> {
        Ok(Self {
            owner: address("owner", &depositor.owner)?,
            height: count("height", depositor.height)?,
            source: DepositSource::from_code(depositor.source).at("source")?,
            balance: defaulted("balance", depositor.balance)?,
        })
    }
}

impl From<Depositor> for wire::Depositor {
    fn from(depositor: Depositor) -> Self {
        Self {
            owner: depositor.owner.to_string(),
            height: wire_count(depositor.height),
            source: depositor.source.code(),
            balance: Some(depositor.balance.into()),
        }
    }
}

impl TryFrom<wire::Payment> for EscrowPayment {
    type Error = ConvertError;

    fn try_from(payment: wire::Payment) -> Result<Self, Self::Error> {
        let id = required("id", payment.id)?;
        let state = payment.state.ok_or(ConvertProblem::Missing).at("state")?;
        let read = || -> Result<Self, ConvertError> {
            Ok(Self {
                id,
                owner: address("owner", &state.owner)?,
                state: EscrowState::from_code(state.state).at("state")?,
                rate: defaulted("rate", state.rate)?,
                balance: defaulted("balance", state.balance)?,
                unsettled: defaulted("unsettled", state.unsettled)?,
                withdrawn: defaulted("withdrawn", state.withdrawn)?,
            })
        };
        read().at("state")
    }
}

impl From<EscrowPayment> for wire::Payment {
    fn from(payment: EscrowPayment) -> Self {
        let state = wire::PaymentState {
            owner: payment.owner.to_string(),
            state: payment.state.code(),
            rate: Some(payment.rate.into()),
            balance: Some(payment.balance.into()),
            unsettled: Some(payment.unsettled.into()),
            withdrawn: Some(payment.withdrawn.into()),
        };
        Self { id: Some(payment.id.into()), state: Some(state) }
    }
}
