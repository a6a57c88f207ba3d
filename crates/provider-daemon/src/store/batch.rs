//! What is kept at once, or not at all.

use akash_types::{Coin, LeaseId};
use provider_engine::cluster::recognition::{Acceptance, ClusterUid};
use provider_engine::journal::Entry;
use provider_engine::order::fees::BidFees;
use provider_engine::time::BlockTime;
use provider_engine::{Effect, Fact};
use redb::{ReadableTable, WriteTransaction};

use super::format::{
    ACCEPTED, BID_FEES, BY_SUBJECT, BYTES, CLUSTER, CURSOR, ENTRIES, KNOWN, LEASES, META, NEXT,
};
use super::history::{Retention, Row, prune, row_of};
use super::record::Record;
use super::{StoreError, failure};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Height of the newest block then.
    pub height: u64,
    pub time: BlockTime,
}

/// What is kept at once, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Height up to which everything was handled; `None` leaves it as it is.
    pub cursor: Option<u64>,
    pub entries: Vec<Entry>,
    pub leases: Vec<LeaseEvent>,
    pub cluster: Vec<ClusterEvent>,
    /// What bids have cost in fees today; `None` leaves it as it is.
    pub bid_fees: Option<BidFees>,
}

/// Something that happened to the cluster as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterEvent {
    /// It is the one that leases were deployed to.
    Known(ClusterUid),
    Accepted(Acceptance),
}

/// Something that happened to a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseEvent {
    pub lease: LeaseId,
    pub at: Moment,
    pub change: LeaseChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseChange {
    /// It was first seen.
    Started,
    /// The cluster has objects of it that it did not have before.
    Deployed,
    Earned(Coin),
    Over,
    /// Nothing is left of it.
    Gone,
}

impl Batch {
    /// Whether there is nothing to keep.
    pub const fn is_empty(&self) -> bool {
        self.cursor.is_none()
            && self.entries.is_empty()
            && self.leases.is_empty()
            && self.cluster.is_empty()
            && self.bid_fees.is_none()
    }

    /// Forgets the oldest entries of the journal until `most` are left; how many were forgotten.
    pub(crate) fn forget_oldest(&mut self, most: usize) -> usize {
        let forgotten = self.entries.len().saturating_sub(most);
        self.entries.drain(..forgotten);
        forgotten
    }

    /// Adds what is worth keeping of an effect that the engine had at some moment.
    pub fn take(&mut self, at: Moment, effect: &Effect) {
        let (lease, change) = match effect {
            Effect::Record(entry) => return self.entries.push(entry.clone()),
            Effect::Publish(Fact::ClusterKnown { uid }) => {
                return self.cluster.extend(uid.clone().map(ClusterEvent::Known));
            }
            Effect::Publish(Fact::ClusterAccepted { uid }) => {
                let accepted = uid.clone().map(|cluster| Acceptance { cluster, height: at.height });
                return self.cluster.extend(accepted.map(ClusterEvent::Accepted));
            }
            Effect::Publish(Fact::BidFees(fees)) => {
                self.bid_fees = Some(fees.clone());
                return;
            }
            Effect::Publish(Fact::LeaseStarted(lease)) => (*lease, LeaseChange::Started),
            Effect::Publish(Fact::LeaseDeployed(lease)) => (*lease, LeaseChange::Deployed),
            Effect::Publish(Fact::Earned { lease, amount }) => {
                (*lease, LeaseChange::Earned(amount.clone()))
            }
            Effect::Publish(Fact::LeaseOver { lease, .. }) => (*lease, LeaseChange::Over),
            Effect::Publish(Fact::LeaseGone(lease)) => (*lease, LeaseChange::Gone),
            _ => return,
        };
        self.leases.push(LeaseEvent { lease, at, change });
    }

    pub(super) fn write(
        &self,
        transaction: &WriteTransaction,
        retention: &Retention,
    ) -> Result<(), StoreError> {
        let mut meta = transaction.open_table(META).map_err(failure)?;
        if let Some(cursor) = self.cursor {
            meta.insert(CURSOR, cursor).map_err(failure)?;
        }
        self.write_leases(transaction)?;
        self.write_cluster(transaction)?;
        self.write_bid_fees(transaction)?;
        let Some(newest) = self.entries.iter().map(|entry| entry.time).max() else {
            return Ok(());
        };
        let mut entries = transaction.open_table(ENTRIES).map_err(failure)?;
        let mut by_subject = transaction.open_table(BY_SUBJECT).map_err(failure)?;
        let number = |key| Ok(meta.get(key).map_err(failure)?.map_or(0, |value| value.value()));
        let (mut next, mut bytes): (u64, u64) = (number(NEXT)?, number(BYTES)?);
        let mut touched = Vec::new();
        for entry in &self.entries {
            let record = Record::new(next, entry);
            let written = record.to_bytes();
            entries.insert(next, written.as_slice()).map_err(failure)?;
            by_subject.insert((record.subject.as_str(), next), ()).map_err(failure)?;
            bytes = bytes.saturating_add(written.len() as u64);
            next = next.saturating_add(1);
            touched.push(record.subject);
        }
        touched.sort_unstable();
        touched.dedup();
        let freed = prune(&mut entries, &mut by_subject, retention, newest, bytes, &touched)?;
        meta.insert(NEXT, next).map_err(failure)?;
        meta.insert(BYTES, bytes.saturating_sub(freed)).map_err(failure)?;
        Ok(())
    }

    fn write_cluster(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        if self.cluster.is_empty() {
            return Ok(());
        }
        let mut cluster = transaction.open_table(CLUSTER).map_err(failure)?;
        for event in &self.cluster {
            match event {
                ClusterEvent::Known(uid) => cluster.insert(KNOWN, (&**uid, 0)),
                ClusterEvent::Accepted(accepted) => {
                    cluster.insert(ACCEPTED, (&*accepted.cluster, accepted.height))
                }
            }
            .map_err(failure)?;
        }
        Ok(())
    }

    fn write_bid_fees(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        let Some(BidFees { day, paid }) = &self.bid_fees else { return Ok(()) };
        let mut fees = transaction.open_table(BID_FEES).map_err(failure)?;
        for coin in paid {
            fees.insert(coin.denom().as_str(), (*day, coin.amount())).map_err(failure)?;
        }
        Ok(())
    }

    fn write_leases(&self, transaction: &WriteTransaction) -> Result<(), StoreError> {
        if self.leases.is_empty() {
            return Ok(());
        }
        let mut leases = transaction.open_table(LEASES).map_err(failure)?;
        for event in &self.leases {
            let key = event.lease.to_string();
            let mut row = match leases.get(key.as_str()).map_err(failure)? {
                Some(bytes) => row_of(&key, bytes.value())?,
                None => Row::default(),
            };
            row.take(event);
            leases.insert(key.as_str(), row.to_bytes().as_slice()).map_err(failure)?;
        }
        Ok(())
    }
}
