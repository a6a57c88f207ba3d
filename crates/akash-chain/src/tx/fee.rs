//! What is paid for a transaction.

use std::str::FromStr;

use akash_proto::cosmos::tx::v1beta1 as wire;
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, Tx};
use akash_types::{Address, Coin, CoinError, Dec, DecCoin, Denom};
use prost::Message as _;
use prost_types::Any;

use super::build::{check, direct};
use super::message::PackedError;
use super::{BuildError, Message, SignedTx, Signer, Unsigned};

/// The fee of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fee {
    /// What is paid, one coin per denomination, by denomination.
    pub amount: Vec<Coin>,
    /// How much gas it may use.
    pub gas_limit: u64,
    /// Who pays, if not the signer.
    pub granter: Option<Address>,
}

impl From<&Fee> for wire::Fee {
    fn from(fee: &Fee) -> Self {
        Self {
            amount: fee.amount.iter().cloned().map(Into::into).collect(),
            gas_limit: fee.gas_limit,
            granter: fee.granter.map(|granter| granter.to_string()).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// How the fee comes about: a fixed sum, or a price for gas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeeRule {
    /// This much, whatever the gas.
    Fixed(Vec<Coin>),
    /// This much for each unit of gas.
    PerGas(Vec<DecCoin>),
}

impl FeeRule {
    /// Reads `fees` (`5000uakt,…`) or `gas_prices` (`0.025uakt,…`); one of them must be empty, and
    /// if both are, nothing is paid.
    pub fn parse(fees: &str, gas_prices: &str) -> Result<Self, FeeError> {
        match (fees.trim(), gas_prices.trim()) {
            ("", prices) => Ok(Self::PerGas(coins(prices)?)),
            (fees, "") => {
                // Also 5akt and 0.5akt, which are whole in the micro unit; the rest is cut off.
                let whole = |coin: DecCoin| {
                    let coin = coin.normalize()?;
                    let too_large = || CoinError::TooLarge { text: coin.to_string() };
                    let amount = u128::try_from(coin.amount().truncate_int());
                    Ok(Coin::new(coin.denom().clone(), amount.map_err(|_| too_large())?))
                };
                let fees: Result<Vec<Coin>, CoinError> =
                    coins(fees)?.into_iter().map(whole).collect();
                Ok(Self::Fixed(unique(fees?)?))
            }
            _ => Err(FeeError::Both),
        }
    }

    /// The fee for a transaction with this gas limit: each price times gas, rounded up.
    pub fn fee(&self, gas_limit: u64) -> Result<Vec<Coin>, FeeError> {
        match self {
            Self::Fixed(fees) => Ok(fees.clone()),
            Self::PerGas(prices) => prices.iter().map(|price| fee_in(price, gas_limit)).collect(),
        }
    }
}

fn fee_in(price: &DecCoin, gas_limit: u64) -> Result<Coin, FeeError> {
    let too_large = || FeeError::TooLarge { price: price.clone(), gas_limit };
    let exact = price.amount().checked_mul_int(i128::from(gas_limit)).ok_or_else(too_large)?;
    let whole = exact.truncate_int();
    // Prices are not negative, so cutting off rounds down.
    let rest = Dec::checked_from_int(whole).is_none_or(|whole| whole < exact);
    let amount = u128::try_from(whole).map_err(|_| too_large())? + u128::from(rest);
    Ok(Coin::new(price.denom().clone(), amount))
}

/// Reads `1.5uakt,2uact`: by denomination, each once, those of zero left out.
fn coins(text: &str) -> Result<Vec<DecCoin>, FeeError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let coins: Result<Vec<DecCoin>, CoinError> = text.split(',').map(str::parse).collect();
    let mut coins = coins?;
    coins.retain(|coin| !coin.is_zero());
    coins.sort_by(|a, b| a.denom().cmp(b.denom()));
    match repeated(coins.iter().map(DecCoin::denom)) {
        Some(denom) => Err(FeeError::Twice { denom: denom.clone() }),
        None => Ok(coins),
    }
}

/// `1akt,1uakt` are two denominations as written and one as paid.
fn unique(mut coins: Vec<Coin>) -> Result<Vec<Coin>, FeeError> {
    coins.retain(|coin| !coin.is_zero());
    coins.sort_by(|a, b| a.denom().cmp(b.denom()));
    match repeated(coins.iter().map(Coin::denom)) {
        Some(denom) => Err(FeeError::Twice { denom: denom.clone() }),
        None => Ok(coins),
    }
}

/// The first of sorted denominations that stands there twice.
pub(super) fn repeated<'a>(sorted: impl Iterator<Item = &'a Denom>) -> Option<&'a Denom> {
    let mut before = None;
    for denom in sorted {
        if before == Some(denom) {
            return before;
        }
        before = Some(denom);
    }
    None
}

