//! Keys, keyrings, exports and certificates that Go programs made are read as they were meant.
//!
//! The files under `fixtures/keyring/` were made with Cosmos SDK 0.53.4; its README says how.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use akash_keys::armor::{self, ArmorError};
use akash_keys::certificate::{
    Certificate, CertificateKey, CertificateSpec, KeyFile, KeyFilePassword, KeyPair,
};
use akash_keys::keyring::{
    Ask, Backend, Keyring, KeyringError, NoPassphrase, OpenOptions, RecordError, RecordKind,
};
use akash_keys::{AccountKey, HdPath, Mnemonic, Passphrase, PublicKey, SecretKey};
use akash_types::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message as _;
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn text(path: &str) -> String {
    fs::read_to_string(fixtures().join(path)).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn open(backend: Backend, directory: &Path, passphrase: &str) -> Keyring {
    let passphrase = passphrase.to_owned();
    let source = move |ask: Ask<'_>| match ask {
        Ask::Unlock(_) => Ok(Passphrase::new(passphrase.clone())),
        Ask::Create(_) => Err(NoPassphrase("there is a keyring already".into())),
    };
    let options = OpenOptions {
        directory: directory.to_owned(),
        passphrase: Box::new(source),
        session_bus: None,
    };
    Keyring::open(backend, options).unwrap()
}

/// A copy, for tests that write or that must be sure nothing is written.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn agrees_with_go(keyring: &Keyring, expected: &Value) {
    let list = keyring.list().unwrap();
    assert!(list.unreadable.is_empty(), "{:?}", list.unreadable);
    let expected = expected.as_array().unwrap();
    let names: Vec<&str> = list.records.iter().map(|record| record.name()).collect();
    let expected_names: Vec<&str> = expected.iter().map(|key| str_of(key, "name")).collect();
    assert_eq!(names, expected_names);
    for (record, expected) in list.records.iter().zip(expected) {
        let name = record.name();
        assert_eq!(record.kind().to_string(), str_of(expected, "type"), "{name}");
        let address: Address = str_of(expected, "address").parse().unwrap();
        assert_eq!(record.address(), Some(address), "{name}");
        assert_eq!(
            STANDARD.encode(record.public_key().to_any().encode_to_vec()),
            str_of(expected, "pubkey_any_b64"),
            "{name}"
        );
        match expected["secret_hex"].as_str() {
            Some(secret) => assert_eq!(*record.secret_key().unwrap().to_hex(), secret, "{name}"),
            None => assert!(matches!(record.secret_key(), Err(RecordError::Elsewhere { .. }))),
        }
        assert_eq!(&keyring.find(name).unwrap(), record);
        assert_eq!(&keyring.find(str_of(expected, "address")).unwrap(), record);
    }
}

#[test]
fn mnemonics_derive_the_accounts_that_the_node_derived() {
    let keys = json("chain/throwaway-keys.json");
    for name in ["provider", "tenant1", "main"] {
        let expected = &keys[name];
        let words = Mnemonic::parse(str_of(expected, "mnemonic")).unwrap();
        let key = words.derive("", &HdPath::default()).unwrap();
        assert_eq!(key.public_key().address().to_string(), str_of(expected, "address"));
        let public: Value = serde_json::from_str(str_of(expected, "pubkey")).unwrap();
        assert_eq!(STANDARD.encode(key.public_key().to_bytes()), str_of(&public, "key"));
        if name == "provider" {
            assert_eq!(*key.to_hex(), str_of(&keys, "provider_privkey_hex"));
        }
    }
    // Derived by Cosmos SDK at another account and index.
    let words = Mnemonic::parse(str_of(&keys["tenant1"], "mnemonic")).unwrap();
    let key = words.derive("", &HdPath::bip44(118, 2, 7).unwrap()).unwrap();
    let expected = json("keyring/expected.json");
    let expected = expected["test"].as_array().unwrap();
    let expected = expected.iter().find(|key| key["name"] == "tenant-ü").unwrap();
    assert_eq!(*key.to_hex(), str_of(expected, "secret_hex"));
}

#[test]
fn signatures_equal_those_the_chain_accepted() {
    let key =
        SecretKey::from_hex(str_of(&json("chain/throwaway-keys.json"), "provider_privkey_hex"));
    let key = key.unwrap();
    for file in ["chain/tx-createbid-ok.json", "chain/tx-closebid-ok.json"] {
        let tx = json(file);
        let sign_doc = hex::decode(str_of(&tx, "sign_doc_hex")).unwrap();
        let raw = STANDARD.decode(str_of(&tx, "tx_raw_b64")).unwrap();
        let signature = key.sign(&sign_doc);
        assert!(key.public_key().verify(&sign_doc, &signature));
        // The signature is the last field of the transaction.
        assert_eq!(raw[raw.len() - 64..], signature, "{file}");
    }
}

