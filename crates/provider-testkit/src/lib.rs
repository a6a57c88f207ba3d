//! What tests of the provider share. Never shipped.

pub mod contract;
