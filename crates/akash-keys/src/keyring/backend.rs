//! The ways to keep a keyring, and where each has its files.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::directory::Directory;
use super::lock::{Asked, Lock};
use super::store::{Memory, Store};
use super::{KeyringError, PassphraseSource, system};
use crate::Passphrase;

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
    /// Not at all.
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

/// What a backend may need to be opened.
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
