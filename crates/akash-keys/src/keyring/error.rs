//! What can go wrong with a keyring.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use akash_types::Address;

use super::jwe::JweError;
use super::lock::NoPassphrase;
use super::record::RecordKind;
use crate::RandomError;

/// Why a keyring could not be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    #[error("keyring backend {name:?} is not one of file, os, test, memory")]
    UnknownBackend { name: String },
    #[error(
        "keyring backend {name:?} is not supported here: export the key where it is and import \
         it with --keyring-backend file or test"
    )]
    UnsupportedBackend { name: String },
    #[error(
        "keyring backend \"os\" is not supported on this system: export the key from where it is \
         and import it with --keyring-backend file or test"
    )]
    UnsupportedSystem,
    #[error("{attempted} in the secret service; --keyring-backend file and test do without it")]
    SecretService {
        attempted: &'static str,
        /// Why it was not done.
        source: Box<dyn Error + Send + Sync>,
    },
    #[error(
        "the secret service did not open its keyring {keyring:?}: its question was dismissed, or \
         there is no desktop to show it; answer it there, or use --keyring-backend file or test"
    )]
    Dismissed {
        /// The name of the keyring, as the desktop shows it.
        keyring: &'static str,
    },
    #[error("reading {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("writing {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("removing {}", path.display())]
    Remove { path: PathBuf, source: io::Error },
    #[error(transparent)]
    NoPassphrase(#[from] NoPassphrase),
    #[error("incorrect passphrase")]
    WrongPassphrase,
    #[error("a passphrase for a keyring has {min} to {max} bytes")]
    PassphraseLength {
        /// At least.
        min: usize,
        max: usize,
    },
    #[error(
        "{} is damaged; without it the keyring asks for its passphrase and makes a new one",
        path.display()
    )]
    Hash { path: PathBuf },
    #[error("item {item:?} of the keyring")]
    Item { item: String, source: JweError },
    #[error("item {item:?} of the keyring exists")]
    ItemExists { item: String },
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("{name:?} is no name for a key: {reason}")]
    Name { name: String, reason: &'static str },
    #[error("no key {name:?} in the keyring")]
    NoKey { name: String },
    #[error("no key of account {address} in the keyring")]
    NoAccount { address: Address },
    #[error("a key {name:?} is in the keyring already")]
    NameTaken { name: String },
    #[error("account {address} is in the keyring already, as key {name:?}")]
    AccountTaken { address: Address, name: String },
    #[error("key {name:?} is of a type whose account is not known")]
    NoAddress { name: String },
    #[error("key {name:?} is of kind {kind}, which this program does not touch")]
    NotUnderstood { name: String, kind: RecordKind },
}
