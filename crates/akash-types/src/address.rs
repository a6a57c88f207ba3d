//! Account addresses: the bytes of an account and their `akash1…` text.
//!
//! Knows nothing of keys: how the bytes come from a public key is the business of whoever signs.

use std::fmt;
use std::str::FromStr;

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};

use crate::causes::shortened;

/// An account on the Akash chain.
///
/// Ordered by its bytes, which is the order in which the chain iterates accounts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Debug)]
#[debug("Address({self})")]
pub struct Address {
    /// The bytes, then zeros: with `len` as the tie-breaker this orders like the bytes themselves.
    bytes: [u8; Address::MAX_LEN],
    len: u8,
}

impl Address {
    /// Human-readable part of every account address (chain: bech32 prefix `akash`).
    pub const HRP: &'static str = "akash";

    /// Most bytes in an address. Accounts of a key have 20 (ripemd160 of sha256 of the public
    /// key), derived module accounts 32.
    pub const MAX_LEN: usize = 32;

    /// An address from its raw bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AddressError> {
        let wrong_length = AddressError::Length { got: bytes.len() };
        let len = u8::try_from(bytes.len()).map_err(|_| wrong_length.clone())?;
        let mut padded = [0; Self::MAX_LEN];
        match padded.get_mut(..bytes.len()) {
            Some(head) if len > 0 => head.copy_from_slice(bytes),
            _ => return Err(wrong_length),
        }
        Ok(Self { bytes: padded, len })
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let checked = CheckedHrpstring::new::<Bech32>(text).map_err(|source| {
            AddressError::Bech32 { text: shortened(text), reason: source.to_string() }
        })?;
        if checked.hrp().as_str() != Self::HRP {
            return Err(AddressError::Prefix { got: checked.hrp().to_string() });
        }
        let mut buffer = [0; Self::MAX_LEN];
        let mut got = 0;
        for byte in checked.byte_iter() {
            if let Some(slot) = buffer.get_mut(got) {
                *slot = byte;
            }
            got += 1;
        }
        let bytes = buffer.get(..got).ok_or(AddressError::Length { got })?;
        let address = Self::from_bytes(bytes)?;
        // One account, one text: also refuses upper case and padding bits that are not zero.
        if address.to_string() == text {
            Ok(address)
        } else {
            Err(AddressError::NotCanonical { canonical: address.to_string() })
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hrp = Hrp::parse(Self::HRP).map_err(|_| fmt::Error)?;
        let text = bech32::encode::<Bech32>(hrp, self.as_bytes()).map_err(|_| fmt::Error)?;
        f.pad(&text)
    }
}

/// Why something is not an account address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not bech32, or its checksum is wrong.
    #[error("account address {text:?} is not valid bech32: {reason}")]
    Bech32 {
        /// The text that was parsed, shortened.
        text: String,
        /// What the bech32 decoder found wrong.
        reason: String,
    },
    /// The text is bech32 of something else.
    #[error("account address starts with {got:?}, expected {:?}", Address::HRP)]
    Prefix {
        /// The human-readable part that was found.
        got: String,
    },
    /// The number of bytes is outside what an account can have.
    #[error("account address has {got} bytes, expected 1 to {}", Address::MAX_LEN)]
    Length {
        /// How many bytes there were.
        got: usize,
    },
    /// The text decodes, but is not how the account is written.
    #[error("account address is not in its canonical form {canonical}")]
    NotCanonical {
        /// How the account is written.
        canonical: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";

    #[test]
    fn an_account_seen_on_chain_parses_and_prints_the_same() {
        let address: Address = OWNER.parse().unwrap();
        assert_eq!(address.as_bytes().len(), 20);
        assert_eq!(address.to_string(), OWNER);
        assert_eq!(Address::from_bytes(address.as_bytes()), Ok(address));
    }

    #[test]
    fn what_is_not_an_account_is_refused() {
        let wrong_checksum = OWNER.replace("84r", "84q");
        let upper = OWNER.to_uppercase();
        let valoper =
            bech32::encode::<Bech32>(Hrp::parse("akashvaloper").unwrap(), &[7; 20]).unwrap();
        let bech32m =
            bech32::encode::<bech32::Bech32m>(Hrp::parse("akash").unwrap(), &[7; 20]).unwrap();
        let empty = bech32::encode::<Bech32>(Hrp::parse("akash").unwrap(), &[]).unwrap();
        let long = bech32::encode::<Bech32>(Hrp::parse("akash").unwrap(), &[7; 33]).unwrap();
        for text in ["", "akash1", "akash", " ", &wrong_checksum, &bech32m] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(matches!(error, AddressError::Bech32 { .. }), "{text}: {error}");
        }
        let error = upper.parse::<Address>().unwrap_err();
        assert!(matches!(error, AddressError::Prefix { .. } | AddressError::NotCanonical { .. }));
        assert_eq!(
            valoper.parse::<Address>(),
            Err(AddressError::Prefix { got: "akashvaloper".to_owned() })
        );
        assert_eq!(empty.parse::<Address>(), Err(AddressError::Length { got: 0 }));
        assert_eq!(long.parse::<Address>(), Err(AddressError::Length { got: 33 }));
        assert_eq!(Address::from_bytes(&[1; 300]), Err(AddressError::Length { got: 300 }));
    }

    #[test]
    fn padding_bits_must_be_zero() {
        use bech32::primitives::iter::Fe32IterExt;
        // 20 bytes fill 32 characters; a 1-byte account leaves two padding bits in its second.
        let hrp = Hrp::parse("akash").unwrap();
        let text: String = [bech32::Fe32::P, bech32::Fe32::P]
            .into_iter()
            .with_checksum::<Bech32>(&hrp)
            .chars()
            .collect();
        let error = text.parse::<Address>().unwrap_err();
        assert!(matches!(error, AddressError::NotCanonical { .. }), "{text}: {error}");
    }

    proptest! {
        #[test]
        fn bytes_survive_the_text_form(bytes in proptest::collection::vec(any::<u8>(), 1..=32)) {
            let address = Address::from_bytes(&bytes).unwrap();
            prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            prop_assert_eq!(address.as_bytes(), bytes.as_slice());
        }

        #[test]
        fn order_is_the_order_of_the_bytes(
            a in proptest::collection::vec(0u8..3, 1..=5),
            b in proptest::collection::vec(0u8..3, 1..=5),
        ) {
            let order = Address::from_bytes(&a).unwrap().cmp(&Address::from_bytes(&b).unwrap());
            prop_assert_eq!(order, a.cmp(&b));
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let _ = text.parse::<Address>();
        }
    }
}
