//! A crash never shows half a batch, and never loses one that was acknowledged.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use akash_types::Coin;
use proptest::prelude::*;
use provider_engine::journal::Subject;

use super::super::{Batch, Retention, Store};
use super::build::{earned, order, said};
use super::disk::{Disk, Event, write_at};

/// Batch number `height`: several entries, an earning and the cursor.
fn batch(height: u64) -> Batch {
    let entries = (0..entries_of(height)).map(|dseq| said(height, dseq + 1, "x")).collect();
    Batch {
        cursor: Some(height),
        entries,
        leases: vec![earned(height, 1, u128::from(height))],
        ..Batch::default()
    }
}

const fn entries_of(height: u64) -> u64 {
    1 + height % 7
}

/// That the store holds batches 1 to its cursor, each whole, and says the cursor.
fn whole(store: &Store) -> u64 {
    let cursor = store.cursor().unwrap().unwrap_or(0);
    let kept = store.recent(usize::MAX).unwrap();
    for height in 1..=cursor {
        let of_batch = kept.iter().filter(|record| record.height == height).count() as u64;
        assert_eq!(of_batch, entries_of(height), "batch {height} of {cursor}");
    }
    let expected: u64 = (1..=cursor).map(entries_of).sum();
    assert_eq!(kept.len() as u64, expected);
    let by_subject: usize =
        (1..=7).map(|dseq| store.why(Subject::Order(order(dseq)), 9_999).unwrap().len()).sum();
    assert_eq!(by_subject as u64, expected);
    let sums: Vec<_> = store.earned().unwrap().iter().map(Coin::amount).collect();
    let sum: u128 = (1..=cursor).map(u128::from).sum();
    assert_eq!(sums, if cursor == 0 { vec![] } else { vec![sum] });
    cursor
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Power fails at any moment: of what was written since the last sync, any part may be lost.
    #[test]
    fn a_power_cut_leaves_whole_batches(
        batches in 1_u64..12,
        end in 0.0..1.0_f64,
        survives in proptest::collection::vec(any::<bool>(), 64),
    ) {
        let disk = Disk::default();
        let store = disk.store();
        // How many events there were when each batch was acknowledged.
        let mut acknowledged = vec![disk.events.lock().unwrap().len()];
        for height in 1..=batches {
            store.commit(&batch(height)).unwrap();
            acknowledged.push(disk.events.lock().unwrap().len());
        }
        let events = disk.events.lock().unwrap().clone();
        let first = acknowledged[0];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let cut = first + (end * (events.len() - first + 1) as f64) as usize;
        let happened = &events[..cut.min(events.len())];
        let synced = happened.iter().rposition(|event| matches!(event, Event::Sync)).unwrap();
        let mut bytes = Vec::new();
        for (index, event) in happened.iter().enumerate() {
            let survives = index <= synced || survives[index % survives.len()];
            match event {
                Event::Length(length) if survives => {
                    bytes.resize(usize::try_from(*length).unwrap(), 0);
                }
                Event::Write(offset, data) if survives => write_at(&mut bytes, *offset, data),
                _ => {}
            }
        }
        let found = whole(&Disk::of(bytes).store());
        let promised = acknowledged.iter().rposition(|count| *count <= happened.len()).unwrap();
        prop_assert!(found >= promised as u64, "{} of {} promised", found, promised);
    }
}

const CHILD: &str = "PROVIDER_DAEMON_STORE_CHILD";

/// The other process of the test below: commits until it is killed, and says what it has done.
#[test]
#[ignore = "is started by another test, as a process to kill"]
fn commits_until_killed() {
    let path = std::env::var_os(CHILD).expect("started by a_killed_process_leaves_whole_batches");
    let store = Store::open(Path::new(&path), Retention::default()).unwrap().store;
    for height in whole(&store) + 1.. {
        store.commit(&batch(height)).unwrap();
        println!("\ncommitted {height}");
    }
}

#[test]
fn a_killed_process_leaves_whole_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let name = "store::tests::crash::commits_until_killed";
    let mut last = 0;
    for round in 1..=3_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name, "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines {
            let line = line.unwrap();
            let Some(height) = line.strip_prefix("committed ") else { continue };
            last = height.parse().unwrap();
            if last >= round * 10 {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(last >= round * 10, "the child ended early");
        let store = Store::open(&path, Retention::default()).unwrap().store;
        assert!(whole(&store) >= last);
    }
}
