//! Keys from words: BIP-39 mnemonics and BIP-32 derivation.
//!
//! Where the entropy of a new mnemonic comes from is the caller's business.

use bip0039::{Error as WordError, Mnemonic as Words};
use hmac::{Hmac, KeyInit, Mac};
use k256::NonZeroScalar;
use sha2::Sha512;
use zeroize::Zeroizing;

use super::{HdPath, KeyError, SecretKey};

/// English words that stand for keys. Wiped when dropped.
#[derive(derive_more::Debug)]
#[debug("Mnemonic(…)")]
pub struct Mnemonic(Words);

impl Mnemonic {
    /// The 24 words of 32 random bytes.
    pub fn generate(entropy: &[u8; 32]) -> Result<Self, MnemonicError> {
        Self::from_entropy(entropy)
    }

    /// The words of 16, 20, 24, 28 or 32 bytes of entropy.
    pub fn from_entropy(entropy: &[u8]) -> Result<Self, MnemonicError> {
        let wrong = |_| MnemonicError::Entropy { got: entropy.len() };
        Words::from_entropy(entropy).map(Self).map_err(wrong)
    }

    /// The words as typed: blanks and line ends between them do not matter, case does.
    /// They are 12, 15, 18, 21 or 24 of the English list, and the last one is a checksum.
    /// The words themselves are not in the error.
    pub fn parse(phrase: &str) -> Result<Self, MnemonicError> {
        let mut joined = Zeroizing::new(String::with_capacity(phrase.len()));
        for word in phrase.split_whitespace() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(word);
        }
        Words::from_phrase(joined.as_str()).map(Self).map_err(|error| match error {
            WordError::BadWordCount(got) => MnemonicError::Count { got },
            WordError::UnknownWord(unknown) => {
                let unknown = Zeroizing::new(unknown);
                let position = joined.split(' ').position(|word| word == unknown.as_str());
                MnemonicError::Word { position: position.map_or(0, |position| position + 1) }
            }
            WordError::BadEntropyBitCount(_) | WordError::InvalidChecksum => {
                MnemonicError::Checksum
            }
        })
    }

    /// The words, one blank between them.
    pub fn phrase(&self) -> &str {
        self.0.phrase()
    }

    /// The key at `path`. `passphrase` is the optional 25th word of BIP-39; without one, `""`.
    pub fn derive(&self, passphrase: &str, path: &HdPath) -> Result<SecretKey, MnemonicError> {
        let seed = Zeroizing::new(self.0.to_seed(passphrase));
        let mut node = Node::master(seed.as_slice())?;
        for step in path.steps() {
            node = node.child(*step)?;
        }
        Ok(node.key)
    }
}

/// A key and what its children are derived with (BIP-32).
struct Node {
    key: SecretKey,
    chain_code: Zeroizing<[u8; 32]>,
}

impl Node {
    const FIRST_HARDENED: u32 = 1 << 31;

    fn master(seed: &[u8]) -> Result<Self, MnemonicError> {
        let (left, chain_code) = hmac(b"Bitcoin seed", &[seed])?;
        let key = SecretKey::from_bytes(left.as_slice()).map_err(MnemonicError::Derive)?;
        Ok(Self { key, chain_code })
    }

    fn child(&self, step: u32) -> Result<Self, MnemonicError> {
        let secret = self.key.to_bytes();
        let number = step.to_be_bytes();
        let (left, chain_code) = if step >= Self::FIRST_HARDENED {
            hmac(self.chain_code.as_slice(), &[&[0], secret.as_slice(), &number])?
        } else {
            hmac(self.chain_code.as_slice(), &[&self.key.public_key().to_bytes(), &number])?
        };
        let sum = scalar(&left)?.as_ref() + scalar(&secret)?.as_ref();
        let bytes = Zeroizing::new(<[u8; 32]>::from(sum.to_bytes()));
        let key = SecretKey::from_bytes(bytes.as_slice()).map_err(MnemonicError::Derive)?;
        Ok(Self { key, chain_code })
    }
}

type Half = Zeroizing<[u8; 32]>;

/// Both halves of HMAC-SHA512.
fn hmac(key: &[u8], parts: &[&[u8]]) -> Result<(Half, Half), MnemonicError> {
    let mut mac = Hmac::<Sha512>::new_from_slice(key)
        .map_err(|_| MnemonicError::Derive(KeyError::SecretRange))?;
    parts.iter().for_each(|part| mac.update(part));
    let out = Zeroizing::new(<[u8; 64]>::from(mac.finalize().into_bytes()));
    let (mut left, mut right) = (Half::default(), Half::default());
    for (to, from) in left.iter_mut().chain(right.iter_mut()).zip(out.iter()) {
        *to = *from;
    }
    Ok((left, right))
}

