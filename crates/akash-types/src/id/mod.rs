//! Identifiers: each names one thing on chain and carries the ids of what contains it.
//!
//! ```text
//! deployment  owner/dseq
//!   group       …/gseq
//!     order       …/oseq
//!       bid, lease  …/provider
//! ```
//!
//! An id that exists is well formed; whether the thing exists is for the chain to say.

mod deployment;
mod escrow;
mod market;

pub use deployment::{DeploymentId, GroupId};
pub use escrow::{EscrowAccountId, EscrowPaymentId, EscrowScope};
pub use market::{BidId, LeaseId, OrderId};

use crate::Address;
use crate::address::AddressError;
use crate::causes::shortened;

/// Why something is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text has the wrong number of parts.
    #[error("{what} {text:?} must have the form {form}")]
    Form {
        /// Which kind of id was read.
        what: &'static str,
        /// The text, shortened.
        text: String,
        /// What it should look like.
        form: &'static str,
    },
    /// A part that should be a number is none, or too large.
    #[error("{part} {text:?} must be a whole number from 1 to {max}")]
    Number {
        /// Which part.
        part: &'static str,
        /// The text, shortened.
        text: String,
        /// The largest allowed.
        max: u64,
    },
    /// A sequence number is zero; all of them start at 1.
    #[error("{part} is 0, expected 1 or more")]
    Zero {
        /// Which part.
        part: &'static str,
    },
    /// A part that should be an account is none.
    #[error("{part} is not an account")]
    Account {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        source: AddressError,
    },
    /// The scope of an escrow account is none of the known ones.
    #[error("escrow scope {scope:?} is unknown, expected deployment or bid")]
    Scope {
        /// The name or number that was found.
        scope: String,
    },
}

/// Splits into exactly `N` parts.
fn split<'t, const N: usize>(
    what: &'static str,
    form: &'static str,
    text: &'t str,
) -> Result<[&'t str; N], IdError> {
    let wrong = |_| IdError::Form { what, text: shortened(text), form };
    // One more than wanted is enough to see that there are too many.
    text.splitn(N + 1, '/').collect::<Vec<_>>().try_into().map_err(wrong)
}

/// What follows `prefix/`.
fn strip<'t>(
    what: &'static str,
    form: &'static str,
    prefix: &str,
    text: &'t str,
) -> Result<&'t str, IdError> {
    text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).ok_or_else(|| IdError::Form {
        what,
        text: shortened(text),
        form,
    })
}

fn account(part: &'static str, text: &str) -> Result<Address, IdError> {
    text.parse().map_err(|source| IdError::Account { part, source })
}

/// Reads digits only: a sign is not part of a sequence number.
fn number<T: TryFrom<u64>>(part: &'static str, text: &str, max: u64) -> Result<T, IdError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse::<u64>().ok().filter(|_| digits).and_then(|value| value.try_into().ok());
    value.ok_or_else(|| IdError::Number { part, text: shortened(text), max })
}

fn sequence(part: &'static str, text: &str) -> Result<u32, IdError> {
    number(part, text, u64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
