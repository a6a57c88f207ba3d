//! Who is asking, and what they may do.
//!
//! - [`jwt`]: tokens, read, checked and made.

pub mod jwt;
