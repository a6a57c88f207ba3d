//! `keys`: the keyrings of the Go program, read and written.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::support::{Ran, repository, run, run_with, text};

fn expected() -> Value {
    let file = repository("fixtures/keyring/expected.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn throwaway() -> Value {
    let file = repository("fixtures/chain/throwaway-keys.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn keys(home: &Path, backend: &str, args: &[&str], stdin: &str) -> Ran {
    let all = [&["keys"], args, &["--home", text(home), "--keyring-backend", backend]].concat();
    run_with(&all, &[], stdin.as_bytes())
}

fn fixture() -> std::path::PathBuf {
    repository("fixtures/keyring/home")
}

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn keys_of_the_go_program_are_listed_with_their_types_and_addresses() {
    let expected = expected();
    let listed = keys(&fixture(), "test", &["list", "-o", "json"], "").quietly();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let pick = |key: &Value| [key["name"].clone(), key["type"].clone(), key["address"].clone()];
    let wanted: Vec<_> = expected["test"].as_array().unwrap().iter().map(pick).collect();
    let found: Vec<_> = listed.as_array().unwrap().iter().map(pick).collect();
    assert_eq!(found, wanted);
    let names = keys(&fixture(), "test", &["list", "-n"], "").quietly();
    let wanted: Vec<_> = wanted.iter().map(|key| key[0].as_str().unwrap()).collect();
    assert_eq!(names.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn a_key_is_shown_as_the_go_program_shows_it() {
    let shown = keys(&fixture(), "test", &["show", "provider"], "").quietly();
    assert_eq!(
        shown,
        "- address: akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8
  name: provider
  pubkey: '{\"@type\":\"/cosmos.crypto.secp256k1.PubKey\",\"key\":\"Ax5iKWnvvAqyUjcBpqPnkodAnpMEtAzTOc0i3y7bpwIM\"}'
  type: local
"
    );
    let address = keys(&fixture(), "test", &["show", "provider", "-a"], "").quietly();
    assert_eq!(address, "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8\n");
    let by_address = keys(&fixture(), "test", &["show", address.trim()], "").quietly();
    assert_eq!(by_address, shown);
    let operator = keys(&fixture(), "test", &["show", "provider", "-a", "--bech", "val"], "");
    assert!(operator.quietly().starts_with("akashvaloper1rhal6a4vawtnwex8nda7u6tueeesllpe"));
    let key = keys(&fixture(), "test", &["show", "provider", "-p"], "").quietly();
    assert!(key.starts_with("{\"@type\":\"/cosmos.crypto.secp256k1.PubKey\""), "{key}");
    let json = keys(&fixture(), "test", &["show", "provider", "-o", "json"], "").quietly();
    let json: Value = serde_json::from_str(&json).unwrap();
    let recorded = throwaway()["provider"].clone();
    for name in ["name", "type", "address", "pubkey"] {
        assert_eq!(json[name], recorded[name], "{name}");
    }
    let both = keys(&fixture(), "test", &["show", "provider", "-a", "-o", "json"], "").refused();
    assert!(both.contains("--output"), "{both}");
    let nobody = keys(&fixture(), "test", &["show", "nobody"], "").refused();
    assert!(nobody.starts_with("Error: nobody is not a valid name or address: "), "{nobody}");
}

#[test]
fn records_of_very_old_versions_are_read() {
    let legacy = repository("fixtures/keyring/legacy");
    let address = keys(&legacy, "test", &["show", "old", "-a"], "").quietly();
    assert_eq!(address, "akash13e8l6j26zh9f0jkyc82vmqfrm08yupnjl240vk\n");
}

#[test]
fn the_passphrase_of_a_file_keyring_comes_from_standard_input() {
    let expected = expected();
    let right = format!("{}\n", expected["file_passphrase"].as_str().unwrap());
    let show = |stdin: &str| keys(&fixture(), "file", &["show", "provider", "-a"], stdin);
    assert_eq!(show(&right).quietly(), "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8\n");
    let second = format!("not this one\n{right}");
    assert_eq!(show(&second).quietly(), "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8\n");
    let never = show("wrong one\nwrong two\nwrong three\n").refused();
    assert!(never.contains("incorrect passphrase"), "{never}");
    let nothing = show("").refused();
    assert!(nothing.contains("standard input ended"), "{nothing}");
}

#[test]
fn a_new_file_keyring_asks_twice_and_keeps_what_it_is_given() {
    let home = home();
    let typed = "some passphrase\nsome passphrase\n";
    let ran = keys(home.path(), "file", &["add", "a", "--no-backup"], typed);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("name: a"), "{}", ran.stdout);
    let again = keys(home.path(), "file", &["show", "a", "-a"], "some passphrase\n").quietly();
    assert!(ran.stdout.contains(again.trim()), "{again}");
    let other = keys(home.path(), "file", &["add", "b"], "some passphrase\n");
    assert_eq!(other.code, 0, "{}", other.stderr);
    let typo = tempfile::tempdir().unwrap();
    let ran = keys(typo.path(), "file", &["add", "a"], "some passphrase\nsome other one\n");
    assert!(ran.refused().contains("differ"));
}

#[test]
fn a_key_is_recovered_from_its_mnemonic() {
    let home = home();
    let recorded = throwaway();
    let words = format!("{}\n", recorded["provider"]["mnemonic"].as_str().unwrap());
    let ran = keys(home.path(), "test", &["add", "p", "--recover"], &words).quietly();
    assert!(ran.contains("akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"), "{ran}");
    let dry = ["add", "q", "--recover", "--dry-run", "--index", "1"];
    let other = keys(home.path(), "test", &dry, &words).quietly();
    assert!(!other.contains("akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"), "{other}");
    let path = ["add", "q", "--recover", "--dry-run", "--hd-path", "m/44'/118'/0'/0/1"];
    assert_eq!(keys(home.path(), "test", &path, &words).quietly(), other);
    assert_eq!(keys(home.path(), "test", &["list", "-n"], "").quietly(), "p\n");
    let wrong = words.replacen("audit", "audits", 1);
    let error = keys(home.path(), "test", &["add", "r", "--recover"], &wrong).refused();
    assert!(error.contains("word 1"), "{error}");
    assert!(!error.contains("audits"), "{error}");
}

#[test]
fn the_mnemonic_of_a_new_key_is_shown_unless_nobody_wants_it() {
    let home = home();
    let shown = keys(home.path(), "test", &["add", "a"], "");
    assert_eq!(shown.code, 0);
    assert_eq!(shown.stderr.lines().last().unwrap().split(' ').count(), 24);
    let hidden = keys(home.path(), "test", &["add", "b", "--no-backup"], "");
    assert_eq!((hidden.code, hidden.stderr.as_str()), (0, ""));
    let json = keys(home.path(), "test", &["add", "c", "-o", "json"], "").quietly();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["mnemonic"].as_str().unwrap().split(' ').count(), 24);
    let words = run(&["keys", "mnemonic"]).quietly();
    assert_eq!(words.trim().split(' ').count(), 24);
}

#[test]
fn a_key_is_not_replaced_without_a_yes() {
    let home = home();
    let first = keys(home.path(), "test", &["add", "a", "--no-backup"], "").quietly();
    let kept = keys(home.path(), "test", &["add", "a", "--no-backup"], "n\n").refused();
    assert!(kept.contains("aborted"), "{kept}");
    assert_eq!(keys(home.path(), "test", &["show", "a"], "").quietly(), first);
    let second = keys(home.path(), "test", &["add", "a", "--no-backup"], "y\n").quietly();
    assert_ne!(first, second);
}

#[test]
fn keys_are_renamed_and_deleted() {
    let home = home();
    keys(home.path(), "test", &["add", "a", "--no-backup"], "").quietly();
    let ran = keys(home.path(), "test", &["rename", "a", "b", "-y"], "");
    assert_eq!(ran.stderr, "Key was successfully renamed from a to b\n");
    let kept = keys(home.path(), "test", &["delete", "b"], "no\n").refused();
    assert!(kept.contains("aborted"), "{kept}");
    assert_eq!(keys(home.path(), "test", &["list", "-n"], "").quietly(), "b\n");
    assert_eq!(keys(home.path(), "test", &["delete", "b", "-y"], "").code, 0);
    assert_eq!(keys(home.path(), "test", &["list", "-n"], "").quietly(), "");
    assert_eq!(keys(home.path(), "test", &["list", "-o", "json"], "").quietly(), "[]\n");
}

#[test]
fn exports_of_the_go_program_are_imported() {
    let expected = expected();
    let passphrase = format!("{}\n", expected["armor_passphrase"].as_str().unwrap());
    for name in ["argon2", "bcrypt"] {
        let home = home();
        let file = repository("fixtures/keyring/armor").join(format!("{name}.txt"));
        let wrong = keys(home.path(), "test", &["import", "x", text(&file)], "wrong word\n");
        assert!(wrong.refused().contains("incorrect passphrase"));
        let ran = keys(home.path(), "test", &["import", name, text(&file)], &passphrase);
        assert_eq!(ran.quietly(), "");
        assert_eq!(keys(home.path(), "test", &["list", "-n"], "").quietly(), format!("{name}\n"));
    }
}

#[test]
fn a_key_is_imported_where_nobody_is_asked_and_again_without_harm() {
    let expected = expected();
    let home = home();
    let passphrase = home.path().join("passphrase.txt");
    let word = expected["armor_passphrase"].as_str().unwrap();
    for written in [word.to_owned(), format!("{word}\n")] {
        std::fs::write(&passphrase, written).unwrap();
        let file = repository("fixtures/keyring/armor").join("argon2.txt");
        let import = ["import", "p", text(&file), "--passphrase-file", text(&passphrase)];
        assert_eq!(keys(home.path(), "test", &import, "").quietly(), "");
        assert_eq!(keys(home.path(), "test", &["list", "-n"], "").quietly(), "p\n");
    }
    // Another key does not take the place of the one that is there.
    let address = || keys(home.path(), "test", &["show", "p", "-a"], "").quietly();
    let before = address();
    assert_eq!(keys(home.path(), "test", &["add", "q"], "").code, 0);
    let other = keys(home.path(), "test", &["export", "q"], &format!("{word}\n")).quietly();
    let file = home.path().join("other.txt");
    std::fs::write(&file, other).unwrap();
    let import = ["import", "p", text(&file), "--passphrase-file", text(&passphrase)];
    keys(home.path(), "test", &import, "").refused();
    assert_eq!(address(), before);
}

#[test]
fn a_key_goes_out_and_comes_in_again() {
    let (here, there) = (home(), home());
    let hex = throwaway()["provider_privkey_hex"].as_str().unwrap().to_owned();
    assert_eq!(keys(here.path(), "test", &["import-hex", "p"], &format!("{hex}\n")).quietly(), "");
    let unsafe_too = ["export", "p", "--unarmored-hex", "--unsafe", "-y"];
    assert_eq!(keys(here.path(), "test", &unsafe_too, "").quietly(), format!("{hex}\n"));
    let asked = keys(here.path(), "test", &["export", "p", "--unarmored-hex", "--unsafe"], "");
    assert!(!asked.refused().contains(&hex));
    assert_eq!(keys(here.path(), "test", &["export", "p", "--unarmored-hex"], "y\n").code, 1);
    let short = keys(here.path(), "test", &["export", "p"], "short\n").refused();
    assert!(short.contains("at least 8"), "{short}");
    let armored = keys(here.path(), "test", &["export", "p"], "long enough\n").quietly();
    assert!(armored.starts_with("-----BEGIN TENDERMINT PRIVATE KEY-----\n"), "{armored}");
    let file = there.path().join("key.txt");
    std::fs::write(&file, armored).unwrap();
    keys(there.path(), "test", &["import", "q", text(&file)], "long enough\n").quietly();
    let address = keys(there.path(), "test", &["show", "q", "-a"], "").quietly();
    assert_eq!(address, "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8\n");
}

#[test]
fn public_keys_and_accounts_of_several_keys_are_kept() {
    let home = home();
    let provider = throwaway()["provider"]["pubkey"].as_str().unwrap().to_owned();
    let ran = keys(home.path(), "test", &["add", "w", "--pubkey", &provider], "").quietly();
    assert!(ran.contains("type: offline") && ran.contains("akash1rhal6a"), "{ran}");
    keys(home.path(), "test", &["add", "a", "--no-backup"], "").quietly();
    let several = ["add", "m", "--multisig", "w,a", "--multisig-threshold", "2"];
    let first = keys(home.path(), "test", &several, "").quietly();
    assert!(first.contains("type: multi"), "{first}");
    let same = ["show", "a", "w", "--multisig-threshold", "3"];
    assert!(keys(home.path(), "test", &same, "").refused().contains("expected 1 to 2"));
}

#[test]
fn addresses_have_other_forms() {
    let parsed = run(&["keys", "parse", "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"]).quietly();
    assert_eq!(parsed, "bytes: 1DFBFD76ACEB973764C79B7BEE697CCE730FFC39\nhuman: akash\n");
    let hex = ["keys", "parse", "1DFBFD76ACEB973764C79B7BEE697CCE730FFC39"];
    let forms = run(&hex).quietly();
    assert!(forms.contains("- akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8\n"), "{forms}");
    assert!(forms.contains("- akashvaloper1"), "{forms}");
    assert!(run(&["keys", "parse", "hello"]).refused().contains("neither bech32 nor hexadecimal"));
}

#[test]
fn without_a_home_there_is_no_keyring() {
    let error = run(&["keys", "list", "--keyring-backend", "test"]).refused();
    assert!(error.contains("--home"), "{error}");
    let unknown = run(&["keys", "list", "--keyring-backend", "cloud"]).refused();
    assert!(unknown.contains("--keyring-backend") && unknown.contains("file"), "{unknown}");
}
