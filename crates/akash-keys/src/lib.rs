//! Account keys, where operators keep them, and the certificates that belong to them.
//!
//! - [`SecretKey`], [`PublicKey`], [`AccountKey`]: keys and the accounts they stand for.
//! - [`mnemonic`]: keys from words.
//! - [`keyring`]: the keyrings of `akash` and `provider-services`, file for file.
//! - [`armor`]: keys as text under a passphrase, for export and import.
//! - [`certificate`]: the self-signed certificate of an account and its PEM file.
//!
//! Secrets are wiped when dropped, and neither errors nor `Debug` show them. Nothing here reads
//! the environment or a terminal, and nothing knows what is signed.

#![allow(missing_docs)]

mod account_key;
mod amino;
pub mod armor;
mod atomic_file;
pub mod certificate;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hd_path;
pub mod keyring;
pub mod mnemonic;
mod passphrase;
mod pem;
mod random;
mod secret_key;

pub use account_key::{AccountKey, Multisig, PublicKey};
pub use amino::AminoError;
pub use hd_path::{HdPath, HdPathError};
pub use mnemonic::Mnemonic;
pub use passphrase::Passphrase;
pub use pem::PemError;
pub use random::{RandomError, random};
pub use secret_key::{KeyError, SecretKey};
