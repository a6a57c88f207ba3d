//! What things cost.
//!
//! The real chain meters every byte it reads and writes. Here each step has a fixed price, chosen
//! so that whole transactions cost about what they cost on a recorded chain.

use super::error::{Outcome, sdk};

/// What a transaction may still use.
#[derive(Clone, Debug)]
pub(crate) struct Gas {
    limit: Option<u64>,
    used: u64,
}

impl Gas {
    pub(crate) const fn limited(limit: u64) -> Self {
        Self { limit: Some(limit), used: 0 }
    }

    /// For simulations, which find out what a transaction uses.
    pub(crate) const fn unlimited() -> Self {
        Self { limit: None, used: 0 }
    }

    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    /// Uses `amount`; `location` is what the real chain would have been doing.
    pub(crate) fn charge(&mut self, amount: u64, location: &str) -> Outcome {
        self.used = self.used.saturating_add(amount);
        match self.limit {
            Some(limit) if self.used > limit => {
                let used = self.used;
                Err(sdk::OUT_OF_GAS.wrap(format_args!(
                    "out of gas in location: {location}; gasWanted: {limit}, gasUsed: {used}"
                )))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn step(&mut self, step: Step) -> Outcome {
        let location = if step.writes() { "WritePerByte" } else { "ReadPerByte" };
        self.charge(step.price(), location)
    }
}

/// Price of one byte of a transaction.
pub(crate) const BYTE: u64 = 10;
pub(crate) const SIGNATURE: u64 = 1_000;
/// Bytes that a simulation adds for a signature that is not there yet.
pub(crate) const ABSENT_SIGNATURE: u64 = 112;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Parameters and accounts, read before anything else.
    Begin,
    Fee,
    Sequence,
    Lookup,
    /// What is read before the order of a bid is looked up.
    BidLimits,
    /// All else that a bid is compared with.
    BidChecks,
    BidCreate,
    BidClose,
    BidMatch,
    LeaseCreate,
    LeaseUpdate,
    OrderCreate,
    OrderUpdate,
    GroupCreate,
    GroupUpdate,
    DeploymentCreate,
    DeploymentUpdate,
    DeploymentClose,
    AccountCreate,
    AccountSettle,
    AccountClose,
    PaymentCreate,
    PaymentUpdate,
    Transfer,
    ProviderWrite,
    CertificateWrite,
    AuditWrite,
    GrantWrite,
}

impl Step {
    pub(crate) const fn price(self) -> u64 {
        match self {
            Self::Begin => 10_000,
            // With the bytes of a usual fee, 15,958 between a simulation without and a
            // transaction with it.
            Self::Fee => 16_238,
            Self::Sequence => 12_000,
            Self::Lookup => 1_700,
            Self::BidLimits => 7_800,
            Self::BidChecks => 6_300,
            Self::BidCreate => 26_000,
            Self::BidClose => 23_000,
            Self::BidMatch => 23_000,
            Self::LeaseCreate => 30_000,
            Self::LeaseUpdate => 27_000,
            Self::OrderCreate => 24_000,
            Self::OrderUpdate => 24_000,
            Self::GroupCreate => 20_000,
            Self::GroupUpdate => 20_000,
            Self::DeploymentCreate => 15_000,
            // As ProviderWrite: 1.3 times a simulation without its fee just gets through.
            Self::DeploymentUpdate => 26_000,
            Self::DeploymentClose => 12_000,
            Self::AccountCreate => 19_000,
            Self::AccountSettle => 27_000,
            Self::AccountClose => 8_000,
            Self::PaymentCreate => 9_000,
            Self::PaymentUpdate => 4_300,
            Self::Transfer => 16_300,
            // Clients that multiply a simulation by 1.3 just get through, as on the real chain.
            Self::ProviderWrite => 28_000,
            Self::CertificateWrite => 40_000,
            Self::AuditWrite => 15_000,
            Self::GrantWrite => 12_000,
        }
    }

    const fn writes(self) -> bool {
        !matches!(self, Self::Begin | Self::Lookup | Self::BidLimits | Self::BidChecks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_limit_is_out_of_gas() {
        let mut gas = Gas::limited(1_000);
        assert_eq!(gas.charge(1_000, "ReadFlat"), Ok(()));
        let error = gas.charge(3, "ReadPerByte").unwrap_err();
        assert_eq!(
            error.log,
            "out of gas in location: ReadPerByte; gasWanted: 1000, gasUsed: 1003: out of gas"
        );
        assert_eq!((error.codespace, error.code), ("sdk", 11));
        assert!(error.unwinds());
    }
}
