use std::fs;
use std::path::{Path, PathBuf};

use akash_types::Coin;
use proptest::prelude::*;
use redb::{Database, TableDefinition, WriteTransaction};

use super::super::format::{FORMAT, Format, META, Step};
use super::super::{Batch, Found, OpenError, Retention, Store, StoreError, failure};
use super::build::{earned, said};

fn open(path: &Path) -> Result<super::super::Opened, OpenError> {
    Store::open(path, Retention::default())
}

/// A store with three batches in it, closed.
fn filled(path: &Path) {
    let opened = open(path).unwrap();
    assert_eq!(opened.found, Found::Fresh);
    for height in 1..=3 {
        opened
            .store
            .commit(&Batch {
                cursor: Some(height),
                entries: vec![said(height, 1, "x")],
                leases: vec![earned(height, 1, 2)],
                ..Batch::default()
            })
            .unwrap();
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/provider.redb");
    (folder, path)
}

fn aside(path: &Path, number: u32) -> PathBuf {
    path.with_file_name(format!("provider.redb.corrupt-{number}"))
}

#[test]
fn what_was_kept_is_there_after_a_restart() {
    let (_folder, path) = place();
    filled(&path);
    let opened = open(&path).unwrap();
    assert_eq!(opened.found, Found::Existing { cursor: Some(3), migrated_from: None });
    assert_eq!(opened.store.cursor().unwrap(), Some(3));
    assert_eq!(opened.store.recent(9).unwrap().len(), 3);
    assert!(opened.store.health().size.unwrap() > 0);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = place();
    filled(&path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_store_in_use_is_an_error_and_stays_where_it_is() {
    let (_folder, path) = place();
    filled(&path);
    let opened = open(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("in use by another process"));
    assert_eq!(opened.store.cursor().unwrap(), Some(3));
}

#[test]
fn garbage_is_set_aside_every_time_and_never_overwritten() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for number in 1..=3 {
        let garbage = format!("no store {number} ").repeat(1_000);
        fs::write(&path, &garbage).unwrap();
        let opened = open(&path).unwrap();
        let Found::SetAside { moved_to, why } = opened.found else { panic!("{:?}", opened.found) };
        assert_eq!(moved_to, aside(&path, number));
        assert!(!why.is_empty());
        assert_eq!(fs::read_to_string(&moved_to).unwrap(), garbage);
        opened.store.commit(&Batch { cursor: Some(1), ..Batch::default() }).unwrap();
    }
}

#[test]
fn a_folder_in_its_place_is_an_error() {
    let (_folder, path) = place();
    fs::create_dir_all(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Disk { .. }), "{error}");
    assert!(path.is_dir());
}

#[test]
fn a_newer_format_is_set_aside() {
    let (_folder, path) = place();
    filled(&path);
    let newer = Format { version: FORMAT.version + 1, steps: &[UP] };
    let opened = Store::open_as(path.clone(), Retention::default(), newer).unwrap();
    assert_eq!(opened.found, Found::Existing { cursor: Some(3), migrated_from: Some(1) });
    drop(opened);
    let opened = open(&path).unwrap();
    let why = "its format 2 is newer than this program's 1".to_owned();
    assert_eq!(opened.found, Found::SetAside { moved_to: aside(&path, 1), why });
    assert_eq!(opened.store.cursor().unwrap(), None);
}

#[test]
fn somebody_elses_database_is_set_aside() {
    const OTHER: TableDefinition<'static, u64, u64> = TableDefinition::new("other");
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(OTHER).unwrap().insert(1, 1).unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert!(matches!(open(&path).unwrap().found, Found::SetAside { .. }));
}

const UP: Step = Step {
    from: 1,
    change: |transaction: &WriteTransaction| -> Result<(), StoreError> {
        let extra: TableDefinition<'static, &str, u64> = TableDefinition::new("extra");
        transaction.open_table(extra).map_err(failure)?.insert("steps", 1).map_err(failure)?;
        Ok(())
    },
};
/// Changes the cursor, so that it shows.
const FURTHER: Step = Step {
    from: 2,
    change: |transaction| {
        let mut meta = transaction.open_table(META).map_err(failure)?;
        meta.insert("cursor", 300).map_err(failure)?;
        Ok(())
    },
};
const BROKEN: Step = Step { from: 2, change: |_| Err(StoreError::Damaged("on purpose".into())) };

#[test]
fn an_older_format_is_brought_up_step_by_step_with_what_it_holds() {
    let (_folder, path) = place();
    filled(&path);
    let third = Format { version: 3, steps: &[FURTHER, UP] };
    let opened = Store::open_as(path.clone(), Retention::default(), third).unwrap();
    assert_eq!(opened.found, Found::Existing { cursor: Some(300), migrated_from: Some(1) });
    assert_eq!(opened.store.recent(9).unwrap().len(), 3);
    drop(opened);
    let again = Store::open_as(path, Retention::default(), third).unwrap();
    assert_eq!(again.found, Found::Existing { cursor: Some(300), migrated_from: None });
}

#[test]
fn a_migration_that_fails_leaves_the_file_as_it_was() {
    let (_folder, path) = place();
    filled(&path);
    let third = Format { version: 3, steps: &[UP, BROKEN] };
    let opened = Store::open_as(path, Retention::default(), third).unwrap();
    let Found::SetAside { moved_to, why } = opened.found else { panic!("{:?}", opened.found) };
    assert!(why.contains("on purpose"), "{why}");
    let old = Store::open(moved_to, Retention::default()).unwrap();
    assert_eq!(old.found, Found::Existing { cursor: Some(3), migrated_from: None });
    assert_eq!(old.store.recent(9).unwrap().len(), 3);
}

#[test]
fn a_format_that_no_step_leads_from_is_set_aside() {
    let (_folder, path) = place();
    filled(&path);
    let third = Format { version: 3, steps: &[FURTHER] };
    let opened = Store::open_as(path, Retention::default(), third).unwrap();
    assert!(matches!(opened.found, Found::SetAside { .. }), "{:?}", opened.found);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happened to the file, there is a store afterwards, and it holds what was kept or
    /// nothing.
    #[test]
    fn a_damaged_file_is_whole_or_set_aside(
        cut in proptest::option::of(0.0..1.0_f64),
        flips in proptest::collection::vec((0.0..1.0_f64, 1_u8..), 0..6),
    ) {
        let (_folder, path) = place();
        filled(&path);
        let mut bytes = fs::read(&path).unwrap();
        let spot = |share: f64, length: usize| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let spot = (share * length as f64) as usize;
            spot.min(length.saturating_sub(1))
        };
        if let Some(cut) = cut {
            bytes.truncate(spot(cut, bytes.len()));
        }
        // Where something is written: most of the file is empty.
        let written: Vec<_> = (0..bytes.len()).filter(|index| bytes[*index] != 0).collect();
        for (share, flip) in flips.into_iter().filter(|_| !written.is_empty()) {
            bytes[written[spot(share, written.len())]] ^= flip;
        }
        fs::write(&path, &bytes).unwrap();
        let opened = open(&path).unwrap();
        let kept = opened.store.recent(9).unwrap();
        match opened.found {
            Found::Existing { cursor, .. } => {
                let cursor = cursor.unwrap_or(0);
                prop_assert_eq!(kept.len() as u64, cursor);
                prop_assert!(kept.iter().all(|record| record.words == "x"));
                let earned: u128 = opened.store.earned().unwrap().iter().map(Coin::amount).sum();
                prop_assert_eq!(earned, 2 * u128::from(cursor));
            }
            Found::Fresh => prop_assert!(bytes.is_empty() && kept.is_empty()),
            Found::SetAside { moved_to, .. } => {
                prop_assert_eq!(fs::read(moved_to).unwrap().len(), bytes.len());
                prop_assert!(kept.is_empty());
            }
        }
        opened.store.commit(&Batch { cursor: Some(9), ..Batch::default() }).unwrap();
    }
}
