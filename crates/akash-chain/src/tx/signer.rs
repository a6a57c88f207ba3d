//! Who signs.

use akash_types::Address;

use akash_keys::SecretKey;

/// An account's key, wherever it is kept.
pub trait Signer {
    /// The account that signs.
    fn address(&self) -> Address;

    /// Its public key: a compressed secp256k1 point.
    fn public_key(&self) -> [u8; 33];

    /// Signs the SHA-256 of `bytes`: r and s, s in the lower half, nonce by RFC 6979.
    fn sign(&self, bytes: &[u8]) -> [u8; 64];
}

impl Signer for SecretKey {
    fn address(&self) -> Address {
        Self::public_key(self).address()
    }

    fn public_key(&self) -> [u8; 33] {
        Self::public_key(self).to_bytes()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        Self::sign(self, bytes)
    }
}

impl<S: Signer> Signer for &S {
    fn address(&self) -> Address {
        S::address(self)
    }

    fn public_key(&self) -> [u8; 33] {
        S::public_key(self)
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        S::sign(self, bytes)
    }
}
