//! What this program writes into a keyring it finds again, and what it does not understand it
//! leaves alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use akash_keys::keyring::{
    Ask, Backend, KeyRecord, Keyring, KeyringError, NoPassphrase, OpenOptions, RecordKind,
};
use akash_keys::{HdPath, Multisig, Passphrase, SecretKey};
use proptest::prelude::*;

const PASSPHRASE: &str = "a long enough passphrase";

fn open_with(
    backend: Backend,
    directory: &Path,
    source: impl Fn(Ask<'_>) -> Result<Passphrase, NoPassphrase> + Send + Sync + 'static,
) -> Keyring {
    let options = OpenOptions {
        directory: directory.to_owned(),
        passphrase: Box::new(source),
        session_bus: None,
    };
    Keyring::open(backend, options).unwrap()
}

fn open(backend: Backend, directory: &Path) -> Keyring {
    open_with(backend, directory, |_| Ok(Passphrase::new(PASSPHRASE)))
}

fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes(&[byte; 32]).unwrap()
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    };
    entries.map(file).collect()
}

#[test]
fn keys_of_every_kind_are_found_by_name_and_account() {
    let home = tempfile::tempdir().unwrap();
    for backend in [Backend::Test, Backend::File, Backend::Os, Backend::Memory] {
        if backend == Backend::Os && !cfg!(target_os = "linux") {
            continue;
        }
        let directory = home.path().join(backend.to_string());
        let keyring = open(backend, &directory);
        assert_eq!(keyring.backend(), backend);
        assert!(keyring.list().unwrap().records.is_empty());
        let public = key(2).public_key();
        let records = [
            KeyRecord::local("a/b %", &key(1)),
            KeyRecord::multi("c", Multisig { threshold: 1, keys: vec![public.into()] }),
            KeyRecord::ledger("d ü", key(3).public_key(), HdPath::default()).unwrap(),
            KeyRecord::offline("e", public.into()),
        ];
        records.iter().rev().for_each(|record| keyring.add(record).unwrap());

        // Memory ends with its keyring, files do not.
        let keyring = if backend == Backend::Memory { keyring } else { open(backend, &directory) };
        let list = keyring.list().unwrap();
        assert_eq!(list.records, records);
        assert!(list.unreadable.is_empty());
        for record in &records {
            assert_eq!(&keyring.by_address(&record.address().unwrap()).unwrap(), record);
        }
        assert_eq!(keyring.get("a/b %").unwrap().secret_key().unwrap(), key(1));

        keyring.rename("a/b %", "renamed").unwrap();
        let renamed = keyring.get("renamed").unwrap();
        assert_eq!(renamed.secret_key().unwrap(), key(1));
        assert_eq!(keyring.by_address(&key(1).public_key().address()).unwrap(), renamed);
        assert!(matches!(keyring.get("a/b %"), Err(KeyringError::NoKey { .. })));
        for name in ["renamed", "c", "d ü", "e"] {
            keyring.delete(name).unwrap();
        }
        assert!(keyring.names().unwrap().is_empty());
        let gone = keyring.by_address(&key(1).public_key().address());
        assert!(matches!(gone, Err(KeyringError::NoAccount { .. })));
    }
    assert_eq!(files(&home.path().join("test/keyring-test")).len(), 0);
    assert_eq!(
        files(&home.path().join("file/keyring-file")).into_keys().collect::<Vec<_>>(),
        ["keyhash"]
    );
}

