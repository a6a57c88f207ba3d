//! The lane against a small chain that misbehaves.

mod answers;
mod build;
mod chain;
mod driver;
mod hand;
mod inherited;
mod properties;
mod refusals;
mod rules;
