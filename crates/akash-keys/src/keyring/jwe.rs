//! Content under a password: compact JSON Web Encryption (RFC 7516) with a key that is wrapped
//! by one derived from the password (`PBES2-HS256+A128KW`, `A256GCM`), as jose2go writes it.

use aes::Aes128;
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use aes_kw::AesKw;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{Passphrase, RandomError, random};

const ALGORITHM: &str = "PBES2-HS256+A128KW";
const ENCRYPTION: &str = "A256GCM";
/// What jose2go takes when nobody says otherwise.
const ITERATIONS: u32 = 8192;
/// More than this jose2go refuses: a file must not keep its reader busy for ever.
const MAX_ITERATIONS: u32 = if cfg!(fuzzing) { ITERATIONS } else { 1_300_000 };

/// The header, its fields in the order of a Go map.
#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    created: String,
    enc: String,
    p2c: u32,
    p2s: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zip: Option<String>,
}

/// The random part of one encryption; used for one only.
pub(super) struct Fresh {
    salt: Zeroizing<[u8; 12]>,
    key: Zeroizing<[u8; 32]>,
    nonce: Zeroizing<[u8; 12]>,
}

impl Fresh {
    /// From the operating system.
    pub(super) fn random() -> Result<Self, RandomError> {
        Ok(Self { salt: random()?, key: random()?, nonce: random()? })
    }
}

/// Encrypts `content`. `created` goes into the header, for people to read.
pub(super) fn seal(
    content: &[u8],
    password: &Passphrase,
    created: &str,
    fresh: &Fresh,
) -> Result<String, JweError> {
    let header = Header {
        alg: ALGORITHM.to_owned(),
        created: created.to_owned(),
        enc: ENCRYPTION.to_owned(),
        p2c: ITERATIONS,
        p2s: URL_SAFE_NO_PAD.encode(fresh.salt.as_slice()),
        zip: None,
    };
    let header = serde_json::to_vec(&header).map_err(|_| JweError::Encrypt)?;
    let header = URL_SAFE_NO_PAD.encode(header);
    let mut wrapped = [0; 40];
    wrapping_key(password, fresh.salt.as_slice(), ITERATIONS)
        .wrap_key(fresh.key.as_slice(), &mut wrapped)
        .map_err(|_| JweError::Encrypt)?;
    let sealed = Aes256Gcm::new(&(*fresh.key).into())
        .encrypt(&Nonce::from(*fresh.nonce), Payload { msg: content, aad: header.as_bytes() })
        .map_err(|_| JweError::Encrypt)?;
    let (text, tag) = sealed.split_last_chunk::<16>().ok_or(JweError::Encrypt)?;
    let [key, nonce, text, tag] =
        [&wrapped[..], fresh.nonce.as_slice(), text, tag].map(|part| URL_SAFE_NO_PAD.encode(part));
    Ok(format!("{header}.{key}.{nonce}.{text}.{tag}"))
}

/// Decrypts what [`seal`] or jose2go encrypted.
pub(super) fn open(token: &str, password: &Passphrase) -> Result<Zeroizing<Vec<u8>>, JweError> {
    let parts: Vec<&str> = token.trim_end().split('.').collect();
    let [header, key, nonce, text, tag] = *parts.as_slice() else {
        return Err(JweError::Form);
    };
    let decode = |part| URL_SAFE_NO_PAD.decode(part).map_err(|_| JweError::Form);
    let (wrapped, nonce) = (decode(key)?, decode(nonce)?);
    let nonce: [u8; 12] = nonce.try_into().map_err(|_| JweError::Form)?;
    let sealed = [decode(text)?, decode(tag)?].concat();
    let aad = header.as_bytes();
    let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| JweError::Form)?;
    if header.alg != ALGORITHM || header.enc != ENCRYPTION || header.zip.is_some() {
        return Err(JweError::Algorithm { alg: header.alg, enc: header.enc });
    }
    if !(1..=MAX_ITERATIONS).contains(&header.p2c) {
        return Err(JweError::Iterations { got: header.p2c });
    }
    if wrapped.len() != 40 {
        return Err(JweError::Form);
    }
    let mut key = Zeroizing::new([0; 32]);
    wrapping_key(password, &decode(&header.p2s)?, header.p2c)
        .unwrap_key(&wrapped, key.as_mut_slice())
        .map_err(|_| JweError::Decrypt)?;
    Aes256Gcm::new(&(*key).into())
        .decrypt(&Nonce::from(nonce), Payload { msg: &sealed, aad })
        .map(Zeroizing::new)
        .map_err(|_| JweError::Damaged)
}