#[test]
fn what_is_taken_is_not_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let keyring = open(Backend::Test, home.path());
    keyring.add(&KeyRecord::local("a", &key(1))).unwrap();
    keyring.add(&KeyRecord::local("b", &key(2))).unwrap();
    let before = files(&home.path().join("keyring-test"));
    let name = keyring.add(&KeyRecord::local("a", &key(3)));
    assert!(matches!(name, Err(KeyringError::NameTaken { .. })));
    let account = keyring.add(&KeyRecord::offline("c", key(1).public_key().into()));
    assert!(matches!(account, Err(KeyringError::AccountTaken { name, .. }) if name == "a"));
    assert!(matches!(keyring.rename("a", "b"), Err(KeyringError::NameTaken { .. })));
    assert!(matches!(keyring.rename("x", "y"), Err(KeyringError::NoKey { .. })));
    assert!(matches!(keyring.delete("x"), Err(KeyringError::NoKey { .. })));
    for name in ["", " ", "a.info", "a.address", "a\n", &key(9).public_key().address().to_string()]
    {
        let added = keyring.add(&KeyRecord::local(name, &key(4)));
        assert!(matches!(added, Err(KeyringError::Name { .. })), "{name:?}");
        let renamed = keyring.rename("a", name);
        assert!(matches!(renamed, Err(KeyringError::Name { .. })), "{name:?}");
    }
    assert_eq!(files(&home.path().join("keyring-test")), before);
}

#[test]
fn a_passphrase_is_asked_for_once_and_a_new_one_must_be_good() {
    let home = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let keyring = open_with(Backend::File, home.path(), move |ask| {
        counter.fetch_add(1, Ordering::Relaxed);
        assert!(matches!(ask, Ask::Create(_)));
        Ok(Passphrase::new(PASSPHRASE))
    });
    assert!(keyring.list().unwrap().records.is_empty());
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    keyring.add(&KeyRecord::local("a", &key(1))).unwrap();
    keyring.list().unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    let wrong = open_with(Backend::File, home.path(), |ask| {
        assert!(matches!(ask, Ask::Unlock(_)));
        Ok(Passphrase::new("another passphrase"))
    });
    let error = wrong.add(&KeyRecord::local("b", &key(2))).unwrap_err();
    assert!(matches!(error, KeyringError::WrongPassphrase));
    let nobody = open_with(Backend::File, home.path(), |_| Err(NoPassphrase("no terminal".into())));
    assert!(matches!(nobody.get("a"), Err(KeyringError::NoPassphrase(_))));

    for bad in ["short", &"x".repeat(73)] {
        let (home, bad) = (tempfile::tempdir().unwrap(), bad.to_owned());
        let keyring =
            open_with(Backend::File, home.path(), move |_| Ok(Passphrase::new(bad.clone())));
        let error = keyring.add(&KeyRecord::local("a", &key(1))).unwrap_err();
        assert!(matches!(error, KeyringError::PassphraseLength { .. }));
        assert!(files(&home.path().join("keyring-file")).is_empty());
    }
}

#[test]
fn an_account_is_found_although_the_way_to_it_is_lost_or_wrong() {
    let home = tempfile::tempdir().unwrap();
    let keyring = open(Backend::Test, home.path());
    keyring.add(&KeyRecord::local("a", &key(1))).unwrap();
    keyring.add(&KeyRecord::local("b", &key(2))).unwrap();
    let [one, two] = [key(1), key(2)].map(|key| key.public_key().address());
    let item = |address: akash_types::Address| {
        home.path().join(format!("keyring-test/{}.address", hex::encode(address.as_bytes())))
    };
    fs::copy(item(two), item(one)).unwrap();
    assert_eq!(keyring.by_address(&one).unwrap().name(), "a");
    fs::write(item(one), "damaged").unwrap();
    assert_eq!(keyring.by_address(&one).unwrap().name(), "a");
    fs::remove_file(item(one)).unwrap();
    assert_eq!(keyring.by_address(&one).unwrap().name(), "a");
    // Left over from a key that is gone.
    fs::remove_file(home.path().join("keyring-test/b.info")).unwrap();
    keyring.add(&KeyRecord::local("c", &key(2))).unwrap();
    assert_eq!(keyring.by_address(&two).unwrap().name(), "c");
}

