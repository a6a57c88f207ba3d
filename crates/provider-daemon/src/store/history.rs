//! What became of each lease, and what it earned.
//!
//! One small row for each lease that ever was. They are kept for good: each was paid for.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{Coin, LeaseId};
use provider_engine::time::BlockTime;
use redb::{ReadableTable, ReadableTableMetadata, Table};
use serde::{Deserialize, Serialize};

use super::batch::{LeaseChange, LeaseEvent, Moment};
use super::record::Record;
use super::{StoreError, failure};

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

/// How much of the journal is kept. What exceeds any of these goes, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How far back it reaches, in block time.
    pub age: Duration,
    /// Bytes of all entries. The file takes about twice as much, and is checked at every start.
    pub bytes: u64,
    /// Entries of one subject, so that none crowds out the others. Its first stays: it says how it
    /// began.
    pub per_subject: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            age: Duration::from_secs(180 * 24 * 3_600),
            bytes: 64 * 1024 * 1024,
            per_subject: 1_024,
        }
    }
}

/// Old entries that one commit removes at most, beside those it adds: no commit takes long.
const AT_ONCE: usize = 512;

type Entries<'t> = Table<'t, u64, &'static [u8]>;
type BySubject<'t> = Table<'t, (&'static str, u64), ()>;

/// Removes what is too much, and says how many bytes that was.
pub(super) fn prune(
    entries: &mut Entries<'_>,
    by_subject: &mut BySubject<'_>,
    retention: &Retention,
    newest: BlockTime,
    bytes: u64,
    touched: &[String],
) -> Result<u64, StoreError> {
    let mut freed = 0_u64;
    for subject in touched {
        freed = freed.saturating_add(prune_subject(
            entries,
            by_subject,
            subject,
            retention.per_subject.max(2),
        )?);
    }
    for _ in 0..AT_ONCE.saturating_add(touched.len()) {
        // The newest stays, however large or old.
        if entries.len().map_err(failure)? <= 1 {
            break;
        }
        let Some((sequence, record, size)) = oldest(entries)? else { break };
        let too_old = newest.since(BlockTime::from_unix(record.time)) > retention.age;
        if !too_old && bytes.saturating_sub(freed) <= retention.bytes {
            break;
        }
        entries.remove(sequence).map_err(failure)?;
        by_subject.remove((record.subject.as_str(), sequence)).map_err(failure)?;
        freed = freed.saturating_add(size);
    }
    Ok(freed)
}

fn oldest(entries: &Entries<'_>) -> Result<Option<(u64, Record, u64)>, StoreError> {
    let Some((sequence, bytes)) = entries.first().map_err(failure)? else { return Ok(None) };
    let sequence = sequence.value();
    let record = Record::read(sequence, bytes.value())?;
    Ok(Some((sequence, record, bytes.value().len() as u64)))
}

fn prune_subject(
    entries: &mut Entries<'_>,
    by_subject: &mut BySubject<'_>,
    subject: &str,
    keep: usize,
) -> Result<u64, StoreError> {
    let range = (subject, 0)..=(subject, u64::MAX);
    let mut sequences = Vec::new();
    for row in by_subject.range(range).map_err(failure)? {
        let (key, _) = row.map_err(failure)?;
        sequences.push(key.value().1);
    }
    let excess = sequences.len().saturating_sub(keep);
    let mut freed = 0_u64;
    for sequence in sequences.into_iter().skip(1).take(excess) {
        by_subject.remove((subject, sequence)).map_err(failure)?;
        let removed = entries.remove(sequence).map_err(failure)?;
        freed = freed.saturating_add(removed.map_or(0, |bytes| bytes.value().len() as u64));
    }
    Ok(freed)
}
