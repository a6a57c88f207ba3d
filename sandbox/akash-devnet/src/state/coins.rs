//! Amounts of several denominations.

use std::fmt;

use akash_proto::cosmos::base::v1beta1 as wire;
use akash_types::{Coin, Denom};

/// Positive amounts, one per denomination, ordered by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coins(Vec<Coin>);

impl Coins {
    pub(crate) fn one(coin: Coin) -> Self {
        if coin.is_zero() { Self::default() } else { Self(vec![coin]) }
    }

    /// Coins of a message, as the chain accepts them: valid, positive, ordered, each once.
    pub(crate) fn from_wire(coins: &[wire::Coin]) -> Option<Self> {
        let coins: Vec<Coin> =
            coins.iter().map(|coin| Coin::try_from(coin.clone()).ok()).collect::<Option<_>>()?;
        let ordered = coins.windows(2).all(|pair| match pair {
            [left, right] => left.denom() < right.denom(),
            _ => true,
        });
        (ordered && coins.iter().all(|coin| !coin.is_zero())).then_some(Self(coins))
    }

    pub(crate) fn to_wire(&self) -> Vec<wire::Coin> {
        self.0.iter().cloned().map(Into::into).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Coin> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn amount_of(&self, denom: &str) -> u128 {
        self.0.iter().find(|coin| coin.denom().as_str() == denom).map_or(0, Coin::amount)
    }

    /// With `coin` on top; `None` when that is more than can be counted.
    pub(crate) fn plus(&self, coin: &Coin) -> Option<Self> {
        self.with(coin.denom(), self.amount_of(coin.denom().as_str()).checked_add(coin.amount())?)
    }

    /// Without `coin`; `None` when there is less of it.
    pub(crate) fn minus(&self, coin: &Coin) -> Option<Self> {
        self.with(coin.denom(), self.amount_of(coin.denom().as_str()).checked_sub(coin.amount())?)
    }

    fn with(&self, denom: &Denom, amount: u128) -> Option<Self> {
        let mut coins = self.0.clone();
        match coins.binary_search_by(|coin| coin.denom().cmp(denom)) {
            Ok(index) if amount == 0 => {
                coins.remove(index);
            }
            Ok(index) => *coins.get_mut(index)? = Coin::new(denom.clone(), amount),
            Err(_) if amount == 0 => {}
            Err(index) => coins.insert(index, Coin::new(denom.clone(), amount)),
        }
        Some(Self(coins))
    }
}

impl fmt::Display for Coins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, coin) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{coin}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(text: &str) -> Coin {
        text.parse().unwrap()
    }

    #[test]
    fn coins_stay_ordered_and_positive() {
        let coins = Coins::default().plus(&coin("5uakt")).unwrap().plus(&coin("7uact")).unwrap();
        assert_eq!(coins.to_string(), "7uact,5uakt");
        assert_eq!(coins.minus(&coin("5uakt")).unwrap().to_string(), "7uact");
        assert_eq!(coins.minus(&coin("6uakt")), None);
        assert_eq!(coins.minus(&coin("1usd")), None);
        assert_eq!(coins.plus(&Coin::new(coin("1uakt").denom().clone(), u128::MAX)), None);
    }

    #[test]
    fn coins_of_a_message_must_be_ordered_and_positive() {
        let read = |coins: &[&str]| {
            let coins: Vec<_> = coins.iter().map(|text| coin(text).into()).collect();
            Coins::from_wire(&coins).map(|coins| coins.to_string())
        };
        assert_eq!(read(&["1uact", "2uakt"]), Some("1uact,2uakt".to_owned()));
        assert_eq!(read(&[]), Some(String::new()));
        assert_eq!(read(&["1uakt", "2uact"]), None);
        assert_eq!(read(&["1uakt", "1uakt"]), None);
        assert_eq!(read(&["0uakt"]), None);
    }
}
