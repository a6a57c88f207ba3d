//! A deployment group: what is ordered as one, placed as one and leased as one.
//!
//! Plain data, as a tenant wrote it; see `group_validation` for what the chain accepts.

use crate::placement::PlacementRequirements;
use crate::{CoinError, DecCoin, Resources};

/// Replicas of one set of resources, and the most the tenant pays for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUnit {
    /// What one replica asks for.
    pub resources: Resources,
    /// How many replicas.
    pub count: u32,
    /// Highest price per block of one replica.
    pub price: DecCoin,
}

impl ResourceUnit {
    /// Highest price per block of all replicas.
    pub fn full_price(&self) -> Result<DecCoin, CoinError> {
        self.price.checked_mul_int(u64::from(self.count))
    }
}

/// What a group asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSpec {
    /// Name, unique in its deployment; the placement's name in the SDL.
    pub name: String,
    /// Which providers may bid.
    pub requirements: PlacementRequirements,
    /// What they must provide.
    pub resources: Vec<ResourceUnit>,
}

impl GroupSpec {
    /// Highest price per block of the whole group: unit price × count, summed.
    pub fn total_price(&self) -> Result<DecCoin, GroupPriceError> {
        let mut prices = self.resources.iter().map(ResourceUnit::full_price);
        let first = prices.next().ok_or(GroupPriceError::NoUnits)??;
        Ok(prices.try_fold(first, |sum, price| sum.checked_add(&price?))?)
    }
}

/// Why a group has no total price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupPriceError {
    /// Nothing is asked for, so there is not even a denomination.
    #[error("a group without resource units has no price")]
    NoUnits,
    /// The unit prices do not add up.
    #[error("unit prices of the group do not add up")]
    Sum(#[from] CoinError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(units: &[(u32, &str)]) -> GroupSpec {
        let resources = units
            .iter()
            .map(|(count, price)| ResourceUnit {
                resources: Resources::default(),
                count: *count,
                price: price.parse().unwrap(),
            })
            .collect();
        GroupSpec {
            name: "west".to_owned(),
            requirements: PlacementRequirements::default(),
            resources,
        }
    }

    #[test]
    fn price_is_the_sum_over_all_replicas() {
        let price = group(&[(2, "1.5uact"), (3, "0.1uact"), (0, "7uact")]).total_price();
        assert_eq!(price, Ok("3.3uact".parse().unwrap()));
    }

    #[test]
    fn prices_that_do_not_add_up_are_errors() {
        assert_eq!(group(&[]).total_price(), Err(GroupPriceError::NoUnits));
        let mixed = group(&[(1, "1uact"), (1, "1uakt")]).total_price().unwrap_err();
        assert!(matches!(mixed, GroupPriceError::Sum(CoinError::MixedDenoms { .. })));
        let huge = group(&[(u32::MAX, "100000000000000000000uact")]).total_price().unwrap_err();
        assert!(matches!(huge, GroupPriceError::Sum(CoinError::TooLarge { .. })));
    }
}
