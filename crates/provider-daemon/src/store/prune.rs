//! How much of the journal is kept.

use std::time::Duration;

use provider_engine::time::BlockTime;
use redb::{ReadableTable, ReadableTableMetadata, Table};

use super::error::{StoreError, failure};
use super::record::Record;

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
