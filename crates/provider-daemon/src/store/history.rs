//! What became of each lease, and what it earned.
//!
//! One small row for each lease that ever was. They are kept for good: each was paid for.

use std::collections::BTreeMap;

use akash_types::{Coin, LeaseId};
use provider_engine::time::BlockTime;
use serde::{Deserialize, Serialize};

use super::batch::{LeaseChange, LeaseEvent, Moment};
use super::error::StoreError;

/// What is remembered of a lease. Earnings are those that arrived while this store was written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHistory {
    pub lease: LeaseId,
    /// When it was first seen.
    pub started: Option<Moment>,
    /// When objects of it were last found anew in the cluster.
    pub deployed: Option<Moment>,
    pub last_earned: Option<Moment>,
    /// What it was paid in all, by denomination.
    pub earned: Vec<Coin>,
    pub over: Option<Moment>,
    /// When nothing was left of it.
    pub gone: Option<Moment>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployed: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_earned: Option<(u64, u64)>,
    /// Amounts as text: they are larger than other readers' numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    earned: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<(u64, u64)>,
}

impl Row {
    pub(super) fn take(&mut self, event: &LeaseEvent) {
        let at = (event.at.height, event.at.time.unix());
        match &event.change {
            // Every start of the process sees it for the first time.
            LeaseChange::Started => self.started = self.started.or(Some(at)),
            LeaseChange::Deployed => self.deployed = Some(at),
            LeaseChange::Over => self.over = self.over.or(Some(at)),
            LeaseChange::Gone => self.gone = self.gone.or(Some(at)),
            LeaseChange::Earned(coin) => {
                self.last_earned = Some(at);
                let sum = self.earned.entry(coin.denom().to_string()).or_default();
                let before: u128 = sum.parse().unwrap_or(0);
                *sum = before.saturating_add(coin.amount()).to_string();
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Maps of texts and pairs of numbers always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn read(self, lease: LeaseId) -> LeaseHistory {
        let moment = |(height, time)| Moment { height, time: BlockTime::from_unix(time) };
        let coins = self.earned.into_iter().filter_map(|(denom, amount)| {
            Some(Coin::new(denom.parse().ok()?, amount.parse().ok()?))
        });
        LeaseHistory {
            lease,
            started: self.started.map(moment),
            deployed: self.deployed.map(moment),
            last_earned: self.last_earned.map(moment),
            earned: coins.collect(),
            over: self.over.map(moment),
            gone: self.gone.map(moment),
        }
    }
}

pub(super) fn row_of(key: &str, bytes: &[u8]) -> Result<Row, StoreError> {
    serde_json::from_slice(bytes)
        .map_err(|source| StoreError::Row { row: format!("leases/{key}"), source })
}