/// Why there is no fee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeeError {
    /// A fixed fee and a price for gas.
    #[error("fees and gas prices are both given, expected one of them")]
    Both,
    /// Not a coin.
    #[error("a fee or gas price is not a coin")]
    Coin(#[from] CoinError),
    /// Two amounts of one denomination.
    #[error("{denom} is given twice, each denomination may be given once")]
    Twice {
        /// Which.
        denom: Denom,
    },
    /// More money than there is.
    #[error("{price} for each of {gas_limit} units of gas is more money than there is")]
    TooLarge {
        /// The price.
        price: DecCoin,
        /// The gas.
        gas_limit: u64,
    },
}

/// By how much the gas limit exceeds what simulation used.
///
/// The one float of this crate: Go multiplies float64, and a limit that differs in its last digit
/// would differ in the fee.
#[derive(Clone, Copy, PartialEq, PartialOrd, derive_more::Display, derive_more::Debug)]
#[debug("GasAdjustment({self})")]
#[display("{_0}")]
pub struct GasAdjustment(f64);

impl Default for GasAdjustment {
    /// 1.5, as in Go.
    fn default() -> Self {
        Self(1.5)
    }
}

impl GasAdjustment {
    /// The gas limit for a transaction whose simulation used `used`: the product in float64,
    /// truncated.
    pub fn apply(self, used: u64) -> Result<u64, GasError> {
        #[expect(clippy::cast_precision_loss, reason = "Go's float64(used) rounds the same way")]
        let limit = (self.0 * used as f64).trunc();
        // The chain holds gas in 63 bits; 2^63 is exact as a float.
        const TOO_MUCH: f64 = 9_223_372_036_854_775_808.0;
        if limit >= TOO_MUCH {
            return Err(GasError::TooMuch { used, adjustment: self });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative and under 2^63"
        )]
        Ok(limit as u64)
    }
}

impl FromStr for GasAdjustment {
    type Err = GasError;

    /// Reads a decimal as in `1.5`; it is above zero.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match text.parse::<f64>() {
            Ok(value) if digits && value.is_finite() && value > 0.0 => Ok(Self(value)),
            _ => Err(GasError::NotAnAdjustment { text: text.chars().take(64).collect() }),
        }
    }
}

/// Why there is no gas limit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GasError {
    /// Not a factor.
    #[error("gas adjustment {text:?} must be a decimal above zero, as in 1.5")]
    NotAnAdjustment {
        /// The text, shortened.
        text: String,
    },
    /// More than a transaction can have.
    #[error("gas {used} times {adjustment} is more than any transaction can have")]
    TooMuch {
        /// What simulation used.
        used: u64,
        /// By how much it is multiplied.
        adjustment: GasAdjustment,
    },
}

/// For which chain and which turn of its account a transaction is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignFor<'a> {
    /// The chain.
    pub chain_id: &'a str,
    /// Number of the signer's account.
    pub account_number: u64,
    /// How many transactions the account has sent before it.
    pub sequence: u64,
}

/// Why a transaction cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenError {
    /// A message that is not understood: who signs it would sign anything.
    #[error("message {index} of the transaction")]
    Message {
        /// Which, from 0.
        index: usize,
        /// What is wrong with it.
        source: PackedError,
    },
    /// There is nothing in it, or it is for others to sign.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It says nothing of a fee, not even of gas.
    #[error("the transaction has no fee")]
    NoFee,
    /// Somebody else is to pay, and would have to sign as well.
    #[error("the transaction is paid by {payer}, who must sign it too; this program signs alone")]
    Payer {
        /// Who.
        payer: String,
    },
    /// Nobody has signed it.
    #[error("the transaction has no signature; sign it first")]
    NoSignature,
}

/// A transaction that was made elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenTx {
    tx: Tx,
    messages: Vec<Message>,
}

impl GivenTx {
    /// Looks at a transaction.
    pub fn new(tx: Tx) -> Result<Self, GivenError> {
        let read = |(index, any): (usize, &Any)| {
            Message::from_any(any.clone()).map_err(|source| GivenError::Message { index, source })
        };
        let messages = tx.body.iter().flat_map(|body| &body.messages).enumerate().map(read);
        Ok(Self { messages: messages.collect::<Result<_, _>>()?, tx })
    }

