//! Deposits: money put into escrow, and where it comes from.

use crate::Coin;

/// Where the money of a deposit comes from. Numbers as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DepositSource {
    /// The signer's own balance.
    Balance = 1,
    /// A grant that somebody gave the signer.
    Grant = 2,
}

impl DepositSource {
    /// Number on the wire.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The source with this number on the wire.
    pub const fn from_code(code: i32) -> Result<Self, DepositError> {
        match code {
            1 => Ok(Self::Balance),
            2 => Ok(Self::Grant),
            _ => Err(DepositError::UnknownSource { code }),
        }
    }

    /// Name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::Grant => "grant",
        }
    }
}

/// A deposit as a message carries it: a coin, and at least one source, tried in the given order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    coin: Coin,
    sources: Vec<DepositSource>,
}

impl Deposit {
    /// A deposit of `coin` taken from `sources`, tried in this order.
    pub fn new(coin: Coin, sources: Vec<DepositSource>) -> Result<Self, DepositError> {
        if sources.is_empty() {
            return Err(DepositError::NoSource);
        }
        for source in [DepositSource::Balance, DepositSource::Grant] {
            if sources.iter().filter(|&&given| given == source).count() > 1 {
                return Err(DepositError::DuplicateSource { name: source.as_str() });
            }
        }
        Ok(Self { coin, sources })
    }

    /// A deposit of `coin` from the signer's own balance, which is how a provider pays.
    pub fn from_balance(coin: Coin) -> Self {
        Self { coin, sources: vec![DepositSource::Balance] }
    }

    /// How much.
    pub const fn coin(&self) -> &Coin {
        &self.coin
    }

    /// Where from, in the order they are tried.
    pub fn sources(&self) -> &[DepositSource] {
        &self.sources
    }
}

/// Why something is not a deposit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DepositError {
    /// No source is named.
    #[error("a deposit needs at least one source: balance, grant")]
    NoSource,
    /// A source is named twice.
    #[error("deposit source {name} is named twice, each may be named once")]
    DuplicateSource {
        /// Name of the source.
        name: &'static str,
    },
    /// A source is none of the known ones.
    #[error("deposit source {code} is unknown, expected 1 (balance) or 2 (grant)")]
    UnknownSource {
        /// The number that was found.
        code: i32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use DepositSource::{Balance, Grant};

    fn coin() -> Coin {
        "500000uakt".parse().unwrap()
    }

    #[test]
    fn sources_are_named_at_least_once_and_at_most_once() {
        for sources in [vec![Balance], vec![Grant], vec![Grant, Balance], vec![Balance, Grant]] {
            let deposit = Deposit::new(coin(), sources.clone()).unwrap();
            assert_eq!((deposit.coin(), deposit.sources()), (&coin(), sources.as_slice()));
        }
        assert_eq!(Deposit::new(coin(), vec![]), Err(DepositError::NoSource));
        for sources in [vec![Balance, Balance], vec![Grant, Balance, Grant]] {
            let error = Deposit::new(coin(), sources).unwrap_err();
            assert!(matches!(error, DepositError::DuplicateSource { .. }));
        }
        assert_eq!(Deposit::from_balance(coin()).sources(), [Balance]);
    }

    #[test]
    fn sources_keep_their_numbers() {
        for source in [Balance, Grant] {
            assert_eq!(DepositSource::from_code(source.code()), Ok(source));
        }
        for code in [-1, 0, 3] {
            assert_eq!(DepositSource::from_code(code), Err(DepositError::UnknownSource { code }));
        }
    }
}
