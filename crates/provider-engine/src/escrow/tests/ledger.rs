//! A small escrow module of a chain: settles, pays, overdraws and closes as the contract says.
//!
//! Written from the chain's rules and apart from the forecast, so that they can disagree.

use akash_types::{
    Balance, Coin, Dec, DecCoin, Denom, EscrowAccount, EscrowAccountId, EscrowPayment, EscrowState,
    LeaseId,
};

use super::{address, deployment};
use crate::chain::{AccountRead, PaidLease};

const ONE: i128 = Dec::ONE.scaled();

pub(super) struct Payment {
    pub(super) lease: LeaseId,
    pub(super) rate: i128,
    balance: i128,
    pub(super) withdrawn: i128,
    pub(super) state: EscrowState,
}

/// The account of one deployment. Amounts are scaled.
pub(super) struct Ledger {
    dseq: u64,
    pub(super) settled_at: u64,
    pub(super) funds: i128,
    pub(super) payments: Vec<Payment>,
    pub(super) state: EscrowState,
    pub(super) closed_at: Option<u64>,
    /// The last height that is covered; found anew when something changes.
    covered: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Closed,
    SettledInThisBlock,
}

impl Ledger {
    /// `rates` are in the order in which the chain pays.
    pub(super) fn new(dseq: u64, height: u64, units: u64, rates: &[(LeaseId, i128)]) -> Self {
        let open = |(lease, rate): &(LeaseId, i128)| Payment {
            lease: *lease,
            rate: *rate,
            balance: 0,
            withdrawn: 0,
            state: EscrowState::Open,
        };
        let mut ledger = Self {
            dseq,
            settled_at: height,
            funds: i128::from(units) * ONE,
            payments: rates.iter().map(open).collect(),
            state: EscrowState::Open,
            closed_at: None,
            covered: 0,
        };
        ledger.find_covered();
        ledger
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == EscrowState::Open
    }

    pub(super) fn deposit(&mut self, units: u64) {
        self.funds += i128::from(units) * ONE;
        self.find_covered();
    }

    /// Whether settling at `height` would find too little.
    pub(super) const fn is_dry(&self, height: u64) -> bool {
        height > self.covered
    }

    fn find_covered(&mut self) {
        let owed = |blocks: u64| -> i128 {
            let blocks = i128::from(blocks);
            self.payments.iter().map(|payment| payment.rate * blocks / ONE * ONE).sum()
        };
        let (mut covered, mut uncovered) = (0, 1 << 40);
        while uncovered - covered > 1 {
            let middle = covered + (uncovered - covered) / 2;
            if owed(middle) > self.funds { uncovered = middle } else { covered = middle }
        }
        self.covered = self.settled_at + covered;
    }

    pub(super) fn settle(&mut self, height: u64) {
        let blocks = i128::from(height - self.settled_at);
        self.settled_at = height;
        let mut overdrawn = false;
        for payment in &mut self.payments {
            let due = payment.rate * blocks / ONE * ONE;
            let paid = due.min(self.funds);
            self.funds -= paid;
            payment.balance += paid;
            overdrawn |= paid < due;
        }
        if overdrawn {
            self.finish(height, EscrowState::Overdrawn);
        }
        self.find_covered();
    }

    fn finish(&mut self, height: u64, state: EscrowState) {
        self.state = state;
        self.closed_at = Some(height);
        for payment in &mut self.payments {
            payment.state = state;
            pay_out(payment);
        }
    }

    pub(super) fn close(&mut self, height: u64) {
        self.settle(height);
        if self.is_open() {
            self.finish(height, EscrowState::Closed);
        }
    }

    pub(super) fn withdraw(&mut self, lease: LeaseId, height: u64) -> Result<(), Refused> {
        if !self.is_open() {
            return Err(Refused::Closed);
        }
        if self.settled_at == height {
            return Err(Refused::SettledInThisBlock);
        }
        self.settle(height);
        if self.is_open() {
            pay_out(self.payments.iter_mut().find(|payment| payment.lease == lease).unwrap());
        }
        Ok(())
    }

    /// What a query shows.
    pub(super) fn facts(&self) -> AccountRead {
        let uact: Denom = "uact".parse().unwrap();
        let coin = |scaled| DecCoin::new(uact.clone(), Dec::from_scaled(scaled)).unwrap();
        let account = EscrowAccount {
            id: EscrowAccountId::Deployment(deployment(self.dseq)),
            owner: address(9),
            state: self.state,
            transferred: Vec::new(),
            settled_at: self.settled_at,
            funds: vec![Balance { denom: uact.clone(), amount: Dec::from_scaled(self.funds) }],
            deposits: Vec::new(),
        };
        let payments =
            self.payments.iter().filter(|payment| payment.lease.provider() == super::us());
        AccountRead {
            account: Some(account),
            leases: self
                .payments
                .iter()
                .filter(|payment| payment.state == EscrowState::Open)
                .map(|payment| PaidLease { lease: payment.lease, rate: coin(payment.rate) })
                .collect(),
            payments: payments
                .map(|payment| EscrowPayment {
                    id: payment.lease.into(),
                    owner: payment.lease.provider(),
                    state: payment.state,
                    rate: coin(payment.rate),
                    balance: coin(payment.balance),
                    unsettled: coin(0),
                    withdrawn: Coin::new(
                        uact.clone(),
                        u128::try_from(payment.withdrawn / ONE).unwrap(),
                    ),
                })
                .collect(),
        }
    }
}

fn pay_out(payment: &mut Payment) {
    let whole = payment.balance / ONE * ONE;
    payment.balance -= whole;
    payment.withdrawn += whole;
}
