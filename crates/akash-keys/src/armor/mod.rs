//! Secret keys as text under a passphrase: `keys export` and `keys import`.
//!
//! The text is that of Cosmos SDK: a block `TENDERMINT PRIVATE KEY` in the armor of OpenPGP,
//! with the key in Amino inside. What is exported is the newer form (argon2, ChaCha20-Poly1305);
//! the older one (bcrypt, XSalsa20-Poly1305) is imported as well.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use poly1305::Poly1305;
use salsa20::XSalsa20;
use salsa20::cipher::{KeyIvInit, StreamCipher};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::amino::AminoError;
use super::pem::{Block, PemError};
use super::{Passphrase, RandomError, SecretKey, amino, pem, random};

const LABEL: &str = "TENDERMINT PRIVATE KEY";
const TYPE: &str = "secp256k1";

/// The text of `key` under `passphrase`, without a line end after its last line.
pub fn export(key: &SecretKey, passphrase: &Passphrase) -> Result<String, ArmorError> {
    let salt = random::<16>()?;
    export_with(key, passphrase, &salt)
}

fn export_with(
    key: &SecretKey,
    passphrase: &Passphrase,
    salt: &[u8; 16],
) -> Result<String, ArmorError> {
    let sealed = seal_argon2(&amino::encode_secret(key), passphrase, salt)?;
    let headers = [("kdf", "argon2"), ("salt", &hex::encode_upper(salt)), ("type", TYPE)];
    let block = Block {
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        checksum: Some(of(&sealed)),
        ..Block::new(LABEL, Zeroizing::new(sealed))
    };
    Ok(block.to_text().trim_end().to_owned())
}

/// The key in a text of [`export`] or of Cosmos SDK. Text around the block does not matter.
pub fn import(text: &str, passphrase: &Passphrase) -> Result<SecretKey, ArmorError> {
    let block = pem::parse(text)?.into_iter().next().ok_or(ArmorError::NoBlock)?;
    if block.label != LABEL {
        return Err(ArmorError::Label { found: block.label });
    }
    if block.checksum.is_some_and(|checksum| checksum != of(&block.data)) {
        return Err(ArmorError::Checksum);
    }
    // Without the header it is this type: there was no other when it was not written.
    let found = block.header("type").filter(|found| !found.is_empty()).unwrap_or(TYPE);
    if found != TYPE {
        return Err(ArmorError::Type { found: found.to_owned() });
    }
    let salt = block.header("salt").and_then(|salt| hex::decode(salt).ok());
    let salt: [u8; 16] = salt.and_then(|salt| salt.try_into().ok()).ok_or(ArmorError::Salt)?;
    let key = match block.header("kdf") {
        Some("argon2") => open_argon2(&block.data, passphrase, &salt)?,
        Some("bcrypt") => open_bcrypt(&block.data, passphrase, &salt)?,
        other => return Err(ArmorError::Kdf { found: other.unwrap_or_default().to_owned() }),
    };
    amino::decode_secret(&key).map_err(ArmorError::Content)
}

