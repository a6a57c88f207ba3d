//! What reads items of a keyring, laid open for the fuzzer.

use zeroize::Zeroizing;

use super::record::KeyRecord;
use super::{directory, item, jwe};
use crate::Passphrase;

/// The content of a file.
pub(crate) fn token(text: &str) {
    if let Ok(content) = jwe::open(text, &Passphrase::new("test")) {
        json(&content);
    }
}

/// What a file has encrypted.
pub(crate) fn json(bytes: &[u8]) {
    let Some(data) = item::decode(bytes) else { return };
    let again = item::encode("a.info", &data).ok().and_then(|json| item::decode(&json));
    assert!(again.is_some_and(|again| again == data), "an item reads its own JSON");
    record(&data);
}

/// What an item holds.
pub(crate) fn record(bytes: &[u8]) {
    let record = KeyRecord::read("a", Zeroizing::new(bytes.to_vec()));
    let _ = (record.address(), record.secret_key());
    let Some(renamed) = record.renamed("b") else { return };
    let again = KeyRecord::read("b", Zeroizing::new(renamed.bytes().to_vec()));
    assert_eq!(again.kind(), record.kind());
    assert_eq!(again.address(), record.address());
}

pub(crate) fn name(text: &str) {
    assert_eq!(directory::unescape(&directory::escape(text)), text);
    let _ = directory::unescape(text);
}
