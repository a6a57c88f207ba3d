//! What a person types to unlock something.

use zeroize::Zeroizing;

/// A passphrase, wiped when dropped.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Passphrase(…)")]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// The passphrase `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<Zeroizing<String>> for Passphrase {
    fn from(text: Zeroizing<String>) -> Self {
        Self(text)
    }
}
