//! Which of the many keys of a mnemonic is meant.

use std::fmt;
use std::str::FromStr;

use akash_proto::cosmos::crypto::hd::v1::Bip44Params;

/// A path from the master key of a mnemonic to one key (BIP-32), such as `m/44'/118'/0'/0/0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HdPath(Vec<u32>);

/// Set in a step that is hardened, written with an apostrophe.
const HARDENED: u32 = 1 << 31;

impl HdPath {
    /// Coin type of Cosmos, which Akash uses.
    pub const COSMOS_COIN_TYPE: u32 = 118;

    /// `m/44'/<coin type>'/<account>'/0/<index>`: where wallets look (BIP-44).
    pub fn bip44(coin_type: u32, account: u32, index: u32) -> Result<Self, HdPathError> {
        Self::of_bip44(&Bip44Params {
            purpose: 44,
            coin_type,
            account,
            change: false,
            address_index: index,
        })
    }

    /// The path that a record of a Ledger key holds.
    pub(crate) fn of_bip44(params: &Bip44Params) -> Result<Self, HdPathError> {
        let change = u32::from(params.change);
        let steps = [
            (params.purpose, HARDENED),
            (params.coin_type, HARDENED),
            (params.account, HARDENED),
            (change, 0),
            (params.address_index, 0),
        ];
        let step = |(number, hardened)| match number {
            HARDENED.. => Err(HdPathError::Number { step: number.to_string() }),
            _ => Ok(number | hardened),
        };
        Ok(Self(steps.into_iter().map(step).collect::<Result<_, _>>()?))
    }

    /// The five numbers of a record of a Ledger key.
    pub(crate) fn to_bip44(&self) -> Result<Bip44Params, HdPathError> {
        self.numbers().ok_or_else(|| HdPathError::NotBip44 { path: self.clone() })
    }

    fn numbers(&self) -> Option<Bip44Params> {
        let [purpose, coin_type, account, change @ (0 | 1), address_index] = *self.0.as_slice()
        else {
            return None;
        };
        let plain = |step: u32| (step < HARDENED).then_some(step);
        let hardened = |step: u32| step.checked_sub(HARDENED);
        Some(Bip44Params {
            purpose: hardened(purpose)?,
            coin_type: hardened(coin_type)?,
            account: hardened(account)?,
            change: change == 1,
            address_index: plain(address_index)?,
        })
    }

    /// The steps as BIP-32 counts them: hardened ones from 2^31.
    pub(super) fn steps(&self) -> &[u32] {
        &self.0
    }
}

impl Default for HdPath {
    /// `m/44'/118'/0'/0/0`.
    fn default() -> Self {
        Self(vec![44 | HARDENED, Self::COSMOS_COIN_TYPE | HARDENED, HARDENED, 0, 0])
    }
}

impl FromStr for HdPath {
    type Err = HdPathError;

    /// Reads `m/44'/118'/0'/0/0`; the `m/` may be left out.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let steps = text.strip_prefix("m/").unwrap_or(text);
        if !steps.contains('/') {
            return Err(HdPathError::Form { text: text.to_owned() });
        }
        let step = |step: &str| {
            let (digits, hardened) = match step.strip_suffix('\'') {
                Some(digits) => (digits, HARDENED),
                None => (step, 0),
            };
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse().ok().filter(|number| plain && *number < HARDENED);
            number
                .map(|number: u32| number | hardened)
                .ok_or_else(|| HdPathError::Number { step: step.to_owned() })
        };
        steps.split('/').map(step).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for HdPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        self.0.iter().try_for_each(|step| match step.checked_sub(HARDENED) {
            Some(number) => write!(f, "/{number}'"),
            None => write!(f, "/{step}"),
        })
    }
}

/// Why something is not an HD path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HdPathError {
    #[error("HD path {text:?} is not of the form {}", HdPath::default())]
    Form { text: String },
    #[error("{step:?} in an HD path is not a number below 2147483648, with ' if hardened")]
    Number { step: String },
    #[error("HD path {path} is not of the form {}", HdPath::default())]
    NotBip44 { path: HdPath },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_default_is_the_first_cosmos_account() {
        let default = HdPath::default();
        assert_eq!(default.to_string(), "m/44'/118'/0'/0/0");
        assert_eq!("m/44'/118'/0'/0/0".parse(), Ok(default.clone()));
        assert_eq!("44'/118'/0'/0/0".parse(), Ok(default.clone()));
        assert_eq!(HdPath::bip44(118, 0, 0), Ok(default));
        assert_eq!(HdPath::bip44(60, 2, 7).unwrap().to_string(), "m/44'/60'/2'/0/7");
        assert!(HdPath::bip44(118, HARDENED, 0).is_err());
    }

    #[test]
    fn what_is_not_a_path_is_refused() {
        for text in ["", "m", "m/", "44'", "/44'/0", "m//0", "m/0/", "m/+1/0", "m/2147483648/0"] {
            assert!(text.parse::<HdPath>().is_err(), "{text}");
        }
        for text in ["m/0''/1", "m/0h/1", "m/-1/1", "m/1/x", "m/1/'", "m/1/ 1", "m/99999999999/0"] {
            let error = text.parse::<HdPath>().unwrap_err();
            assert!(matches!(error, HdPathError::Number { .. }), "{text}");
        }
    }

    #[test]
    fn only_bip44_paths_have_bip44_numbers() {
        for text in ["m/0/1", "m/44/118'/0'/0/0", "m/44'/118'/0'/2/0", "m/44'/118'/0'/0/0'"] {
            let path: HdPath = text.parse().unwrap();
            assert_eq!(path.to_bip44(), Err(HdPathError::NotBip44 { path: path.clone() }));
        }
    }

    proptest! {
        #[test]
        fn paths_print_what_they_parse(steps in prop::collection::vec(any::<u32>(), 2..9)) {
            let path = HdPath(steps);
            prop_assert_eq!(path.to_string().parse::<HdPath>(), Ok(path));
        }

        #[test]
        fn bip44_numbers_come_back(coin in 0..HARDENED, account in 0..HARDENED, index in 0..HARDENED) {
            let path = HdPath::bip44(coin, account, index).unwrap();
            prop_assert_eq!(HdPath::of_bip44(&path.to_bip44().unwrap()), Ok(path));
        }
    }
}
