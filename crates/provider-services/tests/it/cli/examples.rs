//! The SDLs in `examples/` are what a reader will copy.

use crate::cli::support::{examples, run, text};

#[test]
fn every_example_is_valid_and_nobody_minds_it() {
    let files = examples();
    assert!(files.len() >= 8);
    for file in files {
        let stdout = run(&["sdl", "validate", text(&file)]).quietly();
        assert!(stdout.starts_with(&format!("{} is valid: ", text(&file))), "{stdout}");
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
    }
}

#[test]
fn every_example_says_first_what_it_shows() {
    for file in examples() {
        let sdl = std::fs::read_to_string(&file).unwrap();
        assert!(sdl.starts_with("# "), "{}", file.display());
    }
}
