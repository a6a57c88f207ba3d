//! How the file is laid out, and how an older layout becomes this one.
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | name | number: `format`, `cursor`, `next`, `bytes` |
//! | `entries` | sequence | [`Record`](super::Record) in JSON |
//! | `by_subject` | subject, sequence | – |
//! | `leases` | lease id | its history in JSON |
//! | `cluster` | `known`, `accepted` | uid of a cluster, and the height at which it was accepted |
//! | `bid_fees` | denomination | day, and what bids cost in fees on it |
//!
//! Rows are JSON whose readers skip what they do not know, so a new field is no new format. A
//! change that older programs would misread is: it raises [`FORMAT`] and adds a [`Step`].

use redb::{Database, ReadableTable, TableDefinition, TableHandle, WriteTransaction};

use super::{StoreError, failure};

pub(super) const META: TableDefinition<'static, &str, u64> = TableDefinition::new("meta");
pub(super) const ENTRIES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("entries");
pub(super) const BY_SUBJECT: TableDefinition<'static, (&str, u64), ()> =
    TableDefinition::new("by_subject");
pub(super) const LEASES: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("leases");
/// Made when it is first written to: older programs do without it.
pub(super) const CLUSTER: TableDefinition<'static, &str, (&str, u64)> =
    TableDefinition::new("cluster");

/// Made when it is first written to: older programs do without it.
pub(super) const BID_FEES: TableDefinition<'static, &str, (u64, u128)> =
    TableDefinition::new("bid_fees");

pub(super) const VERSION: &str = "format";
/// Height up to which everything was handled.
pub(super) const CURSOR: &str = "cursor";
/// Sequence of the next entry.
pub(super) const NEXT: &str = "next";
/// Bytes of all entries.
pub(super) const BYTES: &str = "bytes";
/// The cluster that was known last.
pub(super) const KNOWN: &str = "known";
/// The cluster that the operator accepted last.
pub(super) const ACCEPTED: &str = "accepted";

pub(super) const FORMAT: Format = Format { version: 1, steps: &[] };

/// A layout, and the way to it from older ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) version: u64,
    pub(super) steps: &'static [Step],
}

/// Turns version `from` into the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: u64,
    pub(super) change: fn(&WriteTransaction) -> Result<(), StoreError>,
}

/// Why a file cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error(transparent)]
    Failed(#[from] StoreError),
    #[error("it is not a store of this program")]
    Foreign,
    #[error("its format {found} is newer than this program's {known}")]
    Newer { found: u64, known: u64 },
    #[error("its format {found} is older than anything this program can read")]
    TooOld { found: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Same,
    Older(u64),
}

impl Format {
    /// Makes a database be of this layout, in one transaction.
    pub(super) fn establish(&self, database: &Database) -> Result<Before, Unfit> {
        let transaction = database.begin_write().map_err(failure)?;
        let before = self.establish_in(&transaction)?;
        match before {
            Before::Same => transaction.abort().map_err(failure)?,
            Before::Nothing | Before::Older(_) => transaction.commit().map_err(failure)?,
        }
        Ok(before)
    }

    fn establish_in(&self, transaction: &WriteTransaction) -> Result<Before, Unfit> {
        let names: Vec<_> = transaction
            .list_tables()
            .map_err(failure)?
            .map(|table| table.name().to_owned())
            .collect();
        if names.is_empty() {
            self.begin(transaction)?;
            return Ok(Before::Nothing);
        }
        if !names.iter().any(|name| name == META.name()) {
            return Err(Unfit::Foreign);
        }
        let found = {
            let meta = transaction.open_table(META).map_err(failure)?;
            let version = meta.get(VERSION).map_err(failure)?;
            version.map(|version| version.value()).ok_or(Unfit::Foreign)?
        };
        if found == self.version {
            return Ok(Before::Same);
        }
        if found > self.version {
            return Err(Unfit::Newer { found, known: self.version });
        }
        for version in found..self.version {
            let step = self.steps.iter().find(|step| step.from == version);
            (step.ok_or(Unfit::TooOld { found })?.change)(transaction)?;
        }
        self.stamp(transaction)?;
        Ok(Before::Older(found))
    }

    fn begin(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        // Readers find every table, empty or not.
        transaction.open_table(ENTRIES).map_err(failure)?;
        transaction.open_table(BY_SUBJECT).map_err(failure)?;
        transaction.open_table(LEASES).map_err(failure)?;
        self.stamp(transaction)
    }

    fn stamp(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        let mut meta = transaction.open_table(META).map_err(failure)?;
        meta.insert(VERSION, self.version).map_err(failure)?;
        Ok(())
    }
}
