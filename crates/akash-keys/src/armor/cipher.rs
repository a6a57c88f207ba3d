//! The two ways in which exports are encrypted.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use poly1305::Poly1305;
use salsa20::XSalsa20;
use salsa20::cipher::{KeyIvInit, StreamCipher};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::ArmorError;
use crate::Passphrase;

/// bcrypt's cost in exports. A fuzzer has no time for it.
const COST: u32 = if cfg!(fuzzing) { 4 } else { 12 };
/// The memory that argon2 takes in exports, in KiB.
const MEMORY: u32 = if cfg!(fuzzing) { 32 } else { 64 * 1024 };

type Key = Zeroizing<[u8; 32]>;

/// Encrypts with ChaCha20-Poly1305. The nonce is always zero: each salt makes a key of its own.
pub(super) fn seal_argon2(
    content: &[u8],
    passphrase: &Passphrase,
    salt: &[u8; 16],
) -> Result<Vec<u8>, ArmorError> {
    let key = argon2_key(passphrase, salt)?;
    ChaCha20Poly1305::new(&(*key).into())
        .encrypt(&Nonce::default(), content)
        .map_err(|_| ArmorError::Derive)
}

/// Decrypts what [`seal_argon2`] encrypted.
pub(super) fn open_argon2(
    sealed: &[u8],
    passphrase: &Passphrase,
    salt: &[u8; 16],
) -> Result<Zeroizing<Vec<u8>>, ArmorError> {
    let key = argon2_key(passphrase, salt)?;
    ChaCha20Poly1305::new(&(*key).into())
        .decrypt(&Nonce::default(), sealed)
        .map(Zeroizing::new)
        .map_err(|_| ArmorError::WrongPassphrase)
}

fn argon2_key(passphrase: &Passphrase, salt: &[u8; 16]) -> Result<Key, ArmorError> {
    let params = Params::new(MEMORY, 1, 4, None).map_err(|_| ArmorError::Derive)?;
    let mut key = Key::default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, key.as_mut_slice())
        .map_err(|_| ArmorError::Derive)?;
    Ok(key)
}

/// Decrypts the older form: a nonce of 24 bytes, then a secret box of NaCl.
pub(super) fn open_bcrypt(
    sealed: &[u8],
    passphrase: &Passphrase,
    salt: &[u8; 16],
) -> Result<Zeroizing<Vec<u8>>, ArmorError> {
    let (nonce, sealed) = sealed.split_first_chunk::<24>().ok_or(ArmorError::WrongPassphrase)?;
    let (tag, sealed) = sealed.split_first_chunk::<16>().ok_or(ArmorError::WrongPassphrase)?;
    let key = bcrypt_key(passphrase, salt)?;
    let mut stream = XSalsa20::new(&(*key).into(), &(*nonce).into());
    // The first bytes of the stream are the key of the tag, the next ones hide the content.
    let mut tag_key = Key::default();
    stream.apply_keystream(tag_key.as_mut_slice());
    let computed = Poly1305::new(&(*tag_key).into()).compute_unpadded(sealed);
    if !bool::from(computed.as_slice().ct_eq(tag)) {
        return Err(ArmorError::WrongPassphrase);
    }
    let mut content = Zeroizing::new(sealed.to_vec());
    stream.apply_keystream(&mut content);
    Ok(content)
}

/// SHA-256 of the text of a bcrypt hash.
fn bcrypt_key(passphrase: &Passphrase, salt: &[u8; 16]) -> Result<Key, ArmorError> {
    let hash = bcrypt::hash_with_salt(passphrase.as_bytes(), COST, *salt);
    let hash = hash.map_err(|_| ArmorError::Derive)?;
    let text = Zeroizing::new(hash.format_for_version(bcrypt::Version::TwoA));
    Ok(Zeroizing::new(Sha256::digest(text.as_bytes()).into()))
}
