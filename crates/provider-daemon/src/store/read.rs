//! Reading what was kept.

use akash_types::{Coin, LeaseId};
use provider_engine::cluster::recognition::{Acceptance, Memory};
use provider_engine::journal::Subject;
use provider_engine::order::fees::BidFees;
use redb::{ReadTransaction, ReadableDatabase, ReadableTable};

use super::format::{
    ACCEPTED, BID_FEES, BY_SUBJECT, CLUSTER, CURSOR, ENTRIES, KNOWN, LEASES, META,
};
use super::history::{LeaseHistory, row_of};
use super::open::Store;
use super::record::Record;
use super::{StoreError, failure};

/// Decisions about a lease that are made of what the cluster has of it.
const DEPLOYED_KINDS: [&str; 3] = ["healthy", "unhealthy", "adopted"];

impl Store {
    /// Height up to which everything was handled; `None` if nothing was yet.
    pub fn cursor(&self) -> Result<Option<u64>, StoreError> {
        let meta = self.read()?.open_table(META).map_err(failure)?;
        Ok(meta.get(CURSOR).map_err(failure)?.map(|height| height.value()))
    }

    /// The newest `limit` decisions about something, oldest first.
    pub fn why(&self, subject: Subject, limit: usize) -> Result<Vec<Record>, StoreError> {
        let transaction = self.read()?;
        let by_subject = transaction.open_table(BY_SUBJECT).map_err(failure)?;
        let entries = transaction.open_table(ENTRIES).map_err(failure)?;
        let subject = subject.to_string();
        let range = (subject.as_str(), 0)..=(subject.as_str(), u64::MAX);
        let mut found = Vec::new();
        for row in by_subject.range(range).map_err(failure)?.rev().take(limit) {
            let sequence = row.map_err(failure)?.0.value().1;
            if let Some(bytes) = entries.get(sequence).map_err(failure)? {
                found.push(Record::read(sequence, bytes.value())?);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Orders and deployments with this number about which something was decided.
    pub fn subjects(&self, dseq: u64) -> Result<Vec<Subject>, StoreError> {
        let by_subject = self.read()?.open_table(BY_SUBJECT).map_err(failure)?;
        let mut found = Vec::new();
        let mut from = String::new();
        // From one subject to the next, over all of its entries.
        while let Some(row) = by_subject.range((from.as_str(), 0)..).map_err(failure)?.next() {
            let subject = row.map_err(failure)?.0.value().0.to_owned();
            found.extend(subject_of(&subject).filter(|subject| match subject {
                Subject::Order(order) => order.dseq() == dseq,
                Subject::Deployment(deployment) => deployment.dseq() == dseq,
                Subject::Provider => false,
            }));
            // No subject has this character, and it comes before all that subjects have.
            from = subject;
            from.push('\u{1}');
        }
        Ok(found)
    }

    /// The newest `limit` decisions about anything, oldest first.
    pub fn recent(&self, limit: usize) -> Result<Vec<Record>, StoreError> {
        let entries = self.read()?.open_table(ENTRIES).map_err(failure)?;
        let mut found = Vec::new();
        for row in entries.iter().map_err(failure)?.rev().take(limit) {
            let (sequence, bytes) = row.map_err(failure)?;
            found.push(Record::read(sequence.value(), bytes.value())?);
        }
        found.reverse();
        Ok(found)
    }

    /// What became of one lease, if it is remembered.
    pub fn history(&self, lease: LeaseId) -> Result<Option<LeaseHistory>, StoreError> {
        let leases = self.read()?.open_table(LEASES).map_err(failure)?;
        let key = lease.to_string();
        let row = leases.get(key.as_str()).map_err(failure)?;
        row.map(|row| Ok(row_of(&key, row.value())?.read(lease))).transpose()
    }

    /// What became of every lease that is remembered, by id.
    pub fn earnings(&self) -> Result<Vec<LeaseHistory>, StoreError> {
        let leases = self.read()?.open_table(LEASES).map_err(failure)?;
        let mut found = Vec::new();
        for row in leases.iter().map_err(failure)? {
            let (key, bytes) = row.map_err(failure)?;
            let row = row_of(key.value(), bytes.value())?;
            let lease: LeaseId = key.value().parse().map_err(|error| {
                StoreError::Damaged(format!("{:?} is no lease: {error}", key.value()))
            })?;
            found.push(row.read(lease));
        }
        Ok(found)
    }

    /// What this and earlier runs know of deployments and of the cluster. Stores of older programs
    /// do not say which leases were deployed; what was decided about a lease does.
    pub fn memory(&self) -> Result<Memory, StoreError> {
        let mut memory = Memory::default();
        for lease in self.earnings()?.into_iter().filter(|lease| lease.over.is_none()) {
            let deployed = match lease.deployed {
                Some(deployed) => Some(deployed.height),
                None => self.deployed_by_journal(lease.lease)?,
            };
            memory.deployed.extend(deployed.map(|height| (lease.lease, height)));
        }
        memory.bid_fees = self.bid_fees()?;
        let Some(table) = there(self.read()?.open_table(CLUSTER))? else { return Ok(memory) };
        memory.cluster = table.get(KNOWN).map_err(failure)?.map(|row| row.value().0.into());
        memory.accepted = table.get(ACCEPTED).map_err(failure)?.map(|row| {
            let (cluster, height) = row.value();
            Acceptance { cluster: cluster.into(), height }
        });
        Ok(memory)
    }

    /// Rows of earlier days stay until their denomination is paid in again.
    fn bid_fees(&self) -> Result<BidFees, StoreError> {
        let mut fees = BidFees::default();
        let Some(table) = there(self.read()?.open_table(BID_FEES))? else { return Ok(fees) };
        for row in table.iter().map_err(failure)? {
            let (denom, paid) = row.map_err(failure)?;
            let (day, amount) = paid.value();
            let denom = denom.value().parse().map_err(|error| {
                StoreError::Damaged(format!("{:?} is no denomination: {error}", denom.value()))
            })?;
            if day > fees.day {
                fees = BidFees { day, paid: Vec::new() };
            }
            if day == fees.day {
                fees.paid.push(Coin::new(denom, amount));
            }
        }
        Ok(fees)
    }

    fn deployed_by_journal(&self, lease: LeaseId) -> Result<Option<u64>, StoreError> {
        let decided = self.why(Subject::Order(lease.order_id()), usize::MAX)?;
        let deployed = |record: &&Record| DEPLOYED_KINDS.contains(&record.kind.as_str());
        Ok(decided.iter().rev().find(deployed).map(|record| record.height))
    }

    /// What all leases earned together, by denomination.
    pub fn earned(&self) -> Result<Vec<Coin>, StoreError> {
        let mut sums = std::collections::BTreeMap::new();
        for coin in self.earnings()?.into_iter().flat_map(|lease| lease.earned) {
            let sum: &mut u128 = sums.entry(coin.denom().clone()).or_default();
            *sum = sum.saturating_add(coin.amount());
        }
        Ok(sums.into_iter().map(|(denom, amount)| Coin::new(denom, amount)).collect())
    }

    fn read(&self) -> Result<ReadTransaction, StoreError> {
        self.database()?.begin_read().map_err(failure)
    }
}

/// A table that is made when it is first written to.
fn there<T>(opened: Result<T, redb::TableError>) -> Result<Option<T>, StoreError> {
    match opened {
        Ok(table) => Ok(Some(table)),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(failure(error)),
    }
}

/// The subject that was written like this.
fn subject_of(text: &str) -> Option<Subject> {
    let order = text.parse().ok().map(Subject::Order);
    order.or_else(|| text.parse().ok().map(Subject::Deployment))
}
