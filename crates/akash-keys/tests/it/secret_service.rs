//! The `os` keyring of a Linux desktop, with GNOME's keyring on a bus that the test starts.

use std::collections::HashMap;
use std::path::Path;

use akash_keys::keyring::{
    Ask, Backend, KeyRecord, Keyring, KeyringError, NoPassphrase, OpenOptions,
};
use akash_keys::{Passphrase, SecretKey};
use akash_proto::cosmos::crypto::keyring::v1::Record;
use akash_proto::cosmos::crypto::keyring::v1::record::{Item, Local};
use akash_proto::cosmos::crypto::secp256k1;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message as _;
use prost_types::Any;

use crate::support::Session;

fn open(bus: &str, directory: &Path) -> Keyring {
    let options = OpenOptions {
        directory: directory.to_owned(),
        passphrase: Box::new(|ask: Ask<'_>| match ask {
            Ask::Create(_) | Ask::Unlock(_) => Ok::<_, NoPassphrase>(Passphrase::new("12345678")),
        }),
        session_bus: Some(bus.to_owned()),
    };
    Keyring::open(Backend::Os, options).unwrap()
}

fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes(&[byte; 32]).unwrap()
}

/// What Go's `encoding/json` makes of an item.
fn json(name: &str, data: &[u8]) -> String {
    let data = STANDARD.encode(data);
    format!(
        r#"{{"Key":"{name}","Data":"{data}","Label":"","Description":"","KeychainNotTrustApplication":false,"KeychainNotSynchronizable":false}}"#
    )
}

/// The record of a key, from its Protobuf messages.
fn go_record(name: &str, key: &SecretKey) -> Vec<u8> {
    let private = secp256k1::PrivKey { key: key.to_bytes().to_vec() };
    let private = Any {
        type_url: "/cosmos.crypto.secp256k1.PrivKey".to_owned(),
        value: private.encode_to_vec(),
    };
    Record {
        name: name.to_owned(),
        pub_key: Some(key.public_key().to_any()),
        item: Some(Item::Local(Local { priv_key: Some(private) })),
    }
    .encode_to_vec()
}

#[tokio::test]
async fn keys_in_the_secret_service_are_found_again_and_look_as_go_stores_them() {
    let session = Session::with_keyring().await;
    session.make_collection("provider-services").await;
    let home = session.directory().join("home");
    let open = || open(&session.bus, &home);

    let keyring = open();
    assert!(keyring.list().unwrap().records.is_empty());
    let records = [KeyRecord::local("a/b ü", &key(1)), KeyRecord::local("c", &key(2))];
    records.iter().for_each(|record| keyring.add(record).unwrap());
    let taken = keyring.add(&KeyRecord::local("c", &key(3)));
    assert!(matches!(taken, Err(KeyringError::NameTaken { .. })));

    let again = open();
    again.unlock().unwrap();
    assert_eq!(again.list().unwrap().records, records);
    let found = again.by_address(&key(1).public_key().address()).unwrap();
    assert_eq!(found.secret_key().unwrap(), key(1));

    let service = session.service().await.unwrap();
    let name = format!("{}.address", hex::encode(key(2).public_key().address().as_bytes()));
    let items = service.search_items(HashMap::from([("profile", name.as_str())])).await.unwrap();
    let [item] = items.unlocked.as_slice() else { panic!("not one item") };
    assert_eq!(item.get_label().await.unwrap(), name);
    let secret = String::from_utf8(item.get_secret().await.unwrap()).unwrap();
    assert_eq!(secret, json(&name, b"c.info"));

    again.rename("c", "d").unwrap();
    assert_eq!(keyring.names().unwrap(), ["a/b ü", "d"]);
    keyring.delete("a/b ü").unwrap();
    keyring.delete("d").unwrap();
    assert!(again.names().unwrap().is_empty());
    assert!(matches!(again.get("d"), Err(KeyringError::NoKey { .. })));
    assert!(!home.exists(), "nothing is written into the directory of the keyring");
}

#[tokio::test]
async fn keys_that_go_stored_are_found_and_damaged_ones_listed() {
    let session = Session::with_keyring().await;
    let path = session.make_collection("provider-services").await;
    let service = session.service().await.unwrap();
    let collection = service.get_collection_by_path(path).await.unwrap();
    let record = KeyRecord::local("operator", &key(7));
    let whole = json("operator.info", &go_record("operator", &key(7)));
    for (name, secret) in [("operator.info", whole.as_str()), ("damaged.info", "{")] {
        let attributes = HashMap::from([("profile", name)]);
        let json = "application/json";
        collection.create_item(name, attributes, secret.as_bytes(), true, json).await.unwrap();
    }

    let keyring = open(&session.bus, session.directory());
    let list = keyring.list().unwrap();
    assert_eq!(list.records, [record]);
    assert!(
        matches!(list.unreadable.as_slice(), [(name, KeyringError::Item { .. })] if name == "damaged")
    );

    collection.lock().await.unwrap();
    for refused in [keyring.names().map(drop), keyring.get("operator").map(drop), keyring.unlock()]
    {
        let Err(error) = refused else { panic!("a locked keyring was read") };
        assert!(matches!(error, KeyringError::Dismissed { keyring: "provider-services" }));
    }
}

#[tokio::test]
async fn a_keyring_that_nobody_lets_be_made_is_an_error_and_keys_in_files_stay_reachable() {
    let session = Session::with_keyring().await;
    let home = session.directory().join("home");
    let keyring = open(&session.bus, &home);
    assert!(keyring.names().unwrap().is_empty());
    let refused = keyring.add(&KeyRecord::local("a", &key(1)));
    assert!(matches!(refused, Err(KeyringError::Dismissed { .. })), "{refused:?}");
    assert!(!home.exists());

    // As a session without a bus leaves them.
    let bus = "unix:path=/nonexistent/bus";
    open(bus, &home).add(&KeyRecord::local("b", &key(2))).unwrap();
    assert_eq!(open(&session.bus, &home).names().unwrap(), ["b"]);

    // The service comes first once it has keys.
    session.make_collection("provider-services").await;
    assert!(open(&session.bus, &home).names().unwrap().is_empty());
}

#[test]
fn without_a_secret_service_keys_are_in_files() {
    let session = Session::empty();
    for (place, bus) in
        [("empty", session.bus.as_str()), ("nonsense", "nonsense"), ("half", "unix:")]
    {
        let home = session.directory().join(place).join("home");
        let keyring = open(bus, &home);
        keyring.add(&KeyRecord::local("a", &key(1))).unwrap();
        assert!(home.join("a.info").is_file(), "{bus}");
    }
}
