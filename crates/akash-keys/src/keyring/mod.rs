//! Keyrings: named keys, in the files where `akash` and `provider-services` keep them.
//!
//! | backend | place | passphrase |
//! |---|---|---|
//! | `test` | `<dir>/keyring-test/` | `test` |
//! | `file` | `<dir>/keyring-file/` | asked for; `keyhash` there has its bcrypt hash |
//! | `os` | the secret service of a desktop session | the desktop asks |
//! | | `<dir>/` itself, where there is no such service | as `file` |
//! | `memory` | nowhere | none |
//!
//! For each key there are two items: `<name>.info` with its record, and
//! `<address in hexadecimal>.address` with the name of the first. Each item is a file (or an item
//! of the secret service), written whole or not at all, so that others may read the keyring meanwhile and a crash loses no key.
//!
//! Reading never writes: records of before Protobuf are converted as they are read and stay as
//! they are until [`Keyring::migrate`]. Who asks for a passphrase, and how often, is not known
//! here.

mod backend;
mod directory;
mod error;
#[cfg(fuzzing)]
pub(super) mod fuzzing;
mod item;
mod jwe;
mod legacy;
mod lock;
mod record;
#[cfg(target_os = "linux")]
mod secret_service;
mod system;

use akash_types::Address;

use backend::{Existing, Store};

pub use backend::{Backend, OpenOptions};
pub use error::KeyringError;
pub use jwe::JweError;
pub use lock::{Ask, NoPassphrase, PassphraseSource};
pub use record::{KeyRecord, RecordError, RecordKind};

/// How the items with records end.
const INFO: &str = ".info";
/// How the items that lead from an account to its record end.
const ADDRESS: &str = ".address";

/// Keys by name and by account.
#[derive(derive_more::Debug)]
#[debug("Keyring({})", self.backend)]
pub struct Keyring {
    backend: Backend,
    store: Box<dyn Store>,
}

/// The keys of a keyring in the order of their items.
#[derive(Debug, Default)]
pub struct KeyList {
    /// Those that could be read, including such as are not understood.
    pub records: Vec<KeyRecord>,
    /// Those that could not: their names, and why.
    pub unreadable: Vec<(String, KeyringError)>,
}

impl Keyring {
    /// Opens the keyring that `options` describe. Nothing is asked for or made until needed.
    pub fn open(backend: Backend, options: OpenOptions) -> Result<Self, KeyringError> {
        Ok(Self { backend, store: backend::store(backend, options)? })
    }

    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Asks for the passphrase now, if there is one and it is not known yet.
    ///
    /// All other functions do so by themselves; this is for who wants to let a person try again.
    pub fn unlock(&self) -> Result<(), KeyringError> {
        self.store.unlock()
    }