    /// What it does.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The transaction to be signed by `signer`, in place of whoever has signed it before.
    pub fn unsigned<S: Signer>(
        &self,
        sign_for: SignFor<'_>,
        signer: S,
    ) -> Result<Unsigned<S>, GivenError> {
        let SignFor { chain_id, account_number, sequence } = sign_for;
        check(&self.messages, chain_id, signer.address())?;
        let given = self.tx.auth_info.clone().unwrap_or_default();
        let payer = &given.fee.as_ref().ok_or(GivenError::NoFee)?.payer;
        if !payer.is_empty() && *payer != signer.address().to_string() {
            return Err(GivenError::Payer { payer: payer.clone() });
        }
        let auth_info = AuthInfo { signer_infos: vec![direct(&signer, sequence)], ..given };
        let body = self.tx.body.clone().unwrap_or_default();
        Ok(Unsigned::of(&body, &auth_info, chain_id, account_number, signer))
    }
}

/// A transaction that was signed elsewhere, to be broadcast whatever it does.
pub fn signed_elsewhere(tx: &Tx) -> Result<SignedTx, GivenError> {
    match tx.signatures.is_empty() {
        true => Err(GivenError::NoSignature),
        // On the wire the parts are bytes, as they are in what was signed.
        false => Ok(SignedTx::from_raw(tx.encode_to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use akash_keys::SecretKey;
    use akash_proto::cosmos::bank::v1beta1::MsgSend;
    use akash_proto::cosmos::tx::v1beta1::{Fee, TxBody, TxRaw};
    use akash_proto::to_any;
    use proptest::prelude::*;

    fn fee(prices: &str, gas: u64) -> Vec<String> {
        let rule = FeeRule::parse("", prices).unwrap();
        rule.fee(gas).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_price_is_multiplied_and_rounded_up() {
        assert_eq!(fee("0.025uakt", 200_000), ["5000uakt"]);
        assert_eq!(fee("0.025uakt", 200_001), ["5001uakt"]);
        assert_eq!(fee("0.025uakt", 219_763), ["5495uakt"]);
        assert_eq!(fee(" 0.1uakt, 1uact ,0uxxx", 15), ["15uact", "2uakt"]);
        assert_eq!(fee("0.000000000000000001uakt", u64::MAX), ["19uakt"]);
        assert_eq!(fee("0.025uakt", 0), ["0uakt"]);
        assert!(fee("", 200_000).is_empty());
    }

    #[test]
    fn a_fixed_fee_is_normalised_and_not_combined_with_prices() {
        let fixed = FeeRule::parse("0.5akt,3uact", "").unwrap();
        let fees: Vec<String> = fixed.fee(7).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(fees, ["3uact", "500000uakt"]);
        assert_eq!(FeeRule::parse("1uakt", "1uakt"), Err(FeeError::Both));
        for twice in ["1akt,1uakt", "1uakt,2uakt"] {
            assert!(matches!(FeeRule::parse(twice, ""), Err(FeeError::Twice { .. })), "{twice}");
        }
        assert!(matches!(FeeRule::parse("", "1uakt,2uakt"), Err(FeeError::Twice { .. })));
        for text in ["uakt", "1", "-1uakt", "1uakt,", ","] {
            assert!(matches!(FeeRule::parse("", text), Err(FeeError::Coin(_))), "{text}");
        }
        let huge = FeeRule::parse("", "100000000000000000000uakt").unwrap();
        assert!(matches!(huge.fee(u64::MAX), Err(FeeError::TooLarge { .. })));
    }

    proptest! {
        /// Against long multiplication: digits of the price times gas, then up to a whole coin.
        #[test]
        fn fees_are_exact(scaled in 0i128..1_000_000_000_000_000_000_000, gas in any::<u32>()) {
            let price = DecCoin::new("uakt".parse().unwrap(), Dec::from_scaled(scaled)).unwrap();
            let fee = fee_in(&price, u64::from(gas)).unwrap();
            let one = 1_000_000_000_000_000_000u128;
            let product = scaled.unsigned_abs() * u128::from(gas);
            prop_assert_eq!(fee.amount(), product.div_ceil(one));
        }

        #[test]
        fn no_text_panics(fees in ".{0,40}", prices in ".{0,40}") {
            if let Ok(rule) = FeeRule::parse(&fees, &prices) {
                let _ = rule.fee(u64::MAX);
            }
        }
    }

    #[test]
    fn limits_are_those_of_go() {
        // 1.1 × 10 is 11.000000000000002 in float64, 1.15 × 100 is 114.99999999999999.
        for (adjustment, used, limit) in [
            ("1.5", 123_871, 185_806),
            ("1.1", 10, 11),
            ("1.15", 100, 114),
            ("1.3", 10, 13),
            ("2.3", 100, 229),
            ("1", u64::MAX >> 12, u64::MAX >> 12),
            ("1", (1 << 53) + 1, 1 << 53),
            ("0.5", 3, 1),
            ("1.5", 0, 0),
        ] {
            let gas = adjustment.parse::<GasAdjustment>().unwrap().apply(used);
            assert_eq!(gas, Ok(limit), "{adjustment} × {used}");
        }
        assert!(GasAdjustment::default().apply(u64::MAX).is_err());
        assert!(GasAdjustment(1.0).apply(1 << 63).is_err());
    }

    #[test]
    fn only_decimals_above_zero_are_adjustments() {
        for text in ["", ".", "0", "0.0", "-1", "nan", "inf", "1e3", "0x1", "1,5", " 1", "1.5.1"] {
            assert!(text.parse::<GasAdjustment>().is_err(), "{text:?}");
        }
    }

    proptest! {
        /// Against exact integers: within the gas that exists, float64 is off by less than one.
        #[test]
        fn float_and_exact_differ_by_at_most_one(
            thousandths in 1u64..10_000,
            used in 0u64..10_000_000_000,
        ) {
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            let limit = text.parse::<GasAdjustment>().unwrap().apply(used).unwrap();
            let exact = used * thousandths / 1000;
            prop_assert!(limit.abs_diff(exact) <= 1, "{} {}", limit, exact);
        }
    }

    const SIGN_FOR: SignFor<'static> =
        SignFor { chain_id: "local", account_number: 7, sequence: 2 };

    fn key(byte: u8) -> SecretKey {
        SecretKey::from_bytes(&[byte; 32]).unwrap()
    }

    fn tx(senders: &[u8], fee: Option<Fee>) -> Tx {
        let send = |byte: &u8| {
            let from_address = Signer::address(&key(*byte)).to_string();
            to_any(&MsgSend { from_address, ..MsgSend::default() })
        };
        let messages = senders.iter().map(send).collect();
        let body = TxBody { messages, memo: "as given".to_owned(), ..TxBody::default() };
        let auth_info = AuthInfo { fee, ..AuthInfo::default() };
        Tx { body: Some(body), auth_info: Some(auth_info), signatures: Vec::new() }
    }

    fn unsigned(tx: Tx) -> Result<Unsigned<SecretKey>, GivenError> {
        GivenTx::new(tx)?.unsigned(SIGN_FOR, key(1))
    }

    #[test]
    fn nothing_but_the_signer_changes() {
        let fee = Fee { gas_limit: 9, granter: "somebody".to_owned(), ..Fee::default() };
        let given = tx(&[1, 1], Some(fee));
        let signed = unsigned(given.clone()).unwrap().sign();
        let sent = Tx::decode(signed.raw()).unwrap();
        assert_eq!(sent.body, given.body);
        assert_eq!(sent.auth_info.as_ref().unwrap().fee, given.auth_info.unwrap().fee);
        assert_eq!(sent.signatures.len(), 1);
        assert_eq!(signed_elsewhere(&sent).unwrap(), signed);

        // Signing once more gives the same, whoever had signed before.
        assert_eq!(unsigned(sent).unwrap().sign(), signed);
        let raw = TxRaw::decode(signed.raw()).unwrap();
        let again = unsigned(Tx::decode(signed.raw()).unwrap()).unwrap();
        assert_eq!(again.body_bytes(), raw.body_bytes);
        assert!(key(1).public_key().verify(again.sign_bytes(), &raw.signatures[0]));
    }

    #[test]
    fn what_is_not_for_this_signer_alone_is_not_signed() {
        let fee = || Some(Fee::default());
        let others = Some(Fee { payer: "akash1other".to_owned(), ..Fee::default() });
        let own = Some(Fee { payer: Signer::address(&key(1)).to_string(), ..Fee::default() });
        assert!(unsigned(tx(&[1], own)).is_ok());
        let refused = |tx| unsigned(tx).unwrap_err();
        assert!(matches!(refused(tx(&[1], others)), GivenError::Payer { .. }));
        assert!(matches!(refused(tx(&[1], None)), GivenError::NoFee));
        let wrong = refused(tx(&[1, 2], fee()));
        assert!(matches!(wrong, GivenError::Build(BuildError::WrongSigner { .. })));
        assert_eq!(refused(tx(&[], fee())), GivenError::Build(BuildError::NoMessages));
        assert_eq!(signed_elsewhere(&tx(&[1], fee())), Err(GivenError::NoSignature));
        let mut unknown = tx(&[1, 1], fee());
        unknown.body.as_mut().unwrap().messages[1].type_url = "/x.Y".to_owned();
        assert!(matches!(refused(unknown), GivenError::Message { index: 1, .. }));
    }
}
