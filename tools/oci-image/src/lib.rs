//! Images of containers, written as files: no engine, no registry, no root.
//!
//! `cargo xtask image` writes the one that is shipped, `kube-bed` those that tests run. The same
//! files give the same bytes: no times, no owners, a fixed order.
//!
//! Must not know: who builds the programs, and what runs the images.

#![allow(missing_docs)]

mod image;
mod libraries;
mod program;
mod tar;

pub use image::{Image, Packing, Written};
pub use program::{of_program, without_symbols};
pub use tar::Tar;