#[test]
fn what_cannot_be_read_is_listed_beside_the_rest_and_stays() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("keyring-test");
    let keyring = open(Backend::Test, home.path());
    keyring.add(&KeyRecord::local("good", &key(1))).unwrap();
    // A file of another keyring, and one of no keyring.
    open(Backend::File, home.path()).add(&KeyRecord::local("other", &key(2))).unwrap();
    fs::copy(home.path().join("keyring-file/other.info"), directory.join("other.info")).unwrap();
    fs::write(directory.join("text.info"), [0xff, 0]).unwrap();
    // An item that opens and holds no record: the way to an account under the name of a key.
    let address = hex::encode(key(1).public_key().address().as_bytes());
    fs::copy(directory.join(format!("{address}.address")), directory.join("strange.info")).unwrap();
    let before = files(&directory);

    let list = keyring.list().unwrap();
    let names: Vec<_> = list.records.iter().map(|r| (r.name(), r.kind().to_string())).collect();
    assert_eq!(names, [("good", "local".to_owned()), ("strange", "unknown".to_owned())]);
    let unreadable: Vec<_> = list.unreadable.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(unreadable, ["other", "text"]);
    assert_eq!(keyring.get("strange").unwrap().kind(), &RecordKind::Unknown);
    assert!(matches!(keyring.rename("strange", "x"), Err(KeyringError::NotUnderstood { .. })));
    assert!(matches!(keyring.delete("strange"), Err(KeyringError::NotUnderstood { .. })));
    for name in ["other", "text"] {
        assert!(matches!(keyring.rename(name, "x"), Err(KeyringError::Item { .. })));
        assert!(matches!(keyring.delete(name), Err(KeyringError::Item { .. })));
        let taken = keyring.add(&KeyRecord::local(name, &key(3)));
        assert!(taken.is_err());
    }
    assert_eq!(files(&directory), before);
}

#[test]
fn of_two_who_add_the_same_name_one_wins() {
    let home = tempfile::tempdir().unwrap();
    let wins = std::thread::scope(|scope| {
        let tasks: Vec<_> = (1..=4)
            .map(|byte| {
                let keyring = open(Backend::Test, home.path());
                scope.spawn(move || keyring.add(&KeyRecord::local("a", &key(byte))).is_ok())
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(wins.iter().filter(|won| **won).count(), 1);
    let keyring = open(Backend::Test, home.path());
    let record = keyring.get("a").unwrap();
    assert_eq!(keyring.by_address(&record.address().unwrap()).unwrap(), record);
}

#[test]
fn nothing_that_is_shown_shows_a_secret() {
    let record = KeyRecord::local("a", &key(0xab));
    let shown = format!("{record:?} {:?} {:?}", record.secret_key(), Passphrase::new("hunter2"));
    assert!(!shown.contains("abab") && !shown.contains("171, 171"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn a_keyring_is_a_map(steps in prop::collection::vec((0..3, 0..3_usize, 0..3_usize), 0..12)) {
        const NAMES: [&str; 3] = ["a", "b/c", "d%"];
        let home = tempfile::tempdir().unwrap();
        let (keyring, memory) = (open(Backend::Test, home.path()), open(Backend::Memory, home.path()));
        let mut model: BTreeMap<&str, usize> = BTreeMap::new();
        for (step, one, two) in steps {
            let (name, other) = (NAMES[one], NAMES[two]);
            let record = KeyRecord::local(name, &key(u8::try_from(two).unwrap() + 1));
            let expected = match step {
                0 if model.contains_key(name) || model.values().any(|key| *key == two) => false,
                0 => model.insert(name, two).is_none(),
                1 => model.remove(name).is_some(),
                _ if model.contains_key(other) => false,
                _ => model.remove(name).map(|key| model.insert(other, key)).is_some(),
            };
            for keyring in [&keyring, &memory] {
                let result = match step {
                    0 => keyring.add(&record),
                    1 => keyring.delete(name),
                    _ => keyring.rename(name, other),
                };
                prop_assert_eq!(result.is_ok(), expected);
                let list = keyring.list().unwrap().records;
                let names: Vec<&str> = list.iter().map(|record| record.name()).collect();
                prop_assert_eq!(names, model.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
