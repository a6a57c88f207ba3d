//! Secret keys as text under a passphrase: `keys export` and `keys import`.
//!
//! The text is that of Cosmos SDK: a block `TENDERMINT PRIVATE KEY` in the armor of OpenPGP,
//! with the key in Amino inside. What is exported is the newer form (argon2, ChaCha20-Poly1305);
//! the older one (bcrypt, XSalsa20-Poly1305) is imported as well.

mod cipher;

use zeroize::Zeroizing;

use super::amino::{self, AminoError};
use super::pem::{self, Block, PemError};
use super::{Passphrase, RandomError, SecretKey, random};

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
    let sealed = cipher::seal_argon2(&amino::encode_secret(key), passphrase, salt)?;
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
        Some("argon2") => cipher::open_argon2(&block.data, passphrase, &salt)?,
        Some("bcrypt") => cipher::open_bcrypt(&block.data, passphrase, &salt)?,
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
