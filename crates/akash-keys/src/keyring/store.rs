//! Where the items of a keyring are.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use super::KeyringError;
pub(super) use crate::atomic_file::Existing;

/// The bytes of an item.
pub(super) type Data = Zeroizing<Vec<u8>>;

/// Items by name.
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
