//! The SDL as its author wrote it: names, values and their places, nothing resolved yet.
//!
//! Decoding goes from the YAML tree to these types and collects every problem on the way. What
//! one section says about another (a profile's name, a volume's name) is not looked at here:
//! that is [`crate::build`]'s work.

mod compute;
mod deployment;
mod expose;
mod placement;
mod quantity;
mod reader;
mod service;
mod top;

pub(crate) use compute::{AUTO_GROUP, Gpu, Resources};
pub(crate) use deployment::Placed;
pub(crate) use expose::{Expose, ExposeTo, Proxy};
pub(crate) use placement::Placement;
pub(crate) use reader::{Reader, Spot};
pub(crate) use service::{Credentials, Kbs, Params, Service};
pub(crate) use top::Document;
pub use top::Grammar;