#[test]
fn keyrings_of_go_are_read_whole() {
    let expected = json("keyring/expected.json");
    let home = fixtures().join("keyring/home");
    let before = fs::read_dir(home.join("keyring-file")).unwrap().count();
    agrees_with_go(&open(Backend::Test, &home, "not asked for"), &expected["test"]);
    let file = open(Backend::File, &home, str_of(&expected, "file_passphrase"));
    agrees_with_go(&file, &expected["file"]);
    assert_eq!(fs::read_dir(home.join("keyring-file")).unwrap().count(), before);
}

#[test]
fn the_os_keyring_of_a_server_is_files_in_the_directory_itself() {
    let expected = json("keyring/expected.json");
    let directory = fixtures().join("keyring/home/keyring-file");
    let keyring = open(Backend::Os, &directory, str_of(&expected, "file_passphrase"));
    agrees_with_go(&keyring, &expected["file"]);
}

#[test]
fn the_wrong_passphrase_is_told_and_can_be_tried_again() {
    let home = fixtures().join("keyring/home");
    let keyring = open(Backend::File, &home, "incorrect");
    assert_eq!(keyring.names().unwrap().len(), 7);
    for _ in 0..2 {
        assert!(matches!(keyring.unlock(), Err(KeyringError::WrongPassphrase)));
    }
    assert!(matches!(keyring.get("provider"), Err(KeyringError::WrongPassphrase)));
    assert!(matches!(keyring.list(), Err(KeyringError::WrongPassphrase)));
}

#[test]
fn without_its_hash_a_keyring_still_knows_its_passphrase() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("keyring-file");
    copy(&fixtures().join("keyring/home/keyring-file"), &directory);
    fs::remove_file(directory.join("keyhash")).unwrap();
    let wrong = open(Backend::File, home.path(), "incorrect");
    assert!(matches!(wrong.unlock(), Err(KeyringError::WrongPassphrase)));
    assert!(!directory.join("keyhash").exists());
    let expected = json("keyring/expected.json");
    let right = open(Backend::File, home.path(), str_of(&expected, "file_passphrase"));
    right.unlock().unwrap();
    assert!(directory.join("keyhash").exists());
    fs::write(directory.join("keyhash"), "nonsense").unwrap();
    let damaged = open(Backend::File, home.path(), str_of(&expected, "file_passphrase"));
    assert!(matches!(damaged.unlock(), Err(KeyringError::Hash { .. })));
}

#[test]
fn a_ledger_key_keeps_its_path() {
    let keyring = open(Backend::Test, &fixtures().join("keyring/home"), "");
    let path = HdPath::bip44(118, 1, 3).unwrap();
    assert_eq!(keyring.get("nano").unwrap().kind(), &RecordKind::Ledger(Some(path.clone())));
    let keyring = open(Backend::Test, &fixtures().join("keyring/legacy"), "");
    assert_eq!(keyring.get("old-nano").unwrap().kind(), &RecordKind::Ledger(Some(path)));
}

#[test]
fn records_of_before_protobuf_are_read_and_rewritten_only_when_asked() {
    let expected = json("keyring/expected.json");
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("keyring-test");
    copy(&fixtures().join("keyring/legacy/keyring-test"), &directory);
    let before = fs::read(directory.join("old.info")).unwrap();
    let keyring = open(Backend::Test, home.path(), "");
    agrees_with_go(&keyring, &expected["legacy"]);
    assert!(keyring.list().unwrap().records.iter().all(|record| record.is_legacy()));
    assert_eq!(fs::read(directory.join("old.info")).unwrap(), before);

    assert_eq!(keyring.migrate().unwrap().len(), 4);
    agrees_with_go(&keyring, &expected["legacy"]);
    assert!(keyring.list().unwrap().records.iter().all(|record| !record.is_legacy()));
    assert!(keyring.migrate().unwrap().is_empty());
}

