//! Keys encrypted by headers of PEM (`Proc-Type: 4,ENCRYPTED`), as OpenSSL did long ago.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use md5::{Digest, Md5};
use zeroize::Zeroizing;

use crate::pem::Block;

pub(super) fn is_encrypted(block: &Block) -> bool {
    block.header("Proc-Type") == Some("4,ENCRYPTED")
}

/// Which cipher a block is encrypted with, and where it starts.
pub(super) struct Encryption {
    cipher: Cipher,
    iv: [u8; 16],
}

enum Cipher {
    Aes128,
    Aes192,
    Aes256,
}

impl Encryption {
    /// Reads `DEK-Info: AES-256-CBC,<hexadecimal>`; `None` for other ciphers, which nothing of
    /// Akash ever wrote.
    pub(super) fn of(block: &Block) -> Option<Self> {
        let (name, iv) = block.header("DEK-Info")?.split_once(',')?;
        let cipher = match name {
            "AES-128-CBC" => Cipher::Aes128,
            "AES-192-CBC" => Cipher::Aes192,
            "AES-256-CBC" => Cipher::Aes256,
            _ => return None,
        };
        Some(Self { cipher, iv: hex::decode(iv).ok()?.try_into().ok()? })
    }

    /// The content; `None` when the password is wrong, though not always then: there is nothing
    /// in the form to tell.
    pub(super) fn open(&self, data: &[u8], password: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (iv, key) = (self.iv.into(), self.key(password));
        let content = match self.cipher {
            Cipher::Aes128 => {
                let key: [u8; 16] = key.first_chunk().copied()?;
                cbc::Decryptor::<aes::Aes128>::new(&key.into(), &iv)
                    .decrypt_padded_vec::<Pkcs7>(data)
            }
            Cipher::Aes192 => {
                let key: [u8; 24] = key.first_chunk().copied()?;
                cbc::Decryptor::<aes::Aes192>::new(&key.into(), &iv)
                    .decrypt_padded_vec::<Pkcs7>(data)
            }
            Cipher::Aes256 => cbc::Decryptor::<aes::Aes256>::new(&(*key).into(), &iv)
                .decrypt_padded_vec::<Pkcs7>(data),
        };
        content.ok().map(Zeroizing::new)
    }

    /// MD5 over MD5 over password and salt, as long as is needed; the salt is the start of the
    /// initialisation vector.
    fn key(&self, password: &[u8]) -> Zeroizing<[u8; 32]> {
        let salt = self.iv.first_chunk::<8>().copied().unwrap_or_default();
        let first = Md5::new().chain_update(password).chain_update(salt).finalize();
        let second =
            Md5::new().chain_update(first).chain_update(password).chain_update(salt).finalize();
        let mut key = Zeroizing::new([0; 32]);
        for (to, from) in key.iter_mut().zip(first.iter().chain(second.iter())) {
            *to = *from;
        }
        key
    }
}
