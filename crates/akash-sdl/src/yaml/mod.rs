//! YAML as a tree with places, read with the tolerance the SDL's users are used to.
//!
//! The parser crate knows the language; [`load`] turns its events into a flat tree ([`Tree`]) in
//! aliases are resolved, merge keys (`<<`) are expanded and duplicate keys are refused, so that
//! nothing above has to think about them. [`everyday`] gives the same tree faster for the part of
//! YAML that nearly all SDLs are written in. [`scalar`] holds the rules by which a scalar becomes
//! a number or a boolean.
//!
//! The input is hostile: size, depth and the number of nodes that aliases may expand to are
//! bounded. This module knows nothing of the SDL.

mod everyday;
mod load;
mod scalar;
mod tree;

pub(crate) use load::{MAX_BYTES, load};
pub(crate) use scalar::{NumberProblem, boolean, is_null, unsigned};
pub(crate) use tree::{Content, Node, Scalar, Tree};

/// Whether the short way, where it answers, gives the tree that the full parser gives.
#[cfg(fuzzing)]
pub(crate) fn ways_agree(text: &str) -> bool {
    if load::check_characters(text).is_err() {
        return true;
    }
    everyday::load(text)
        .is_none_or(|short| load::load_any(text).is_ok_and(|long| short.flat() == long.flat()))
}
