//! The passphrase of a directory of items: a fixed one, or one that a person knows.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::KeyringError;
use super::jwe::{self, JweError};
use crate::atomic_file::{self, Existing};
use crate::{Passphrase, random};

/// The file beside the items that has a hash of their passphrase.
pub(super) const HASH_FILE: &str = "keyhash";

/// What a passphrase is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// To open the keyring in this directory.
    Unlock(&'a Path),
    /// To protect the keyring that is made in this directory; a person had better type it twice.
    Create(&'a Path),
}

/// Who knows the passphrase of a keyring: a prompt, as a rule.
///
/// Every closure of that form is one.
pub trait PassphraseSource: Send + Sync {
    /// The passphrase. It is asked for once, or again after it was wrong.
    fn passphrase(&self, ask: Ask<'_>) -> Result<Passphrase, NoPassphrase>;
}

impl<F> PassphraseSource for F
where
    F: Fn(Ask<'_>) -> Result<Passphrase, NoPassphrase> + Send + Sync,
{
    fn passphrase(&self, ask: Ask<'_>) -> Result<Passphrase, NoPassphrase> {
        self(ask)
    }
}

/// A passphrase was needed and could not be had.
#[derive(Debug, thiserror::Error)]
#[error("no passphrase for the keyring")]
pub struct NoPassphrase(#[source] pub Box<dyn Error + Send + Sync>);

/// How the passphrase of a directory is found.
pub(super) enum Lock {
    Fixed(Passphrase),
    /// Someone is asked; a file beside the items has a hash of it.
    Asked(Asked),
}

/// A passphrase that is asked for once.
pub(super) struct Asked {
    source: Box<dyn PassphraseSource>,
    known: Mutex<Option<Passphrase>>,
}

impl Asked {
    /// Fewer characters Go does not take.
    const MIN_LEN: usize = 8;
    /// bcrypt looks at no more bytes, and Go refuses what it would cut off.
    const MAX_LEN: usize = 72;
    /// What Go's bcrypt makes of the cost it is given here.
    const COST: u32 = 10;

    pub(super) fn new(source: Box<dyn PassphraseSource>) -> Self {
        Self { source, known: Mutex::new(None) }
    }

    /// The passphrase of `directory`, checked against its hash or else against `sample`, the
    /// content of some item file.
    pub(super) fn passphrase(
        &self,
        directory: &Path,
        sample: impl FnOnce() -> Result<Option<String>, KeyringError>,
    ) -> Result<Passphrase, KeyringError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(passphrase) = &*known {
            return Ok(passphrase.clone());
        }
        let file = directory.join(HASH_FILE);
        let read = |source| KeyringError::Read { path: file.clone(), source };
        let passphrase = match atomic_file::read(&file).map_err(read)? {
            Some(hash) => {
                let passphrase = self.source.passphrase(Ask::Unlock(directory))?;
                match fits(&passphrase, &hash) {
                    Some(true) => passphrase,
                    Some(false) => return Err(KeyringError::WrongPassphrase),
                    None => return Err(KeyringError::Hash { path: file }),
                }
            }
            None => self.without_hash(directory, &file, sample()?)?,
        };
        *known = Some(passphrase.clone());
        Ok(passphrase)
    }

    /// No hash was written yet, or it was lost: where there is an item, it tells.
    fn without_hash(
        &self,
        directory: &Path,
        file: &Path,
        sample: Option<String>,
    ) -> Result<Passphrase, KeyringError> {
        let passphrase = match sample {
            Some(token) => {
                let passphrase = self.source.passphrase(Ask::Unlock(directory))?;
                match jwe::open(&token, &passphrase) {
                    Err(JweError::Decrypt) => return Err(KeyringError::WrongPassphrase),
                    _ => passphrase,
                }
            }
            None => {
                let passphrase = self.source.passphrase(Ask::Create(directory))?;
                let length = passphrase.as_bytes().len();
                if !(Self::MIN_LEN..=Self::MAX_LEN).contains(&length) {
                    let (min, max) = (Self::MIN_LEN, Self::MAX_LEN);
                    return Err(KeyringError::PassphraseLength { min, max });
                }
                passphrase
            }
        };
        let write = |source| KeyringError::Write { path: file.to_owned(), source };
        let hash = hash(&passphrase).map_err(|error| write(io::Error::other(error)))?;
        atomic_file::write(file, hash.as_bytes(), Existing::Replace).map_err(write)?;
        Ok(passphrase)
    }
}

/// The hash as Go's bcrypt writes it.
fn hash(passphrase: &Passphrase) -> Result<String, Box<dyn Error + Send + Sync>> {
    let parts = bcrypt::hash_with_salt(passphrase.as_bytes(), Asked::COST, *random()?)?;
    Ok(parts.format_for_version(bcrypt::Version::TwoA))
}

/// Whether the passphrase is the hashed one; `None` when that is no hash.
fn fits(passphrase: &Passphrase, hash: &[u8]) -> Option<bool> {
    bcrypt::verify(passphrase.as_bytes(), std::str::from_utf8(hash).ok()?.trim_end()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by golang.org/x/crypto/bcrypt from "correct horse battery".
    const GO_HASH: &[u8] = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/keyring/home/keyring-file/keyhash"
    ));

    #[test]
    fn hashes_of_go_and_of_this_program_tell_right_from_wrong() {
        let right = Passphrase::new("correct horse battery");
        let wrong = Passphrase::new("correct horse batterY");
        let own = hash(&right).unwrap();
        assert!(own.starts_with("$2a$10$"), "{own}");
        for hash in [GO_HASH, own.as_bytes()] {
            assert_eq!(fits(&right, hash), Some(true));
            assert_eq!(fits(&wrong, hash), Some(false));
        }
        for damaged in [&b""[..], b"$2a$10$short", b"\xff", b"plain"] {
            assert_eq!(fits(&right, damaged), None);
        }
    }
}