/// Why a key could not be exported or imported.
#[derive(Debug, thiserror::Error)]
pub enum ArmorError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("the text has no block {LABEL:?}")]
    NoBlock,
    #[error("the text is a block {found:?}, expected {LABEL:?}")]
    Label { found: String },
    #[error("the text")]
    Text(#[from] PemError),
    #[error("the text is damaged: its checksum does not fit")]
    Checksum,
    #[error("the key is of type {found:?}, expected {TYPE:?}")]
    Type { found: String },
    #[error("the text has no usable salt")]
    Salt,
    #[error("the key is protected with {found:?}, expected argon2 or bcrypt")]
    Kdf { found: String },
    #[error("incorrect passphrase")]
    WrongPassphrase,
    #[error("could not derive a key from the passphrase")]
    Derive,
    #[error("what is inside")]
    Content(#[source] AminoError),
}

/// The checksum of `data`.
fn of(data: &[u8]) -> [u8; 3] {
    const INIT: u32 = 0x00b7_04ce;
    const POLYNOMIAL: u32 = 0x0186_4cfb;
    let crc = data.iter().fold(INIT, |crc, byte| {
        (0..8).fold(crc ^ (u32::from(*byte) << 16), |crc, _| {
            let shifted = crc << 1;
            if shifted & 0x0100_0000 == 0 { shifted } else { shifted ^ POLYNOMIAL }
        })
    });
    let [_, checksum @ ..] = crc.to_be_bytes();
    checksum
}

/// bcrypt's cost in exports. A fuzzer has no time for it.
const COST: u32 = if cfg!(fuzzing) { 4 } else { 12 };
/// The memory that argon2 takes in exports, in KiB.
const MEMORY: u32 = if cfg!(fuzzing) { 32 } else { 64 * 1024 };

type Key = Zeroizing<[u8; 32]>;

/// Encrypts with ChaCha20-Poly1305. The nonce is always zero: each salt makes a key of its own.
fn seal_argon2(
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
fn open_argon2(
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
fn open_bcrypt(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SecretKey {
        SecretKey::from_bytes(&[7; 32]).unwrap()
    }

    #[test]
    fn an_export_has_the_headers_of_cosmos_and_imports_again() {
        let text = export_with(&key(), &Passphrase::new("secret"), &[0xab; 16]).unwrap();
        let lines: Vec<&str> = text.split('\n').collect();
        assert_eq!(
            lines[..5],
            [
                "-----BEGIN TENDERMINT PRIVATE KEY-----",
                "kdf: argon2",
                "salt: ABABABABABABABABABABABABABABABAB",
                "type: secp256k1",
                ""
            ]
        );
        assert!(lines[lines.len() - 2].starts_with('=') && lines[lines.len() - 2].len() == 5);
        assert_eq!(lines[lines.len() - 1], "-----END TENDERMINT PRIVATE KEY-----");
        assert_eq!(import(&text, &Passphrase::new("secret")).unwrap(), key());
        let wrong = import(&text, &Passphrase::new("Secret"));
        assert!(matches!(wrong, Err(ArmorError::WrongPassphrase)));
    }

    #[test]
    fn what_is_not_an_export_is_refused_before_any_work() {
        let block = |label: &str, headers: &str, content: &str| {
            format!("-----BEGIN {label}-----\n{headers}\n{content}\n-----END {label}-----")
        };
        let of = |headers: &str, content: &str| {
            let text = block(LABEL, headers, content);
            import(&text, &Passphrase::new("x")).unwrap_err()
        };
        let salt = "salt: ABABABABABABABABABABABABABABABAB\n";
        let import = |text: &str| import(text, &Passphrase::new("x")).unwrap_err();
        assert!(matches!(import(""), ArmorError::NoBlock));
        assert!(matches!(import("-----BEGIN A-----\n"), ArmorError::Text(_)));
        assert!(matches!(import(&block("A", "", "AQID")), ArmorError::Label { .. }));
        assert!(matches!(of("type: ed25519\n", "AQID"), ArmorError::Type { .. }));
        assert!(matches!(of("kdf: argon2\n", "AQID"), ArmorError::Salt));
        assert!(matches!(of("kdf: argon2\nsalt: AB\n", "AQID"), ArmorError::Salt));
        assert!(matches!(of(salt, "AQID"), ArmorError::Kdf { .. }));
        assert!(matches!(of(&format!("kdf: scrypt\n{salt}"), "AQID"), ArmorError::Kdf { .. }));
        assert!(matches!(of(salt, "AQID\n=AAAA"), ArmorError::Checksum));
        let short = of(&format!("kdf: bcrypt\n{salt}"), "AQID");
        assert!(matches!(short, ArmorError::WrongPassphrase));
    }

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(super::of(b"123456789"), [0x21, 0xcf, 0x02]);
        assert_eq!(super::of(b""), [0xb7, 0x04, 0xce]);
    }
}
