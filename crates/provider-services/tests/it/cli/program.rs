//! What holds for the program as a whole: help, exit codes, version, completions, pipes.

use std::io;

use crate::cli::support::{command, repository, run, text};

/// The commands below one, as its help lists them.
fn below(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

/// Looks at a command and at all below it; how many there are.
fn check_help(path: &[String]) -> usize {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let mut commands = Vec::new();
    for flag in ["-h", "--help"] {
        let help = run(&[&words[..], &[flag]].concat()).quietly();
        assert!(help.contains("\nExamples:\n"), "{path:?}: {help}");
        assert!(help.contains("Usage: provider-services"), "{path:?}: {help}");
        commands = below(&help);
    }
    let all = commands.into_iter().map(|name| check_help(&[path, &[name]].concat()));
    1 + all.sum::<usize>()
}

#[test]
fn every_command_has_help_with_an_example() {
    let count = check_help(&[]);
    assert!(count > 90, "{count}");
}

#[test]
fn no_command_gets_help_and_an_error() {
    for path in [&[][..], &["sdl"], &["keys"], &["tx", "market", "bid"], &["query"]] {
        let stderr = run(path).refused();
        assert!(stderr.contains("Usage: provider-services"), "{stderr}");
        assert!(stderr.ends_with("\nError: a command is missing\n"), "{stderr}");
    }
}

#[test]
fn mistakes_are_errors_of_the_usual_form() {
    for (args, wanted) in [
        (&["frobnicate"][..], "Error: unrecognized subcommand 'frobnicate'\n"),
        (&["sdl", "validate", "--frob", "x"], "Error: unexpected argument '--frob' found\n"),
        (&["sdl", "groups"], "Error: the following required arguments were not provided:\n"),
        (&["completion", "dos"], "Error: invalid value 'dos' for '<SHELL>'\n"),
    ] {
        let stderr = run(args).refused();
        assert!(stderr.starts_with(wanted), "{stderr}");
    }
}

#[test]
fn the_version_goes_to_standard_error() {
    let version = concat!("v0.16.2+rs.", env!("CARGO_PKG_VERSION"));
    let ran = run(&["version"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, format!("{version}\n"));

    let ran = run(&["version", "--long", "-o", "json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let build: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(build["name"], "akash");
    assert_eq!(build["server_name"], "provider-services");
    assert_eq!(build["version"], version);
    assert_eq!(build["build_tags"], "");
    assert!(build["rust"].as_str().unwrap().starts_with("rustc "));

    let ran = run(&["version", "--long"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let keys: Vec<_> = ran.stderr.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(
        keys,
        ["name", "server_name", "version", "commit", "build_tags", "rust", "cosmos_sdk_version",]
    );

    assert_eq!(run(&["--version"]).quietly(), format!("provider-services {version}\n"));
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completion", shell]).quietly();
        for word in ["sdl-to-manifest", "validate", "output"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page_with_its_examples() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let ran = run(&["man", text(&pages)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut count = 0;
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        let written = std::fs::read_to_string(&page).unwrap();
        assert!(written.contains(".SH NAME\nprovider\\-services"), "{}", page.display());
        assert!(written.contains("Examples:"), "{}", page.display());
        count += 1;
    }
    assert_eq!(count, check_help(&[]), "as many pages as commands");
    for name in
        ["provider-services", "provider-services-deploy", "provider-services-tx-cert-publish"]
    {
        assert!(pages.join(format!("{name}.1")).is_file(), "{name}");
    }
}

/// The script first finds out which subcommand it is in, then looks that up.
#[test]
fn the_bash_script_has_words_for_every_subcommand() {
    let script = run(&["completion", "bash"]).quietly();
    let lines: Vec<&str> = script.lines().map(str::trim).collect();
    let mut seen = 0;
    for line in &lines {
        let found = line.strip_prefix("cmd=\"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(state) = found.filter(|state| !state.is_empty()) {
            assert!(lines.contains(&format!("{state})").as_str()), "{state}");
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
}

/// Runs with a standard output that nobody reads.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let file = repository("examples/hello.yaml");
    for args in [
        &["sdl", "groups", text(&file)][..],
        &["sdl", "validate", text(&file)],
        &["sdl-to-manifest", text(&file)],
        &["completion", "bash"],
        &["--help"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = command(args, &[]).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&["completion", "bash"], &[]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("Error: cannot write to standard output: "), "{stderr}");
}
