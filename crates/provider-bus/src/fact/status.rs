//! What the parts of the provider say about themselves.

use serde::{Deserialize, Serialize};

/// Leases in the cluster, counted by how they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStatus {
    pub active: u64,
    /// Of these, waiting for a manifest or for their workloads to start.
    #[serde(default)]
    pub deploying: u64,
    /// Of these, with all workloads as wanted.
    #[serde(default)]
    pub running: u64,
    /// Of these, with some workload not as wanted.
    #[serde(default)]
    pub degraded: u64,
    /// Closed on chain and not yet gone from the cluster.
    #[serde(default)]
    pub closing: u64,
    /// Whether the breaker holds back all destruction.
    #[serde(default)]
    pub breaker_open: bool,
}

/// Orders and bids, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BidEngineStatus {
    /// Orders being judged, priced or bid on.
    pub orders: u64,
    #[serde(default)]
    pub open_bids: u64,
    /// Why there are no bids at the moment, in words; absent while there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestStatus {
    /// Deployments with an accepted manifest.
    pub deployments: u64,
    /// Leases that wait for theirs.
    #[serde(default)]
    pub awaited: u64,
}

/// Capacity as the provider computes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryStatus {
    /// What the nodes offer in all.
    pub allocatable: Resources,
    /// What of it is free: neither used nor reserved.
    pub available: Resources,
    /// Orders, bids and leases that hold a reservation.
    #[serde(default)]
    pub reservations: u64,
}

/// Quantities of what machines have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Thousandths of a CPU.
    pub cpu_milli: u64,
    /// Bytes.
    pub memory: u64,
    /// Bytes.
    #[serde(default)]
    pub ephemeral_storage: u64,
    #[serde(default)]
    pub gpu: u64,
}

/// What the provider's account holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceStatus {
    /// The account, in bech32.
    pub address: String,
    /// One entry per denomination.
    pub coins: Vec<Coin>,
    #[serde(default)]
    pub height: u64,
}

/// An amount of one denomination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coin {
    /// Such as `uakt`.
    pub denom: String,
    /// How much; a text on the wire, because JSON readers round large numbers.
    #[serde(with = "amount")]
    pub amount: u128,
}

mod amount {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(amount: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(amount)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom("an amount is a text of digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_beyond_what_doubles_hold() {
        let coin = Coin { denom: "uakt".into(), amount: u128::MAX };
        let json = serde_json::to_string(&coin).unwrap();
        assert_eq!(json, r#"{"denom":"uakt","amount":"340282366920938463463374607431768211455"}"#);
        assert_eq!(serde_json::from_str::<Coin>(&json).unwrap(), coin);
        for wrong in ["1", r#""-1""#, r#""1.5""#, r#""""#] {
            let json = format!(r#"{{"denom":"uakt","amount":{wrong}}}"#);
            assert!(serde_json::from_str::<Coin>(&json).is_err(), "{wrong}");
        }
    }
}
