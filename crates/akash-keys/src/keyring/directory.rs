//! Items as files of a directory, each encrypted by itself.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use der::DateTime;

use super::backend::{Data, Existing, Store};
use super::lock::Lock;
use super::{KeyringError, item, jwe};
use crate::{Passphrase, atomic_file};

pub(super) struct Directory {
    path: PathBuf,
    lock: Lock,
}

impl Directory {
    pub(super) fn new(path: PathBuf, lock: Lock) -> Self {
        Self { path, lock }
    }

    /// Whether `name` is one of an item, not of something that lies beside them.
    pub(super) fn is_item(name: &str) -> bool {
        name.ends_with(super::INFO) || name.ends_with(super::ADDRESS)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(escape(name))
    }

    fn passphrase(&self) -> Result<Passphrase, KeyringError> {
        match &self.lock {
            Lock::Fixed(passphrase) => Ok(passphrase.clone()),
            Lock::Asked(asked) => {
                // The hash of the passphrase will be written here.
                let create = |source| KeyringError::Write { path: self.path.clone(), source };
                atomic_file::create_directory(&self.path).map_err(create)?;
                asked.passphrase(&self.path, || self.sample())
            }
        }
    }

    /// The encrypted content of some item.
    fn sample(&self) -> Result<Option<String>, KeyringError> {
        let name = self.names()?.into_iter().min();
        let content = name.map(|name| self.content(&self.file(&name))).transpose()?;
        Ok(content.flatten())
    }

    fn content(&self, path: &Path) -> Result<Option<String>, KeyringError> {
        let read = |source| KeyringError::Read { path: path.to_owned(), source };
        let content = atomic_file::read(path).map_err(read)?;
        // What is not text is no token either, and is told from one by its form.
        Ok(content.map(|content| String::from_utf8(content).unwrap_or_default()))
    }
}

impl Store for Directory {
    fn names(&self) -> Result<Vec<String>, KeyringError> {
        let read = |source| KeyringError::Read { path: self.path.clone(), source };
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(read)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let file = entry.map_err(read)?.file_name();
            names.extend(file.to_str().map(unescape).filter(|n| Self::is_item(n)));
        }
        Ok(names)
    }

    fn read(&self, name: &str) -> Result<Option<Data>, KeyringError> {
        let Some(token) = self.content(&self.file(name))? else { return Ok(None) };
        let passphrase = self.passphrase()?;
        let wrong = |source| KeyringError::Item { item: name.to_owned(), source };
        let json = jwe::open(&token, &passphrase).map_err(wrong)?;
        item::decode(&json).map(Some).ok_or_else(|| wrong(jwe::JweError::Damaged))
    }

    fn write(&self, name: &str, data: &[u8], existing: Existing) -> Result<(), KeyringError> {
        let path = self.file(name);
        let write = |source| KeyringError::Write { path: path.clone(), source };
        atomic_file::create_directory(&self.path).map_err(write)?;
        let passphrase = self.passphrase()?;
        let json = item::encode(name, data).map_err(|error| write(error.into()))?;
        let token = jwe::seal(&json, &passphrase, &now(), &jwe::Fresh::random()?)
            .map_err(|source| KeyringError::Item { item: name.to_owned(), source })?;
        match atomic_file::write(&path, token.as_bytes(), existing) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(KeyringError::ItemExists { item: name.to_owned() })
            }
            result => result.map_err(write),
        }
    }

    fn remove(&self, name: &str) -> Result<(), KeyringError> {
        let path = self.file(name);
        atomic_file::remove(&path).map_err(|source| KeyringError::Remove { path, source })
    }

    fn unlock(&self) -> Result<(), KeyringError> {
        self.passphrase().map(drop)
    }
}

/// The time as Go prints it, for the header that nothing but people reads.
fn now() -> String {
    let Ok(now) = DateTime::from_system_time(SystemTime::now()) else { return String::new() };
    let (year, month, day) = (now.year(), now.month(), now.day());
    let (hour, minutes, seconds) = (now.hour(), now.minutes(), now.seconds());
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minutes:02}:{seconds:02} +0000 UTC")
}

/// The name of the file of an item.
pub(super) fn escape(item: &str) -> String {
    item.replace('%', "%25").replace('/', "%2F")
}

/// The item of a file. Escapes of other characters are undone as well; a percent sign without
/// two digits stands for itself.
pub(super) fn unescape(file: &str) -> String {
    let mut item = Vec::with_capacity(file.len());
    let mut rest = file.as_bytes();
    while let Some((first, mut more)) = rest.split_first() {
        let escaped = || hex::decode(more.get(..2)?).ok()?.first().copied();
        match escaped().filter(|_| *first == b'%') {
            Some(byte) => {
                item.push(byte);
                more = more.get(2..).unwrap_or_default();
            }
            None => item.push(*first),
        }
        rest = more;
    }
    String::from_utf8_lossy(&item).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_slashes_and_percent_signs_are_escaped() {
        assert_eq!(escape("ops/100% ü.info"), "ops%2F100%25 ü.info");
        assert_eq!(unescape("ops%2f100%25 ü%2E%zz%4"), "ops/100% ü.%zz%4");
    }

    proptest! {
        #[test]
        fn names_come_back(item in "\\PC{0,20}") {
            let file = escape(&item);
            prop_assert!(!file.contains('/'));
            prop_assert_eq!(unescape(&file), item);
        }

        #[test]
        fn no_name_panics(file in "[%0-9a-fü]{0,20}") {
            let _ = unescape(&file);
        }
    }
}
