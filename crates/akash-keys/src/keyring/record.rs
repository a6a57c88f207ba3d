//! One key of a keyring.

use std::fmt;

use akash_proto::cosmos::crypto::keyring::v1::Record;
use akash_proto::cosmos::crypto::keyring::v1::record::{Item, Ledger, Local, Multi, Offline};
use akash_types::Address;
use prost::Message;
use prost_types::Any;
use zeroize::{Zeroize, Zeroizing};

use super::legacy;
use crate::{AccountKey, HdPath, HdPathError, KeyError, Multisig, PublicKey, SecretKey};

/// A key of a keyring: its name, where its secret is, and its public half.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("KeyRecord {{ name: {:?}, kind: {:?}, public_key: {:?}, .. }}", self.name, self.kind, self.public_key)]
pub struct KeyRecord {
    name: String,
    kind: RecordKind,
    public_key: AccountKey,
    /// As it is, or for a record of before Protobuf as it would be, in the keyring.
    bytes: Zeroizing<Vec<u8>>,
    legacy: bool,
}

/// Where the secret of a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Local,
    /// In a Ledger device, at this path; `None` where the record does not tell it.
    Ledger(Option<HdPath>),
    /// There is none: it is the account of several keys.
    Multi,
    Offline,
    /// This program cannot tell. The record is kept as it is.
    Unknown,
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Local => "local",
            Self::Ledger(_) => "ledger",
            Self::Multi => "multi",
            Self::Offline => "offline",
            Self::Unknown => "unknown",
        })
    }
}

impl KeyRecord {
    pub fn local(name: &str, key: &SecretKey) -> Self {
        let item = Item::Local(Local { priv_key: Some(key.to_any()) });
        Self::new(name, RecordKind::Local, key.public_key().into(), item)
    }

    /// A key whose secret is elsewhere.
    pub fn offline(name: &str, key: AccountKey) -> Self {
        Self::new(name, RecordKind::Offline, key, Item::Offline(Offline {}))
    }

    /// The account of several keys.
    pub fn multi(name: &str, keys: Multisig) -> Self {
        Self::new(name, RecordKind::Multi, AccountKey::Multisig(keys), Item::Multi(Multi {}))
    }

    /// A key whose secret is in a Ledger device.
    pub fn ledger(name: &str, key: PublicKey, path: HdPath) -> Result<Self, HdPathError> {
        let item = Item::Ledger(Ledger { path: Some(path.to_bip44()?) });
        Ok(Self::new(name, RecordKind::Ledger(Some(path)), key.into(), item))
    }

    fn new(name: &str, kind: RecordKind, public_key: AccountKey, item: Item) -> Self {
        let record =
            Record { name: name.to_owned(), pub_key: Some(public_key.to_any()), item: Some(item) };
        let bytes = encode(record);
        Self { name: name.to_owned(), kind, public_key, bytes, legacy: false }
    }

