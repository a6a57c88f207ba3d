//! Tests of the balance checker, by what they look at.

mod forecast;
mod ledger;
mod machine;
mod policy;
mod simulation;
mod wallet;

use akash_types::{
    Address, Balance, Coin, Dec, DecCoin, DeploymentId, EscrowAccount, EscrowAccountId,
    EscrowPayment, EscrowState, GroupId, LeaseId, OrderId,
};

use super::Settings;
use crate::chain::{AccountRead, PaidLease};

pub(super) fn address(byte: u8) -> Address {
    Address::from_bytes(&[byte; 20]).unwrap()
}

pub(super) fn us() -> Address {
    address(1)
}

pub(super) fn deployment(dseq: u64) -> DeploymentId {
    DeploymentId::new(address(9), dseq).unwrap()
}

pub(super) fn lease_of(dseq: u64, gseq: u32, provider: Address) -> LeaseId {
    let group = GroupId::new(deployment(dseq), gseq).unwrap();
    LeaseId::new(OrderId::new(group, 1).unwrap(), provider)
}

pub(super) fn ours(dseq: u64) -> LeaseId {
    lease_of(dseq, 1, us())
}

pub(super) fn coin(text: &str) -> Coin {
    text.parse().unwrap()
}

pub(super) fn dec_coin(text: &str) -> DecCoin {
    text.parse().unwrap()
}

pub(super) fn dec(text: &str) -> Dec {
    text.parse().unwrap()
}

/// The fee of the recorded withdrawal.
pub(super) fn settings() -> Settings {
    Settings::new(us(), coin("2808uakt"), coin("500000uakt"))
}

pub(super) fn account(dseq: u64, settled_at: u64, funds: &[&str]) -> EscrowAccount {
    let funds = funds.iter().map(|text| {
        let (negative, text) = text.strip_prefix('-').map_or((false, *text), |text| (true, text));
        let coin = dec_coin(text);
        let amount = if negative { coin.amount().checked_neg().unwrap() } else { coin.amount() };
        Balance { denom: coin.denom().clone(), amount }
    });
    EscrowAccount {
        id: EscrowAccountId::Deployment(deployment(dseq)),
        owner: address(9),
        state: EscrowState::Open,
        transferred: Vec::new(),
        settled_at,
        funds: funds.collect(),
        deposits: Vec::new(),
    }
}

pub(super) fn payment(lease: LeaseId, rate: &str, balance: &str, withdrawn: u128) -> EscrowPayment {
    let rate = dec_coin(rate);
    let denom = rate.denom().clone();
    EscrowPayment {
        id: lease.into(),
        owner: lease.provider(),
        state: EscrowState::Open,
        balance: DecCoin::new(denom.clone(), dec(balance)).unwrap(),
        unsettled: DecCoin::zero(denom.clone()),
        withdrawn: Coin::new(denom, withdrawn),
        rate,
    }
}

pub(super) fn paid(lease: LeaseId, rate: &str) -> PaidLease {
    PaidLease { lease, rate: dec_coin(rate) }
}

/// One lease of ours, alone on its account.
pub(super) fn alone(dseq: u64, settled_at: u64, funds: &str, rate: &str) -> AccountRead {
    AccountRead {
        account: Some(account(dseq, settled_at, &[funds])),
        leases: vec![paid(ours(dseq), rate)],
        payments: vec![payment(ours(dseq), rate, "0", 0)],
    }
}
