//! The ways to keep a keyring, and where each has its files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use super::directory::Directory;
use super::lock::{Asked, Lock};
use super::{KeyringError, PassphraseSource, system};
use crate::Passphrase;

pub(super) use crate::atomic_file::Existing;

/// How a keyring is kept: the value of `--keyring-backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// In files under a passphrase that everyone knows.
    Test,
    /// In files under a passphrase that is asked for.
    File,
    /// Where the system keeps secrets. Of what Go looks for on Linux this program uses the first
    /// and the last: the secret service of a desktop session, or else files in the keyring
    /// directory itself, which is what a server without a desktop has.
    Os,
    Memory,
}

impl FromStr for Backend {
    type Err = KeyringError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "test" => Ok(Self::Test),
            "file" => Ok(Self::File),
            "os" => Ok(Self::Os),
            "memory" => Ok(Self::Memory),
            "kwallet" | "pass" | "keyctl" => {
                Err(KeyringError::UnsupportedBackend { name: name.to_owned() })
            }
            _ => Err(KeyringError::UnknownBackend { name: name.to_owned() }),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Test => "test",
            Self::File => "file",
            Self::Os => "os",
            Self::Memory => "memory",
        })
    }
}

pub struct OpenOptions {
    /// The keyring directory (`--keyring-dir`, or else `--home`).
    pub directory: PathBuf,
    /// Who knows the passphrase of [`Backend::File`] and [`Backend::Os`].
    pub passphrase: Box<dyn PassphraseSource>,
    /// The address of the D-Bus session bus, where there is a desktop session: keys of
    /// [`Backend::Os`] are in its secret service then.
    pub session_bus: Option<String>,
}

pub(super) fn store(
    backend: Backend,
    options: OpenOptions,
) -> Result<Box<dyn Store>, KeyringError> {
    let OpenOptions { directory, passphrase, session_bus } = options;
    let asked = Lock::Asked(Asked::new(passphrase));
    Ok(match backend {
        Backend::Memory => Box::new(Memory::default()),
        Backend::Test => {
            let fixed = Lock::Fixed(Passphrase::new("test"));
            Box::new(Directory::new(directory.join("keyring-test"), fixed))
        }
        Backend::File => Box::new(Directory::new(directory.join("keyring-file"), asked)),
        Backend::Os => system::store(Directory::new(directory, asked), session_bus)?,
    })
}

/// The bytes of an item.
pub(super) type Data = Zeroizing<Vec<u8>>;

pub(super) trait Store: Send + Sync {
    /// The names of all items, in no order.
    fn names(&self) -> Result<Vec<String>, KeyringError>;
    /// An item; `None` when there is none of that name.
    fn read(&self, name: &str) -> Result<Option<Data>, KeyringError>;
    /// Puts an item there; [`KeyringError::ItemExists`] when it is to keep the one that is.
    fn write(&self, name: &str, data: &[u8], existing: Existing) -> Result<(), KeyringError>;
    /// Removes an item, if it is there.
    fn remove(&self, name: &str) -> Result<(), KeyringError>;
    /// Asks for the passphrase, where there is one, if it is not known yet.
    fn unlock(&self) -> Result<(), KeyringError>;
}

/// Items that end with the process.
#[derive(Default)]
pub(super) struct Memory(Mutex<BTreeMap<String, Data>>);

impl Memory {
    fn items(&self) -> MutexGuard<'_, BTreeMap<String, Data>> {
        // A map is whole whatever panicked beside it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn names(&self) -> Result<Vec<String>, KeyringError> {
        Ok(self.items().keys().cloned().collect())
    }

    fn read(&self, name: &str) -> Result<Option<Data>, KeyringError> {
        Ok(self.items().get(name).cloned())
    }

    fn write(&self, name: &str, data: &[u8], existing: Existing) -> Result<(), KeyringError> {
        let mut items = self.items();
        if existing == Existing::Keep && items.contains_key(name) {
            return Err(KeyringError::ItemExists { item: name.to_owned() });
        }
        items.insert(name.to_owned(), Zeroizing::new(data.to_vec()));
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), KeyringError> {
        self.items().remove(name);
        Ok(())
    }

    fn unlock(&self) -> Result<(), KeyringError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_have_the_names_of_the_flag() {
        for backend in [Backend::Test, Backend::File, Backend::Os, Backend::Memory] {
            assert_eq!(backend.to_string().parse::<Backend>().unwrap(), backend);
        }
        for name in ["kwallet", "pass", "keyctl"] {
            let error = name.parse::<Backend>().unwrap_err();
            assert!(matches!(error, KeyringError::UnsupportedBackend { .. }));
        }
        assert!(matches!("".parse::<Backend>(), Err(KeyringError::UnknownBackend { .. })));
    }
}