    /// All keys.
    /// Fails when the keyring as a whole cannot be read. One key that cannot is listed as such.
    pub fn list(&self) -> Result<KeyList, KeyringError> {
        let mut list = KeyList::default();
        for name in self.names()? {
            match self.get(&name) {
                Ok(record) => list.records.push(record),
                Err(error @ (KeyringError::Item { .. } | KeyringError::Read { .. })) => {
                    list.unreadable.push((name, error));
                }
                // Removed by someone else since.
                Err(KeyringError::NoKey { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(list)
    }

    /// The names of all keys, in order. Needs no passphrase of files.
    pub fn names(&self) -> Result<Vec<String>, KeyringError> {
        let mut items = self.store.names()?;
        // As Go does: of the items, so that "old-one" comes before "old".
        items.sort_unstable();
        Ok(items.iter().filter_map(|item| item.strip_suffix(INFO)).map(str::to_owned).collect())
    }

    pub fn get(&self, name: &str) -> Result<KeyRecord, KeyringError> {
        let data = self.store.read(&info(name))?;
        let data = data.ok_or_else(|| KeyringError::NoKey { name: name.to_owned() })?;
        Ok(KeyRecord::read(name, data))
    }

    pub fn by_address(&self, address: &Address) -> Result<KeyRecord, KeyringError> {
        if let Some(name) = self.name_of(address)? {
            match self.get(&name) {
                Ok(record) if record.address() == Some(*address) => return Ok(record),
                Ok(_) | Err(KeyringError::NoKey { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // The way from account to name is lost or leads astray; the records know.
        let mut records = self.list()?.records.into_iter();
        records
            .find(|record| record.address() == Some(*address))
            .ok_or(KeyringError::NoAccount { address: *address })
    }

    /// The key that `text` names, or whose account it is.
    pub fn find(&self, text: &str) -> Result<KeyRecord, KeyringError> {
        match text.parse() {
            Ok(address) => self.by_address(&address),
            Err(_) => self.get(text),
        }
    }

    pub fn add(&self, record: &KeyRecord) -> Result<(), KeyringError> {
        let name = record.name();
        check_name(name)?;
        let no_address = || KeyringError::NoAddress { name: name.to_owned() };
        let address = record.address().ok_or_else(no_address)?;
        if self.store.read(&info(name))?.is_some() {
            return Err(KeyringError::NameTaken { name: name.to_owned() });
        }
        match self.by_address(&address) {
            Ok(other) => {
                let name = other.name().to_owned();
                return Err(KeyringError::AccountTaken { address, name });
            }
            Err(KeyringError::NoAccount { .. }) => {}
            Err(error) => return Err(error),
        }
        self.write(record, Existing::Keep)?;
        self.point(&address, name)
    }

    /// Gives a key another name.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), KeyringError> {
        check_name(to)?;
        let record = self.get(from)?;
        let renamed = record.renamed(to).ok_or_else(|| not_understood(&record))?;
        self.write(&renamed, Existing::Keep)?;
        if let Some(address) = renamed.address() {
            self.point(&address, to)?;
        }
        self.store.remove(&info(from))
    }

    /// Removes a key for ever.
    pub fn delete(&self, name: &str) -> Result<(), KeyringError> {
        let record = self.get(name)?;
        if record.kind() == &RecordKind::Unknown {
            return Err(not_understood(&record));
        }
        // The way to the record goes first: one that leads nowhere would be worse than none.
        if let Some(address) = record.address()
            && self.name_of(&address)?.is_none_or(|pointed| pointed == name)
        {
            self.store.remove(&address_item(&address))?;
        }
        self.store.remove(&info(name))
    }

    /// Rewrites the records of before Protobuf; gives the names of those that it rewrote.
    /// Fails when one cannot be written; those before it are.
    pub fn migrate(&self) -> Result<Vec<String>, KeyringError> {
        let mut migrated = Vec::new();
        for record in self.list()?.records.into_iter().filter(KeyRecord::is_legacy) {
            self.write(&record, Existing::Replace)?;
            migrated.push(record.name().to_owned());
        }
        Ok(migrated)
    }

    fn write(&self, record: &KeyRecord, existing: Existing) -> Result<(), KeyringError> {
        let name = record.name();
        match self.store.write(&info(name), record.bytes(), existing) {
            Err(KeyringError::ItemExists { .. }) => {
                Err(KeyringError::NameTaken { name: name.to_owned() })
            }
            result => result,
        }
    }

    /// Makes the account lead to the key `name`.
    fn point(&self, address: &Address, name: &str) -> Result<(), KeyringError> {
        let item = address_item(address);
        self.store.write(&item, info(name).as_bytes(), Existing::Replace)
    }

    /// The key to which the account leads, which need not be there.
    fn name_of(&self, address: &Address) -> Result<Option<String>, KeyringError> {
        let item = match self.store.read(&address_item(address)) {
            // It can be made again from the record.
            Err(KeyringError::Item { .. }) => None,
            item => item?,
        };
        let Some(item) = item else { return Ok(None) };
        let name = String::from_utf8_lossy(&item);
        Ok(Some(name.strip_suffix(INFO).unwrap_or(&name).to_owned()))
    }
}

fn info(name: &str) -> String {
    format!("{name}{INFO}")
}

fn address_item(address: &Address) -> String {
    format!("{}{ADDRESS}", hex::encode(address.as_bytes()))
}

fn not_understood(record: &KeyRecord) -> KeyringError {
    let (name, kind) = (record.name().to_owned(), record.kind().clone());
    KeyringError::NotUnderstood { name, kind }
}

/// Names that Go would not find again, or would take for something else, are not given.
fn check_name(name: &str) -> Result<(), KeyringError> {
    let reason = if name.trim().is_empty() {
        "it is empty"
    } else if name.ends_with(INFO) || name.ends_with(ADDRESS) {
        "it ends like a file of the keyring"
    } else if name.parse::<Address>().is_ok() {
        "it is an account address"
    } else if name.chars().any(char::is_control) {
        "it has characters that cannot be typed"
    } else {
        return Ok(());
    };
    Err(KeyringError::Name { name: name.to_owned(), reason })
}
