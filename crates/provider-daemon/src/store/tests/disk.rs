//! A disk that can be told to fail, and one that loses what was not synced.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use provider_bus::Bus;
use provider_engine::journal::Subject;
use provider_engine::time::Now;
use provider_engine::{Effect, Fact};
use provider_testkit::disk::SmallDisk;
use redb::{Database, StorageBackend};

use super::super::format::FORMAT;
use super::super::open::Place;
use super::super::{Batch, Retention, Store, StoreError};
use super::build::{lease, order, said};
use crate::announce::Announcer;
use crate::engine_task::Witness;
use crate::keeper::Keeper;
use crate::part::{Lifecycle, Parts};

/// What happened to a disk, in order.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Length(u64),
    Write(u64, Vec<u8>),
    Sync,
}

/// The bytes of a disk, what happened to it, and whether it is full.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) bytes: Arc<Mutex<Vec<u8>>>,
    pub(super) events: Arc<Mutex<Vec<Event>>>,
    pub(super) full: Arc<AtomicBool>,
}

impl Disk {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(Mutex::new(bytes)), ..Self::default() }
    }

    /// A store on this disk.
    pub(super) fn store(&self) -> Store {
        let disk = self.clone();
        let open = move || Database::builder().create_with_backend(disk.clone());
        let database = open().unwrap();
        FORMAT.establish(&database).unwrap();
        Store::new(Place::Backend(Box::new(open)), Retention::default(), database)
    }

    fn check(&self) -> io::Result<()> {
        match self.full.load(Ordering::SeqCst) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes.lock().unwrap();
        let from = usize::try_from(offset).unwrap();
        let part = bytes.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.bytes.lock().unwrap().resize(usize::try_from(len).unwrap(), 0);
        self.events.lock().unwrap().push(Event::Length(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check()?;
        self.events.lock().unwrap().push(Event::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        write_at(&mut self.bytes.lock().unwrap(), offset, data);
        self.events.lock().unwrap().push(Event::Write(offset, data.to_vec()));
        Ok(())
    }
}

pub(super) fn write_at(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let from = usize::try_from(offset).unwrap();
    if bytes.len() < from + data.len() {
        bytes.resize(from + data.len(), 0);
    }
    bytes[from..from + data.len()].copy_from_slice(data);
}

fn batch(height: u64) -> Batch {
    Batch { cursor: Some(height), entries: vec![said(height, 1, "x")], ..Batch::default() }
}

#[test]
fn a_full_disk_is_an_error_that_passes_when_there_is_room_again() {
    let disk = Disk::default();
    let store = disk.store();
    store.commit(&batch(1)).unwrap();
    disk.full.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let error = store.commit(&batch(2)).unwrap_err();
        assert!(error.is_full(), "{error:?}");
    }
    let health = store.health();
    assert_eq!((health.commits, health.failures), (1, 2));
    assert!(health.problem.unwrap().contains("no storage space"));
    disk.full.store(false, Ordering::SeqCst);
    assert_eq!(store.cursor().unwrap(), Some(1));
    store.commit(&batch(2)).unwrap();
    assert_eq!(store.cursor().unwrap(), Some(2));
    let health = store.health();
    assert_eq!((health.commits, health.failures, health.problem), (2, 2, None));
    assert!(health.last_commit.is_some());
    assert_eq!(store.recent(9).unwrap().len(), 2);
}

#[test]
fn a_batch_takes_one_sync_and_an_empty_one_none() {
    let disk = Disk::default();
    let store = disk.store();
    store.commit(&batch(1)).unwrap();
    let syncs = || {
        let events = disk.events.lock().unwrap();
        events.iter().filter(|event| matches!(event, Event::Sync)).count()
    };
    let before = syncs();
    store.commit(&batch(2)).unwrap();
    assert_eq!(syncs() - before, 1);
    store.commit(&Batch::default()).unwrap();
    assert_eq!(syncs() - before, 1);
}

#[test]
fn a_row_that_is_not_ours_is_an_error_with_its_name() {
    let store = Disk::default().store();
    store.commit(&batch(1)).unwrap();
    let database = store.database().unwrap();
    let transaction = database.begin_write().unwrap();
    let table = super::super::format::ENTRIES;
    transaction.open_table(table).unwrap().insert(0, &b"no record"[..]).unwrap();
    transaction.commit().unwrap();
    let error = store.recent(1).unwrap_err();
    assert!(matches!(&error, StoreError::Row { row, .. } if row == "entries/0"), "{error:?}");
}

#[test]
fn a_disk_that_is_full_while_running_is_an_error_until_there_is_room() {
    let Some(disk) = SmallDisk::mount().unwrap() else { return };
    let path = disk.path().join("store.redb");
    let store = Store::open(&path, Retention::default()).unwrap().store;
    store.commit(&batch(1)).unwrap();
    let ballast = disk.fill().unwrap();
    // What the file has reserved lasts for some batches.
    let large = |height| Batch {
        entries: (0..500).map(|_| said(height, 1, &"x".repeat(1000))).collect(),
        ..batch(height)
    };
    let failed = (2..50).find_map(|height| store.commit(&large(height)).err().zip(Some(height)));
    let (error, height) = failed.expect("the disk is never full");
    assert!(error.is_full(), "{error:?}");
    assert!(store.health().problem.is_some());
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(store.cursor().unwrap(), Some(height - 1));
    store.commit(&batch(height)).unwrap();
    assert_eq!((store.cursor().unwrap(), store.health().problem), (Some(height), None));
}

/// What was decided on a full disk is in memory, told loudly, and written once there is room.
#[test]
fn what_a_full_disk_refuses_is_kept_in_memory_until_there_is_room() {
    let Some(disk) = SmallDisk::mount().unwrap() else { return };
    let path = disk.path().join("store.redb");
    let store = Arc::new(Store::open(&path, Retention::default()).unwrap().store);
    let parts = Parts::default();
    let announcer = Announcer::new(Bus::in_process(), lease(1).provider(), "local".to_owned());
    let part = parts.begin("store");
    part.is(Lifecycle::Running);
    let keeper = Keeper::new(Arc::clone(&store), Arc::default(), announcer, part);
    let mut keeper = keeper.retrying(Duration::ZERO);
    let problem = || parts.all().into_iter().find_map(|part| part.problem);
    let ballast = disk.fill().unwrap();
    let now = Now::new(Duration::ZERO);
    keeper.wants(now, &Effect::Publish(Fact::LeaseStarted(lease(1))));
    keeper.wants(now, &Effect::Publish(Fact::LeaseDeployed(lease(1))));
    let mut height = 0;
    while problem().is_none() {
        height += 1;
        assert!(height < 50, "the disk is never full");
        for _ in 0..500 {
            keeper.wants(now, &Effect::Record(said(height, 1, &"x".repeat(1000))));
        }
        keeper.keep(Some(height));
    }
    let told = problem().unwrap();
    assert!(told.contains("kept in memory"), "{told}");
    assert!(store.health().problem.is_some());
    // More comes while it is full; a turn without a block changes nothing of the cursor.
    keeper.wants(now, &Effect::Publish(Fact::LeaseDeployed(lease(2))));
    keeper.keep(None);
    assert!(problem().is_some());

    std::fs::remove_file(ballast).unwrap();
    keeper.keep(None);
    assert_eq!(problem(), None);
    assert_eq!(store.cursor().unwrap(), Some(height));
    assert!(store.history(lease(2)).unwrap().is_some(), "nothing is missing");
    let entries = store.why(Subject::Order(order(1)), usize::MAX).unwrap();
    assert_eq!(entries.last().map(|entry| entry.height), Some(height));
}

#[test]
fn a_disk_that_is_full_at_start_gives_a_store_in_memory() {
    let Some(disk) = SmallDisk::mount().unwrap() else { return };
    let path = disk.path().join("store.redb");
    let ballast = disk.fill().unwrap();
    assert!(Store::open(&path, Retention::default()).unwrap_err().is_full());
    let (store, problem) = crate::run::open_store(&path).unwrap();
    assert!(problem.unwrap().contains("kept in memory"));
    store.commit(&batch(1)).unwrap();
    assert_eq!(store.cursor().unwrap(), Some(1));
    std::fs::remove_file(ballast).unwrap();
    let (store, problem) = crate::run::open_store(&path).unwrap();
    assert_eq!((store.cursor().unwrap(), problem), (None, None));
}
