//! A disk that can be told to fail, and one that loses what was not synced.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use redb::{Database, StorageBackend};

use super::super::format::FORMAT;
use super::super::open::Place;
use super::super::{Batch, Retention, Store, StoreError};
use super::build::said;

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

/// A file system of its own, so small that it is soon full.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` where this user may not mount file systems, which in CI is a failure.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(folder.path());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        assert!(std::env::var_os("CI").is_none(), "mounting a tmpfs needs root");
        println!("skipped: mounting a tmpfs needs root");
        None
    }

    /// Takes all room that is left.
    fn fill(&self) -> std::path::PathBuf {
        let path = self.0.path().join("ballast");
        let mut file = std::fs::File::create(&path).unwrap();
        let block = [0; 4096];
        while io::Write::write_all(&mut file, &block).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_is_full_while_running_is_an_error_until_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let path = disk.0.path().join("store.redb");
    let store = Store::open(&path, Retention::default()).unwrap().store;
    store.commit(&batch(1)).unwrap();
    let ballast = disk.fill();
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

#[test]
fn a_disk_that_is_full_at_start_gives_a_store_in_memory() {
    let Some(disk) = SmallDisk::mount() else { return };
    let path = disk.0.path().join("store.redb");
    let ballast = disk.fill();
    assert!(Store::open(&path, Retention::default()).unwrap_err().is_full());
    let (store, problem) = crate::run::open_store(&path).unwrap();
    assert!(problem.unwrap().contains("kept in memory"));
    store.commit(&batch(1)).unwrap();
    assert_eq!(store.cursor().unwrap(), Some(1));
    std::fs::remove_file(ballast).unwrap();
    let (store, problem) = crate::run::open_store(&path).unwrap();
    assert_eq!((store.cursor().unwrap(), problem), (None, None));
}
