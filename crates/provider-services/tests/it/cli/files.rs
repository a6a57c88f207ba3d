//! Files that cannot be read, and what is said about them.

use crate::cli::support::{run, text};

const READERS: [&[&str]; 4] =
    [&["sdl-to-manifest"], &["sdl", "validate"], &["sdl", "groups"], &["sdl", "version"]];

/// Every command that reads a file says the same about it.
#[track_caller]
fn each_says(path: &str, wanted: &str) {
    for reader in READERS {
        assert_eq!(run(&[reader, &[path]].concat()).refused(), wanted);
    }
}

#[test]
fn a_missing_file() {
    each_says(
        "no-such.yaml",
        "Error: cannot read no-such.yaml: there is no such file; check the path, or give - to \
         read from standard input\n",
    );
}

#[test]
fn a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(folder.path());
    each_says(
        path,
        &format!("Error: cannot read {path}: it is a directory; give the path of a file in it\n"),
    );
}

#[test]
fn a_file_that_is_too_large() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1024 * 1024 + 1).unwrap();
    let path = text(file.path());
    each_says(
        path,
        &format!(
            "Error: {path} is larger than 1048576 bytes (1 MiB), which is the most an SDL may \
             have; is it the right file?\n"
        ),
    );
}

#[test]
fn a_file_that_is_not_text() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"version: \"2.0\"\n\xff\xfe").unwrap();
    let path = text(file.path());
    each_says(
        path,
        &format!(
            "Error: {path} is not UTF-8 text: line 2 has a byte that cannot be part of it; save \
             the file as UTF-8\n"
        ),
    );
}

#[test]
fn a_path_that_leads_through_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().join("deploy.yaml");
    let stderr = run(&["sdl", "validate", text(&path)]).refused();
    assert!(stderr.starts_with(&format!("Error: cannot read {}: ", text(&path))), "{stderr}");
}
