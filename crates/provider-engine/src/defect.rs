//! Deliberate mistakes in what the engine counts, which a test kit cannot make around it.
//!
//! Compiled only with the feature `defects`, which only `provider-testkit` turns on.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miscount {
    /// What runs and what is booked for it are both taken off what is free.
    Twice,
    /// Nothing is kept for some orders that get a bid.
    Forgotten,
}