fn scalar(bytes: &Half) -> Result<Zeroizing<NonZeroScalar>, MnemonicError> {
    NonZeroScalar::try_from(bytes.as_slice())
        .map(Zeroizing::new)
        .map_err(|_| MnemonicError::Derive(KeyError::SecretRange))
}

/// Why words, or what they were to be made from, are no mnemonic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MnemonicError {
    #[error("a mnemonic is made from 16, 20, 24, 28 or 32 bytes, got {got}")]
    Entropy {
        /// How many bytes there were.
        got: usize,
    },
    #[error("a mnemonic has 12, 15, 18, 21 or 24 words, got {got}")]
    Count {
        /// How many words there were.
        got: usize,
    },
    #[error("word {position} of the mnemonic is not in the English word list of BIP-39")]
    Word {
        /// Which, counted from 1.
        position: usize,
    },
    #[error("the words are no mnemonic: one of them is wrong, or their order is")]
    Checksum,
    #[error("deriving the key")]
    Derive(#[source] KeyError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ABANDON: &str = "abandon abandon abandon abandon abandon abandon abandon abandon \
                           abandon abandon abandon about";

    #[test]
    fn the_first_vector_of_bip32_derives_its_keys() {
        let seed = hex::decode("000102030405060708090a0b0c0d0e0f").unwrap();
        let mut node = Node::master(&seed).unwrap();
        // Test vector 1 of BIP-32: m/0'/1/2'/2/1000000000, secrets of each step.
        for (step, secret) in [
            (1 << 31, "edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea"),
            (1, "3c6cb8d0f6a264c91ea8b5030fadaa8e538b020f0a387421a12de9319dc93368"),
            (2 | 1 << 31, "cbce0d719ecf7431d88e6a89fa1483e02e35092af60c042b1df2ff59fa424dca"),
            (2, "0f479245fb19a38a1954c5c7c0ebab2f9bdfd96a17563ef28a6a4b1a2a764ef4"),
            (1_000_000_000, "471b76e389e528d6de6d816857e012c5455051cad6660850e58372a6c3e6e7c8"),
        ] {
            node = node.child(step).unwrap();
            assert_eq!(node.key.to_hex().as_str(), secret);
        }
    }

    #[test]
    fn words_and_passphrase_make_the_seed_of_bip39() {
        let words = Mnemonic::from_entropy(&[0; 16]).unwrap();
        assert_eq!(words.phrase(), ABANDON.split_whitespace().collect::<Vec<_>>().join(" "));
        let seed = hex::encode(words.0.to_seed("TREZOR"));
        assert!(
            seed.starts_with("c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e534955")
        );
        let path = HdPath::default();
        assert_ne!(words.derive("", &path).unwrap(), words.derive("TREZOR", &path).unwrap());
    }

    #[test]
    fn what_is_wrong_with_words_is_said_without_them() {
        let eleven = ABANDON.replacen("abandon ", "", 1);
        let unknown = ABANDON.replacen("abandon about", "abandom about", 1);
        let order = ABANDON.replace("abandon about", "about abandon");
        let upper = ABANDON.to_uppercase();
        for (phrase, expected) in [
            ("", MnemonicError::Count { got: 0 }),
            (eleven.as_str(), MnemonicError::Count { got: 11 }),
            (unknown.as_str(), MnemonicError::Word { position: 11 }),
            (upper.as_str(), MnemonicError::Word { position: 1 }),
            (order.as_str(), MnemonicError::Checksum),
        ] {
            let error = Mnemonic::parse(phrase).unwrap_err();
            assert_eq!(error, expected);
            assert!(!error.to_string().contains("abando"), "{error}");
        }
        assert_eq!(
            Mnemonic::from_entropy(&[0; 15]).unwrap_err(),
            MnemonicError::Entropy { got: 15 }
        );
        assert_eq!(format!("{:?}", Mnemonic::parse(ABANDON).unwrap()), "Mnemonic(…)");
    }

    proptest! {
        #[test]
        fn words_of_entropy_parse_whatever_is_between_them(
            entropy in prop::array::uniform32(any::<u8>()),
        ) {
            let words = Mnemonic::generate(&entropy).unwrap();
            prop_assert_eq!(words.phrase().split(' ').count(), 24);
            let typed = format!("\n {}\t\r\n", words.phrase().replace(' ', " \n "));
            let parsed = Mnemonic::parse(&typed).unwrap();
            prop_assert_eq!(parsed.phrase(), words.phrase());
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            let _ = Mnemonic::parse(&text);
        }
    }
}
