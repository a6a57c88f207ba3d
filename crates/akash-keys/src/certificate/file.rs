//! `<home>/<address>.pem`: a certificate, and its key under a password.

use std::io;
use std::path::{Path, PathBuf};

use akash_types::Address;
use der::{Decode, Encode};
use pkcs8::pkcs5::pbes2;
use pkcs8::{EncryptedPrivateKeyInfoOwned, EncryptedPrivateKeyInfoRef};
use zeroize::Zeroizing;

use super::legacy_pem::Encryption;
use super::view::LABEL;
use super::{Certificate, CertificateError, CertificateKey, KeyPair, legacy_pem};
use crate::atomic_file::Existing;
use crate::pem::Block;
use crate::{RandomError, SecretKey, atomic_file, pem, random};

const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// How often the password is hashed in a file that is written.
const ITERATIONS: u32 = 600_000;
/// More nobody would wait for: the file is damaged.
const MAX_ITERATIONS: u32 = if cfg!(fuzzing) { 100 } else { 10_000_000 };

/// The file of an account's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// The file of `account` in the directory `home`, which need not be there.
    pub fn of(home: &Path, account: &Address) -> Self {
        Self { path: home.join(format!("{account}.pem")) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn read(&self, password: &KeyFilePassword) -> Result<KeyPair, KeyFileError> {
        let read = |source| KeyFileError::Read { path: self.path.clone(), source };
        let text = self.text()?.ok_or_else(|| read(io::ErrorKind::NotFound.into()))?;
        decode(&text, password)
    }

    /// What is in the file, its key as it is encrypted; `None` if there is no file.
    pub fn text(&self) -> Result<Option<Zeroizing<String>>, KeyFileError> {
        let read = |source| KeyFileError::Read { path: self.path.clone(), source };
        let Some(content) = atomic_file::read(&self.path).map_err(read)? else {
            return Ok(None);
        };
        let content = Zeroizing::new(content);
        let text = std::str::from_utf8(&content);
        let text = text.map_err(|_| KeyFileError::Content(CertificateError::NoCertificate))?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    /// Puts there what was in the file before, as [`KeyFile::text`] gave it; what is in it.
    pub fn restore(&self, text: &str, password: &KeyFilePassword) -> Result<KeyPair, KeyFileError> {
        let pair = decode(text, password)?;
        self.put(text, Existing::Keep)?;
        Ok(pair)
    }

    /// Writes certificate and key, for the owner alone to read.
    pub fn write(
        &self,
        pair: &KeyPair,
        password: &KeyFilePassword,
        overwrite: bool,
    ) -> Result<(), KeyFileError> {
        // Asked again below; here it saves the work.
        if !overwrite && self.path.exists() {
            return Err(KeyFileError::Exists { path: self.path.clone() });
        }
        let text = encode(pair, password, ITERATIONS)?;
        self.put(&text, if overwrite { Existing::Replace } else { Existing::Keep })
    }

    fn put(&self, text: &str, existing: Existing) -> Result<(), KeyFileError> {
        let write = |source| KeyFileError::Write { path: self.path.clone(), source };
        if let Some(home) = self.path.parent() {
            atomic_file::create_directory(home).map_err(write)?;
        }
        match atomic_file::write(&self.path, text.as_bytes(), existing) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(KeyFileError::Exists { path: self.path.clone() })
            }
            result => result.map_err(write),
        }
    }
}

fn encode(
    pair: &KeyPair,
    password: &KeyFilePassword,
    iterations: u32,
) -> Result<String, KeyFileError> {
    let failed = |_| KeyFileError::Content(CertificateError::Encode);
    let (salt, iv) = (random::<16>()?, random::<16>()?);
    let parameters =
        pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(iterations, salt.as_slice(), *iv);
    let parameters = parameters.map_err(failed)?;
    let key = pair.key().to_pkcs8_der()?;
    let encrypted_data = parameters.encrypt(password.current(), &key).map_err(failed)?;
    let encoded = |_| KeyFileError::Content(CertificateError::Encode);
    let data = der::asn1::OctetString::new(encrypted_data).map_err(encoded)?;
    let info = EncryptedPrivateKeyInfoOwned {
        encryption_algorithm: parameters.into(),
        encrypted_data: data,
    };
    let block = Block::new(ENCRYPTED_LABEL, Zeroizing::new(info.to_der().map_err(encoded)?));
    Ok(format!("{}{}", pair.certificate().to_pem(), *block.to_text()))
}

/// Reads the text of a file: the first block is the certificate, the second its key.
pub(crate) fn decode(text: &str, password: &KeyFilePassword) -> Result<KeyPair, KeyFileError> {
    let mut blocks = pem::parse(text).map_err(CertificateError::Pem)?.into_iter();
    let certificate = blocks.next().filter(|block| block.label == LABEL);
    let certificate = certificate.ok_or(CertificateError::NoCertificate)?;
    let certificate = Certificate::from_der(certificate.data.to_vec())?;
    let key = key(&blocks.next().ok_or(KeyFileError::NoKey)?, password)?;
    Ok(KeyPair::new(certificate, key)?)
}