#[test]
fn exports_of_go_are_imported() {
    let expected = json("keyring/expected.json");
    let passphrase = Passphrase::new(str_of(&expected, "armor_passphrase"));
    let keys = json("chain/throwaway-keys.json");
    for file in ["argon2.txt", "bcrypt.txt", "bcrypt-no-type.txt"] {
        let key = armor::import(&text(&format!("keyring/armor/{file}")), &passphrase).unwrap();
        assert_eq!(*key.to_hex(), str_of(&keys, "provider_privkey_hex"), "{file}");
    }
    let wrong = armor::import(&text("keyring/armor/bcrypt.txt"), &Passphrase::new("wrong"));
    assert!(matches!(wrong, Err(ArmorError::WrongPassphrase)));
    let other = armor::import(&text("keyring/armor/ed25519.txt"), &passphrase);
    assert!(matches!(other, Err(ArmorError::Type { .. })));
}

fn provider() -> SecretKey {
    let keys = json("chain/throwaway-keys.json");
    SecretKey::from_hex(str_of(&keys, "provider_privkey_hex")).unwrap()
}

/// The signed part of a certificate: what is left without algorithm and signature.
fn signed_part(der: &[u8]) -> &[u8] {
    // SEQUENCE of more than 255 bytes, in it another: both have a length of two bytes.
    assert_eq!((der[0], der[1], der[4], der[5]), (0x30, 0x82, 0x30, 0x82));
    let length = usize::from(u16::from_be_bytes([der[6], der[7]]));
    &der[4..8 + length]
}

#[test]
fn certificates_are_those_of_go_byte_for_byte() {
    let not_before = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    let domains = ["provider.example.com", "10.0.0.1", "*.ingress.example.com", "2001:db8::1"];
    // Until 2055-01-02 03:04:05, a year that is written in another form.
    let long = Duration::from_secs(2_682_471_845 - 1_790_000_000);
    for (file, seed, serial, valid_for, domains) in [
        ("server", 0x11, 1_790_000_000_123_456_789, CertificateSpec::VALID_FOR, &domains[..]),
        ("client", 0x22, 1_790_000_000_123_456_780, CertificateSpec::VALID_FOR, &[]),
        ("server-ip", 0x33, 128, long, &["192.0.2.7"]),
    ] {
        let spec = CertificateSpec {
            owner: provider().public_key().address(),
            serial,
            not_before: not_before + Duration::from_millis(999),
            valid_for,
            domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
        };
        let key = CertificateKey::from_bytes(&[seed; 32]).unwrap();
        let pair = KeyPair::generate(&spec, key.clone()).unwrap();
        let go = Certificate::from_pem(&text(&format!("keyring/certificate/{file}.pem"))).unwrap();
        assert_eq!(
            hex::encode(signed_part(pair.certificate().der())),
            hex::encode(signed_part(go.der())),
            "{file}"
        );
        let public = text(&format!("keyring/certificate/{file}.pubkey.pem"));
        assert_eq!(pair.certificate().public_key_pem(), public);
        assert_eq!(pair.certificate().serial(), serial.to_string());
        assert_eq!(pair.certificate().owner(), Ok(spec.owner));
        assert_eq!(pair.certificate().not_before(), not_before);
        assert_eq!(KeyPair::generate(&spec, key).unwrap(), pair);
        assert_eq!(
            Certificate::from_pem(&pair.certificate().to_pem()).unwrap(),
            *pair.certificate()
        );
    }
}

#[test]
fn key_files_of_go_are_opened_by_their_account() {
    let home = tempfile::tempdir().unwrap();
    let account = provider();
    let file = KeyFile::of(home.path(), &account.public_key().address());
    assert!(file.path().ends_with("akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8.pem"));
    for (name, seed) in [("client", 0x22), ("legacy-text", 0x22), ("legacy-raw", 0x22)] {
        let from = fixtures().join(format!("keyring/certificate/{name}.pem"));
        fs::copy(from, file.path()).unwrap();
        let pair = file.read(&KeyFilePassword::of(&account)).unwrap();
        assert_eq!(pair.key(), &CertificateKey::from_bytes(&[seed; 32]).unwrap(), "{name}");
        assert_eq!(pair.certificate().owner(), Ok(account.public_key().address()));
    }
}

#[test]
fn a_multisig_of_go_has_its_keys() {
    let keyring = open(Backend::Test, &fixtures().join("keyring/home"), "");
    let record = keyring.get("council").unwrap();
    let AccountKey::Multisig(multisig) = record.public_key() else { panic!("{record:?}") };
    assert_eq!((multisig.threshold, multisig.keys.len()), (2, 3));
    let single = |key: &AccountKey| PublicKey::from_any(&key.to_any()).is_ok();
    assert!(multisig.keys.iter().all(single));
}