    /// Reads the item of the key `name`. What cannot be read is of [`RecordKind::Unknown`].
    pub(super) fn read(name: &str, bytes: Zeroizing<Vec<u8>>) -> Self {
        let legacy = legacy::convert(&bytes);
        let is_legacy = legacy.is_some();
        let record = legacy.or_else(|| Record::decode(bytes.as_slice()).ok()).unwrap_or_default();
        let public_key = record.pub_key.as_ref().map(AccountKey::from_any);
        let kind = match &record.item {
            Some(Item::Local(_)) => RecordKind::Local,
            Some(Item::Ledger(Ledger { path })) => {
                RecordKind::Ledger(path.as_ref().and_then(|path| HdPath::of_bip44(path).ok()))
            }
            Some(Item::Multi(_)) => RecordKind::Multi,
            Some(Item::Offline(_)) => RecordKind::Offline,
            None => RecordKind::Unknown,
        };
        let kind = public_key.as_ref().map_or(RecordKind::Unknown, |_| kind);
        let public_key = public_key.unwrap_or_else(|| AccountKey::Other(Any::default()));
        let bytes = if is_legacy { encode(record) } else { wipe(record, bytes) };
        Self { name: name.to_owned(), kind, public_key, bytes, legacy: is_legacy }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn kind(&self) -> &RecordKind {
        &self.kind
    }

    pub const fn public_key(&self) -> &AccountKey {
        &self.public_key
    }

    /// Its account; `None` when the kind of key is not known.
    pub fn address(&self) -> Option<Address> {
        self.public_key.address()
    }

    /// Whether it was read from a record of before Protobuf, which `migrate` would renew.
    pub const fn is_legacy(&self) -> bool {
        self.legacy
    }

    pub fn secret_key(&self) -> Result<SecretKey, RecordError> {
        if self.kind != RecordKind::Local {
            let (name, kind) = (self.name.clone(), self.kind.clone());
            return Err(RecordError::Elsewhere { name, kind });
        }
        let mut record = Record::decode(self.bytes.as_slice()).unwrap_or_default();
        let secret = match &record.item {
            Some(Item::Local(Local { priv_key: Some(any) })) => SecretKey::from_any(any),
            _ => Err(KeyError::SecretLength { got: 0 }),
        };
        wipe_item(&mut record);
        let secret =
            secret.map_err(|source| RecordError::Secret { name: self.name.clone(), source })?;
        if self.public_key != AccountKey::from(secret.public_key()) {
            return Err(RecordError::Mismatch { name: self.name.clone() });
        }
        Ok(secret)
    }

    /// The same key under another name; `None` when the record is not understood.
    pub(super) fn renamed(&self, name: &str) -> Option<Self> {
        if self.kind == RecordKind::Unknown {
            return None;
        }
        let mut record = Record::decode(self.bytes.as_slice()).ok()?;
        record.name = name.to_owned();
        Some(Self { name: name.to_owned(), bytes: encode(record), ..self.clone() })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Encodes a record into a buffer that need not grow, and wipes it.
fn encode(record: Record) -> Zeroizing<Vec<u8>> {
    let bytes = Zeroizing::new(record.encode_to_vec());
    wipe(record, bytes)
}

/// Wipes the secret of a record; gives back its bytes.
fn wipe(mut record: Record, bytes: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    wipe_item(&mut record);
    bytes
}

fn wipe_item(record: &mut Record) {
    if let Some(Item::Local(Local { priv_key: Some(any) })) = &mut record.item {
        any.value.zeroize();
    }
}

/// Why a key has no secret to sign with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("key {name:?} is of kind {kind}: its secret is not in the keyring")]
    Elsewhere { name: String, kind: RecordKind },
    #[error("the secret of key {name:?} cannot be used")]
    Secret {
        name: String,
        /// Why not.
        source: KeyError,
    },
    #[error("the secret of key {name:?} does not belong to its public key")]
    Mismatch { name: String },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> SecretKey {
        SecretKey::from_bytes(&[byte; 32]).unwrap()
    }

    #[test]
    fn records_read_as_they_were_made() {
        let public = key(7).public_key();
        let path: HdPath = "m/44'/118'/1'/0/3".parse().unwrap();
        let multisig = Multisig { threshold: 1, keys: vec![public.into()] };
        for record in [
            KeyRecord::local("a", &key(7)),
            KeyRecord::offline("b", public.into()),
            KeyRecord::multi("c", multisig),
            KeyRecord::ledger("d", public, path).unwrap(),
        ] {
            assert_eq!(KeyRecord::read(record.name(), record.bytes.clone()), record);
            let renamed = record.renamed("e").unwrap();
            assert_eq!(KeyRecord::read("e", renamed.bytes.clone()), renamed);
            let secret = record.secret_key();
            match record.kind() {
                RecordKind::Local => assert_eq!(secret, Ok(key(7))),
                _ => assert!(matches!(secret, Err(RecordError::Elsewhere { .. }))),
            }
        }
    }

    #[test]
    fn a_record_that_is_not_understood_is_kept_as_it_is() {
        let mut newer = KeyRecord::local("a", &key(7)).bytes.to_vec();
        newer.truncate(newer.iter().position(|byte| *byte == 0x1a).unwrap());
        newer.extend([0x3a, 1, 9]);
        for bytes in [vec![], vec![0xff, 1, 2], newer] {
            let record = KeyRecord::read("x", Zeroizing::new(bytes.clone()));
            assert_eq!(record.kind(), &RecordKind::Unknown);
            assert_eq!(record.bytes(), bytes);
            assert_eq!(record.renamed("y"), None);
            assert!(record.secret_key().is_err());
        }
    }

    #[test]
    fn a_secret_of_another_account_is_not_used() {
        let record = Record {
            name: "a".into(),
            pub_key: Some(key(8).public_key().to_any()),
            item: Some(Item::Local(Local { priv_key: Some(key(7).to_any()) })),
        };
        let record = KeyRecord::read("a", encode(record));
        assert_eq!(record.secret_key(), Err(RecordError::Mismatch { name: "a".into() }));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let record = KeyRecord::read("a", Zeroizing::new(bytes.clone()));
            let _ = (record.address(), record.secret_key(), format!("{record:?}"));
            prop_assert!(record.is_legacy() || record.bytes() == bytes);
        }

        #[test]
        fn damaged_records_do_not_panic(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut bytes = KeyRecord::local("a", &key(7)).bytes;
            let at = at.index(bytes.len());
            bytes[at] = to;
            let record = KeyRecord::read("a", bytes);
            let _ = (record.address(), record.secret_key());
        }
    }
}
