//! Addresses as the chain reads them, with its words for what is wrong.

use akash_types::Address;
use bech32::primitives::decode::UncheckedHrpstring;
use bech32::primitives::iter::Fe32IterExt;
use bech32::{Bech32, Fe32};
use sha2::{Digest, Sha256};

/// The account of this text, or the chain's words for why there is none.
pub(crate) fn account(text: &str) -> Result<Address, String> {
    text.parse().map_err(|_| problem(text))
}

/// The account of a module: the chain derives it from the module's name.
pub(crate) fn module(name: &str) -> Option<Address> {
    Address::from_bytes(Sha256::digest(name.as_bytes()).get(..20)?).ok()
}

/// The account of a public key, given compressed.
pub(crate) fn of_public_key(key: &[u8]) -> Option<Address> {
    Address::from_bytes(ripemd::Ripemd160::digest(Sha256::digest(key)).as_slice()).ok()
}

fn problem(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return "empty address string is not allowed".to_owned();
    }
    if trimmed.len() < 8 {
        return format!("decoding bech32 failed: invalid bech32 string length {}", trimmed.len());
    }
    let Some(separator) = trimmed.rfind('1').filter(|at| (1..=trimmed.len() - 7).contains(at))
    else {
        let at = trimmed.rfind('1').map_or_else(|| "-1".to_owned(), |at| at.to_string());
        return format!("decoding bech32 failed: invalid separator index {at}");
    };
    let Ok(unchecked) = UncheckedHrpstring::new(trimmed) else {
        let wrong = trimmed.chars().skip(separator + 1).find(|c| Fe32::from_char(*c).is_err());
        let number = wrong.map_or(0, u32::from);
        return format!("decoding bech32 failed: invalid character not part of charset: {number}");
    };
    if !unchecked.has_valid_checksum::<Bech32>() {
        let data: Vec<Fe32> =
            trimmed.chars().skip(separator + 1).filter_map(|c| Fe32::from_char(c).ok()).collect();
        let count = data.len().saturating_sub(6);
        let expected: String = data
            .iter()
            .copied()
            .take(count)
            .with_checksum::<Bech32>(&unchecked.hrp())
            .chars()
            .skip(separator + 1 + count)
            .collect();
        let got: String = trimmed.chars().skip(separator + 1 + count).collect();
        return format!("decoding bech32 failed: invalid checksum (expected {expected} got {got})");
    }
    let hrp = unchecked.hrp();
    if hrp.as_str() != Address::HRP {
        return format!("invalid Bech32 prefix; expected {}, got {hrp}", Address::HRP);
    }
    "decoding bech32 failed: invalid incomplete group".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_the_accounts_seen_on_chain() {
        for (name, text) in [
            ("fee_collector", "akash17xpfvakm2amg962yls6f84z3kell8c5lazw8j8"),
            ("escrow", "akash14pphss726thpwws3yc458hggufynm9x77l4l2u"),
            ("distribution", "akash1jv65s3grqf6v6jl3dp4t6c9t9rk99cd82yfms9"),
        ] {
            assert_eq!(module(name).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_address_is_refused_in_the_chains_words() {
        for (text, expected) in [
            ("", "empty address string is not allowed"),
            ("akash", "decoding bech32 failed: invalid bech32 string length 5"),
            (
                "akash1qyqszqgpqyqszqgpqyqszqgpqyqszqgpwc9ezt",
                "decoding bech32 failed: invalid checksum (expected lgve5x got wc9ezt)",
            ),
            ("akashqyqszqgpqyqsz", "decoding bech32 failed: invalid separator index -1"),
            (
                "cosmos1qyqszqgpqyqszqgpqyqszqgpqyqszqgpjnp7du",
                "invalid Bech32 prefix; expected akash, got cosmos",
            ),
        ] {
            assert_eq!(account(text).unwrap_err(), expected);
        }
    }
}
