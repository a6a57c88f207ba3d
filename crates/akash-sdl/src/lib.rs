//! What a tenant writes becomes what the chain and every provider expect.
//!
//! An SDL (2.0 or 2.1) is read with [`Sdl::read`] and becomes deployment groups for the chain, a
//! [`Manifest`] for the provider, and the manifest's [`Version`], the hash that ties the two
//! together. All three are equal, byte for byte, to what the Go SDK makes of the same file.
//!
//! A provider needs the second half: [`Manifest::from_json`], [`Manifest::version`],
//! [`Manifest::validate`] and [`Manifest::validate_against`].
//!
//! This crate does no IO of any kind.

mod build;
mod document;
mod encode;
mod groups_json;
pub mod manifest;
mod problem;
mod sdl;
mod yaml;

pub use document::Grammar;
pub use groups_json::{groups_to_json, groups_to_json_pretty};
pub use manifest::{Manifest, Version};
pub use problem::{Place, Problem, SdlErrors};
pub use sdl::Sdl;
