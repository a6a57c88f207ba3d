//! What is wrong with a message, and where in it.

use std::fmt;

use crate::{
    AddressError, CoinError, DecError, DenomError, DepositError, IdError, ReasonError, UnknownState,
};

/// Why a message does not mean anything: the place, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConvertError {
    path: String,
    problem: ConvertProblem,
}

impl ConvertError {
    /// Place of the problem in the message, e.g. `resources[0].resource.cpu.units`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub const fn problem(&self) -> &ConvertProblem {
        &self.problem
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}", self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

/// What can be wrong at one place of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertProblem {
    /// A part is absent that has no default.
    #[error("is missing")]
    Missing,
    /// A text of digits is no integer, or out of range.
    #[error("{text:?} must be a whole number from 0 to {max}, as plain base-10 digits")]
    Integer {
        /// The text, shortened.
        text: String,
        /// The largest allowed.
        max: u128,
    },
    /// A height or time is negative.
    #[error("{value} is negative, expected zero or more")]
    Negative {
        /// The value.
        value: i64,
    },
    /// A span of time is negative or malformed.
    #[error(
        "{seconds} s and {nanos} ns are not a span of time, expected zero or more and under 10^9 ns"
    )]
    Duration {
        /// Whole seconds.
        seconds: i64,
        /// Nanoseconds on top.
        nanos: i32,
    },
    /// A kind of endpoint is none of the known ones.
    #[error("endpoint kind {code} is unknown, expected 0 to 2")]
    EndpointKind {
        /// The number.
        code: i32,
    },
    /// A manifest hash has the wrong length.
    #[error("manifest hash has {got} bytes, expected 32")]
    HashLength {
        /// How many bytes there were.
        got: usize,
    },
    /// Not an account.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Not an id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// Not a state.
    #[error(transparent)]
    State(#[from] UnknownState),
    /// Not a reason to close a lease.
    #[error(transparent)]
    Reason(#[from] ReasonError),
    /// Not a decimal.
    #[error(transparent)]
    Dec(#[from] DecError),
    /// Not a denomination.
    #[error(transparent)]
    Denom(#[from] DenomError),
    /// Not a coin.
    #[error(transparent)]
    Coin(#[from] CoinError),
    /// Not a deposit.
    #[error(transparent)]
    Deposit(#[from] DepositError),
}

impl<E: Into<ConvertProblem>> From<E> for ConvertError {
    fn from(problem: E) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }
}

/// Says where in a message an error is.
pub(super) trait At<T> {
    /// The error is in this field.
    fn at(self, field: &str) -> Result<T, ConvertError>;
}

impl<T, E: Into<ConvertError>> At<T> for Result<T, E> {
    fn at(self, field: &str) -> Result<T, ConvertError> {
        self.map_err(|error| {
            let ConvertError { path, problem } = error.into();
            let separator = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            ConvertError { path: format!("{field}{separator}{path}"), problem }
        })
    }
}

/// A part that has no default.
pub(super) fn required<P, T: TryFrom<P>>(field: &str, part: Option<P>) -> Result<T, ConvertError>
where
    T::Error: Into<ConvertError>,
{
    part.ok_or(ConvertProblem::Missing).at(field)?.try_into().at(field)
}

/// A part that may be absent and is kept apart from its default.
pub(super) fn optional<P, T: TryFrom<P>>(
    field: &str,
    part: Option<P>,
) -> Result<Option<T>, ConvertError>
where
    T::Error: Into<ConvertError>,
{
    part.map(T::try_from).transpose().at(field)
}

/// A part whose absence means its default.
pub(super) fn defaulted<P: Default, T: TryFrom<P>>(
    field: &str,
    part: Option<P>,
) -> Result<T, ConvertError>
where
    T::Error: Into<ConvertError>,
{
    part.unwrap_or_default().try_into().at(field)
}

/// Every part of a list.
pub(super) fn list<P, T: TryFrom<P>>(field: &str, parts: Vec<P>) -> Result<Vec<T>, ConvertError>
where
    T::Error: Into<ConvertError>,
{
    // What is read is kept for long, in thousands: no more room than it needs.
    let mut list = Vec::with_capacity(parts.len());
    for (index, part) in parts.into_iter().enumerate() {
        match part.try_into() {
            Ok(part) => list.push(part),
            Err(error) => return Err(error).at(&format!("{field}[{index}]")),
        }
    }
    Ok(list)
}

/// The messages of a list.
pub(super) fn messages<T: Into<P>, P>(parts: Vec<T>) -> Vec<P> {
    parts.into_iter().map(Into::into).collect()
}
