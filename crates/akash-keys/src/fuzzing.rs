//! What reads keys from outside, laid open for the fuzzer: read or refused, never a panic, and what
//! is read comes back the same.

use super::certificate::{self, KeyFilePassword};
use super::{Passphrase, SecretKey, amino, armor, keyring, pem};

/// Takes `data` for one of the things that are read; which, says `kind`.
pub fn read_as(kind: u8, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match kind % 8 {
        0 => keyring::fuzzing::token(&text),
        1 => keyring::fuzzing::json(data),
        2 => keyring::fuzzing::record(data),
        3 => keyring::fuzzing::name(&text),
        4 => drop(armor::import(&text, &Passphrase::new("password"))),
        5 => blocks(&text),
        6 => {
            let _ = amino::decode_secret(data);
            let _ = amino::decode_public(data);
        }
        _ => key_file(&text),
    }
}

fn blocks(text: &str) {
    let Ok(blocks) = pem::parse(text) else { return };
    for block in blocks {
        let again = pem::parse(&block.to_text());
        assert!(again.is_ok_and(|again| again == [block]), "a block reads its own text");
    }
}

fn key_file(text: &str) {
    if let Ok(account) = SecretKey::from_bytes(&[7; 32]) {
        let _ = certificate::decode_file(text, &KeyFilePassword::of(&account));
    }
}