fn wrapping_key(password: &Passphrase, salt: &[u8], iterations: u32) -> AesKw<Aes128> {
    let salt = [ALGORITHM.as_bytes(), &[0], salt].concat();
    let mut key = Zeroizing::new([0; 16]);
    pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, iterations, key.as_mut_slice());
    AesKw::new(&(*key).into())
}

/// Why a token cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JweError {
    #[error("not a file of a keyring, or damaged")]
    Form,
    #[error("encrypted with {alg:?} and {enc:?}, expected {ALGORITHM:?} and {ENCRYPTION:?}")]
    Algorithm {
        /// How the key is wrapped.
        alg: String,
        /// How the content is encrypted.
        enc: String,
    },
    #[error("encrypted with {got} rounds, expected 1 to {MAX_ITERATIONS}")]
    Iterations { got: u32 },
    #[error("written with another passphrase, or damaged")]
    Decrypt,
    #[error("damaged")]
    Damaged,
    #[error("could not be encrypted")]
    Encrypt,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealed(content: &[u8]) -> String {
        let fresh = Fresh {
            salt: Zeroizing::new([1; 12]),
            key: Zeroizing::new([2; 32]),
            nonce: Zeroizing::new([3; 12]),
        };
        seal(content, &Passphrase::new("test"), "2026-01-02 03:04:05 +0000 UTC", &fresh).unwrap()
    }

    #[test]
    fn the_header_is_as_go_writes_it() {
        let header = URL_SAFE_NO_PAD.decode(sealed(b"x").split('.').next().unwrap()).unwrap();
        assert_eq!(
            String::from_utf8(header).unwrap(),
            r#"{"alg":"PBES2-HS256+A128KW","created":"2026-01-02 03:04:05 +0000 UTC","enc":"A256GCM","p2c":8192,"p2s":"AQEBAQEBAQEBAQEB"}"#
        );
    }

    #[test]
    fn another_password_does_not_open_it() {
        let token = sealed(b"content");
        assert_eq!(&open(&token, &Passphrase::new("test")).unwrap()[..], b"content");
        assert_eq!(open(&token, &Passphrase::new("Test")), Err(JweError::Decrypt));
    }

    #[test]
    fn other_headers_are_refused_before_any_work() {
        let token = sealed(b"content");
        let (_, rest) = token.split_once('.').unwrap();
        let with = |alg: &str, enc: &str, p2c: u64, more: &str| {
            let header = format!(r#"{{"alg":"{alg}","enc":"{enc}","p2c":{p2c},"p2s":"AQ"{more}}}"#);
            let token = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header));
            open(&token, &Passphrase::new("test")).unwrap_err()
        };
        assert!(matches!(with("dir", ENCRYPTION, 1, ""), JweError::Algorithm { .. }));
        assert!(matches!(with(ALGORITHM, "A128GCM", 1, ""), JweError::Algorithm { .. }));
        let zipped = with(ALGORITHM, ENCRYPTION, 1, r#","zip":"DEF""#);
        assert!(matches!(zipped, JweError::Algorithm { .. }));
        assert_eq!(with(ALGORITHM, ENCRYPTION, 0, ""), JweError::Iterations { got: 0 });
        let many = with(ALGORITHM, ENCRYPTION, 1_300_001, "");
        assert_eq!(many, JweError::Iterations { got: 1_300_001 });
        assert_eq!(with(ALGORITHM, ENCRYPTION, u64::MAX, ""), JweError::Form);
        assert_eq!(with(ALGORITHM, ENCRYPTION, 1, ""), JweError::Decrypt);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn one_changed_character_is_noticed(at in any::<prop::sample::Index>(), to in "[A-Za-z.]") {
            let token = sealed(b"the content");
            let at = at.index(token.len());
            let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
            prop_assume!(changed != token);
            prop_assert!(open(&changed, &Passphrase::new("test")).is_err());
        }

        #[test]
        fn no_text_panics(text in "[A-Za-z0-9_.=-]{0,60}") {
            let _ = open(&text, &Passphrase::new("test"));
        }
    }
}
