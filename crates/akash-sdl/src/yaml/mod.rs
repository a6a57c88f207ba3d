//! YAML as a tree with places, read with the tolerance the SDL's users are used to.
//!
//! The parser crate knows the language; [`load()`] turns its events into a flat tree ([`Tree`]) in
//! which aliases are resolved, merge keys (`<<`) are expanded and duplicate keys are refused.
//! [`tree`] also holds the rules by which a scalar becomes a number or a boolean.
//!
//! The input is hostile: size, depth and the number of nodes that aliases may expand to are
//! bounded. This module knows nothing of the SDL.

mod load;
mod tree;

pub(crate) use load::{MAX_BYTES, load};
pub(crate) use tree::{Content, Node, NumberProblem, Scalar, Tree, boolean, is_null, unsigned};
