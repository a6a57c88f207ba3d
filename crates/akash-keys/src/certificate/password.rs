//! The password of a certificate's key: a signature that only the account can make.

use std::fmt;

use zeroize::Zeroizing;

use crate::SecretKey;

/// What the key of an account's certificate is encrypted with. Wiped when dropped.
#[derive(Clone)]
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

impl fmt::Debug for KeyFilePassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyFilePassword(…)")
    }
}