fn key(block: &Block, password: &KeyFilePassword) -> Result<CertificateKey, KeyFileError> {
    if block.label == ENCRYPTED_LABEL {
        return pkcs8_key(&block.data, password.current());
    }
    if legacy_pem::is_encrypted(block) {
        let encryption = Encryption::of(block).ok_or(KeyFileError::Encryption)?;
        // A wrong password may still give something, only no key.
        let open = |password| {
            let content = encryption.open(&block.data, password)?;
            let key = CertificateKey::from_pkcs8_der(&content);
            key.or_else(|_| CertificateKey::from_sec1_der(&content)).ok()
        };
        return open(password.current())
            .or_else(|| open(password.legacy()))
            .ok_or(KeyFileError::WrongAccount);
    }
    match block.label.as_str() {
        "PRIVATE KEY" => Ok(CertificateKey::from_pkcs8_der(&block.data)?),
        "EC PRIVATE KEY" => Ok(CertificateKey::from_sec1_der(&block.data)?),
        _ => Err(KeyFileError::NoKey),
    }
}

fn pkcs8_key(der: &[u8], password: &[u8]) -> Result<CertificateKey, KeyFileError> {
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|_| KeyFileError::Encryption)?;
    let parameters = info.encryption_algorithm.pbes2();
    let hashing = parameters.and_then(|parameters| parameters.kdf.pbkdf2());
    let hashing = hashing.ok_or(KeyFileError::Encryption)?;
    if !(1..=MAX_ITERATIONS).contains(&hashing.iteration_count) {
        return Err(KeyFileError::Encryption);
    }
    let key = info.decrypt(password).map_err(|_| KeyFileError::WrongAccount)?;
    Ok(CertificateKey::from_pkcs8_der(key.as_bytes())?)
}

/// Why the file of a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("reading {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("writing {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("certificate error: cannot overwrite certificate {}", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("the file has no private key after the certificate")]
    NoKey,
    #[error("the private key is encrypted in an unknown way, or damaged")]
    Encryption,
    #[error("the private key was encrypted by another account, or is damaged")]
    WrongAccount,
    #[error(transparent)]
    Content(#[from] CertificateError),
}

/// What the key of an account's certificate is encrypted with. Wiped when dropped.
#[derive(Clone, derive_more::Debug)]
#[debug("KeyFilePassword(…)")]
pub struct KeyFilePassword {
    current: Zeroizing<[u8; 64]>,
    legacy: Zeroizing<[u8; 64]>,
}

impl KeyFilePassword {
    /// The account's signature over its address as text.
    pub fn of(account: &SecretKey) -> Self {
        let address = account.public_key().address();
        Self {
            current: Zeroizing::new(account.sign(address.to_string().as_bytes())),
            legacy: Zeroizing::new(account.sign(address.as_bytes())),
        }
    }

    /// The password of every file that is written.
    pub(super) fn current(&self) -> &[u8] {
        self.current.as_slice()
    }

    /// The password of the oldest files: the signature over the bytes of the address.
    pub(super) fn legacy(&self) -> &[u8] {
        self.legacy.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::super::CertificateSpec;
    use super::*;
    use crate::SecretKey;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn account() -> SecretKey {
        SecretKey::from_bytes(&[5; 32]).unwrap()
    }

    fn pair(seed: u8) -> KeyPair {
        let spec = CertificateSpec {
            owner: account().public_key().address(),
            serial: 1,
            not_before: UNIX_EPOCH,
            valid_for: Duration::from_hours(1),
            domains: vec![],
        };
        KeyPair::generate(&spec, CertificateKey::from_bytes(&[seed; 32]).unwrap()).unwrap()
    }

    #[test]
    fn a_text_reads_as_it_was_written_for_its_account_only() {
        let password = KeyFilePassword::of(&account());
        let text = encode(&pair(1), &password, 2).unwrap();
        assert_eq!(decode(&text, &password).unwrap(), pair(1));
        let other = KeyFilePassword::of(&SecretKey::from_bytes(&[6; 32]).unwrap());
        assert!(matches!(decode(&text, &other), Err(KeyFileError::WrongAccount)));
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let password = KeyFilePassword::of(&account());
        let (one, two) = (encode(&pair(1), &password, 2), encode(&pair(2), &password, 2));
        let (one, two) = (one.unwrap(), two.unwrap());
        let cut = |text: &str| text.find("-----BEGIN ENCRYPTED").unwrap();
        let mixed = format!("{}{}", &one[..cut(&one)], &two[cut(&two)..]);
        let error = decode(&mixed, &password).unwrap_err();
        assert!(matches!(error, KeyFileError::Content(CertificateError::KeyMismatch)));
        let only = decode(&one[..cut(&one)], &password);
        assert!(matches!(only, Err(KeyFileError::NoKey)));
        assert!(matches!(
            decode(&one[cut(&one)..], &password),
            Err(KeyFileError::Content(CertificateError::NoCertificate))
        ));
    }

    #[test]
    fn more_hashing_than_anyone_waits_for_is_refused() {
        let password = KeyFilePassword::of(&account());
        let parameters = pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(
            MAX_ITERATIONS + 1,
            &[0; 16],
            [0; 16],
        );
        let info = EncryptedPrivateKeyInfoOwned {
            encryption_algorithm: parameters.unwrap().into(),
            encrypted_data: der::asn1::OctetString::new(vec![0; 16]).unwrap(),
        };
        let block = Block::new(ENCRYPTED_LABEL, Zeroizing::new(info.to_der().unwrap()));
        assert!(matches!(key(&block, &password), Err(KeyFileError::Encryption)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn damage_is_an_error_and_never_a_panic(
            at in any::<prop::sample::Index>(),
            to in "[A-Za-z=\n-]",
        ) {
            let password = KeyFilePassword::of(&account());
            let pair = pair(1);
            let text = encode(&pair, &password, 2).unwrap();
            let at = at.index(text.len());
            let changed = format!("{}{to}{}", &text[..at], &text[at + 1..]);
            if let Ok(read) = decode(&changed, &password) {
                prop_assert_eq!(read.key(), pair.key());
            }
        }
    }
}
