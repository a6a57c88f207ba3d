//! The lane against a small chain that misbehaves.

mod answers;
mod build;
mod chain;
mod driver;
mod properties;
mod rules;
