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
    /// No keyring is kept that way.
    #[error("keyring backend {name:?} is not one of file, os, test, memory")]
    UnknownBackend {
        /// What was asked for.
        name: String,
    },
    /// A place for keys that Go knows and this program does not.
    #[error(
        "keyring backend {name:?} is not supported here: export the key where it is and import \
         it with --keyring-backend file or test"
    )]
    UnsupportedBackend {
        /// What was asked for.
        name: String,
    },
    /// The `os` keyring of a system whose own store of secrets this program cannot use.
    #[error(
        "keyring backend \"os\" is not supported on this system: export the key from where it is \
         and import it with --keyring-backend file or test"
    )]
    UnsupportedSystem,
    /// The secret service of the desktop session did not do what was asked of it.
    #[error("{attempted} in the secret service; --keyring-backend file and test do without it")]
    SecretService {
        /// What was asked.
        attempted: &'static str,
        /// Why it was not done.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The desktop asks a person before it opens or makes a keyring, and got no answer.
    #[error(
        "the secret service did not open its keyring {keyring:?}: its question was dismissed, or \
         there is no desktop to show it; answer it there, or use --keyring-backend file or test"
    )]
    Dismissed {
        /// The name of the keyring, as the desktop shows it.
        keyring: &'static str,
    },
    /// A file or directory could not be read.
    #[error("reading {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or directory could not be written.
    #[error("writing {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be removed.
    #[error("removing {}", path.display())]
    Remove {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The passphrase could not be had.
    #[error(transparent)]
    NoPassphrase(#[from] NoPassphrase),
    /// It is not the passphrase of this keyring.
    #[error("incorrect passphrase")]
    WrongPassphrase,
    /// A passphrase that Go would not take.
    #[error("a passphrase for a keyring has {min} to {max} bytes")]
    PassphraseLength {
        /// At least.
        min: usize,
        /// At most.
        max: usize,
    },
    /// The file that should hold the hash of the passphrase holds something else.
    #[error(
        "{} is damaged; without it the keyring asks for its passphrase and makes a new one",
        path.display()
    )]
    Hash {
        /// The file.
        path: PathBuf,
    },
    /// An item could not be decrypted or encrypted.
    #[error("item {item:?} of the keyring")]
    Item {
        /// Which.
        item: String,
        /// Why.
        source: JweError,
    },
    /// There is an item of that name already.
    #[error("item {item:?} of the keyring exists")]
    ItemExists {
        /// Which.
        item: String,
    },
    /// No random bytes.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Not a name for a key.
    #[error("{name:?} is no name for a key: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no such key.
    #[error("no key {name:?} in the keyring")]
    NoKey {
        /// The name.
        name: String,
    },
    /// There is no key of this account.
    #[error("no key of account {address} in the keyring")]
    NoAccount {
        /// The account.
        address: Address,
    },
    /// There is a key of that name.
    #[error("a key {name:?} is in the keyring already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is another key of the same account.
    #[error("account {address} is in the keyring already, as key {name:?}")]
    AccountTaken {
        /// The account.
        address: Address,
        /// The key that is there.
        name: String,
    },
    /// The key has no account that this program could tell.
    #[error("key {name:?} is of a type whose account is not known")]
    NoAddress {
        /// The name.
        name: String,
    },
    /// The record is not one this program understands, so it leaves it alone.
    #[error("key {name:?} is of kind {kind}, which this program does not touch")]
    NotUnderstood {
        /// The name.
        name: String,
        /// Its kind.
        kind: RecordKind,
    },
}
