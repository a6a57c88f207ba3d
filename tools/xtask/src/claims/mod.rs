//! Claims and what they stand on: what the documentation lists is done by product code.
//!
//! A bus topic, kind of event, metric, error code, decline, decision or close cause that is
//! documented has to be constructed somewhere; a setting has to be read by more than its parser. What
//! is planned is marked *not yet* in the documentation, and a mark that is out of date is a failure
//! too. Paths that ARCHITECTURE.md names exist, in its map and in its walks, too.

mod docs;
mod source;
#[cfg(test)]
mod tests;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use docs::Listed;
use source::Source;

use crate::process::{program, stdout_of};

/// A list in the documentation, and the functions whose match arms give its names.
struct List {
    page: &'static str,
    section: &'static str,
    functions: &'static [(&'static str, &'static str)],
}

const REASONS: &str = "docs/reasons.md";

const LISTS: &[List] = &[
    List {
        page: REASONS,
        section: "## Declines",
        functions: &[
            ("crates/provider-engine/src/order/decline.rs", "code"),
            ("crates/provider-engine/src/order/decline.rs", "no_room_code"),
            ("crates/provider-engine/src/order/decline.rs", "price_code"),
            ("crates/provider-engine/src/order/policy.rs", "code"),
            ("crates/provider-engine/src/order/eligibility.rs", "code"),
        ],
    },
    List {
        page: REASONS,
        section: "## Decisions",
        functions: &[("crates/provider-daemon/src/store/record.rs", "kind")],
    },
    List {
        page: REASONS,
        section: "## Closed leases",
        functions: &[("crates/provider-daemon/src/metrics/decisions.rs", "close")],
    },
    List {
        page: REASONS,
        section: "## Ends of bids and orders",
        functions: &[("crates/provider-engine/src/order/mod.rs", "words")],
    },
    List {
        page: REASONS,
        section: "## Drift",
        functions: &[("crates/provider-engine/src/reconcile/drift.rs", "code")],
    },
];

/// What is claimed and not so. Empty is good.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let source = source::read(root)?;
    let page = |name: &str| {
        fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))
    };
    let mut broken = Vec::new();
    for list in LISTS {
        let text = page(list.page)?;
        let what = format!("{}, {}", list.page, list.section.trim_start_matches(['#', ' ']));
        let Some(lines) = docs::section(&text, list.section) else {
            broken.push(format!("{what}: there is no such section"));
            continue;
        };
        let arms = list.functions.iter().flat_map(|(file, function)| {
            source.arms.get(&(PathBuf::from(file), (*function).to_owned())).into_iter().flatten()
        });
        let mut done: BTreeMap<String, bool> = BTreeMap::new();
        for arm in arms {
            let is_constructed = arm
                .alternatives
                .iter()
                .any(|way| way.iter().all(|variant| source.constructed.contains(variant)));
            *done.entry(arm.text.clone()).or_default() |= is_constructed;
        }
        compare(&what, &docs::first_column(&lines), &done, &mut broken);
    }
    error_codes(&source, &page("docs/gateway.md")?, &mut broken);
    let bus = page("docs/bus.md")?;
    topics(&source, &bus, &mut broken);
    events(&source, &bus, &mut broken);
    metrics(&source, &page("docs/metrics.md")?, &mut broken);
    settings(&source, &mut broken);
    let files = stdout_of(program("git").args(["ls-files"]).current_dir(root))?;
    let files: Vec<PathBuf> = files.lines().map(PathBuf::from).collect();
    let architecture = page("ARCHITECTURE.md")?;
    named_paths(&architecture, &files, &mut broken);
    walks(&architecture, &files, &mut broken);
    map(&architecture, &files, &mut broken);
    Ok(broken)
}

/// A path of the map is that of a file or folder, whole or from some folder on.
fn named_paths(page: &str, files: &[PathBuf], broken: &mut Vec<String>) {
    for path in docs::paths(page) {
        let is_there = match path.strip_suffix('/') {
            None => files.iter().any(|file| file.ends_with(&path)),
            Some(folder) => files
                .iter()
                .any(|file| file.ancestors().skip(1).any(|ancestor| ancestor.ends_with(folder))),
        };
        if !is_there {
            broken.push(format!("ARCHITECTURE.md: there is no `{path}`"));
        }
    }
}

/// A walk names whole files of `crates/`, and there are walks.
fn walks(page: &str, files: &[PathBuf], broken: &mut Vec<String>) {
    let named = docs::walk_files(page, "## Walks");
    if named.is_empty() {
        broken.push("ARCHITECTURE.md: there are no walks".to_owned());
    }
    let is_there = |path: &String| files.contains(&Path::new("crates").join(path));
    let missing = named.iter().filter(|path| !is_there(path));
    broken.extend(missing.map(|path| format!("ARCHITECTURE.md, Walks: there is no `{path}`")));
}

/// Each entry of the map is there, and has the folders that its description names.
fn map(page: &str, files: &[PathBuf], broken: &mut Vec<String>) {
    let entries = docs::tree(page, "## Map");
    if entries.is_empty() {
        broken.push("ARCHITECTURE.md: there is no map".to_owned());
    }
    for (entry, folders) in entries {
        let inside: Vec<&Path> =
            files.iter().filter_map(|it| it.strip_prefix(&entry).ok()).collect();
        if inside.is_empty() {
            broken.push(format!("ARCHITECTURE.md, Map: there is no `{entry}`"));
        }
        let has = |folder: &String| {
            let folders = inside.iter().flat_map(|file| file.ancestors().skip(1));
            folders.into_iter().any(|it| it.ends_with(folder))
        };
        let missing = folders.iter().filter(|folder| !has(folder));
        broken.extend(
            missing.map(|folder| format!("ARCHITECTURE.md, Map: `{entry}` has no `{folder}`")),
        );
    }
}

fn compare(what: &str, listed: &Listed, done: &BTreeMap<String, bool>, broken: &mut Vec<String>) {
    if done.is_empty() {
        broken.push(format!("{what}: no code was found that gives these names"));
    }
    for (name, is_done) in done {
        match (listed.get(name), is_done) {
            (None, _) => broken.push(format!("{what}: `{name}` is not listed")),
            (Some(false), false) => broken.push(format!(
                "{what}: `{name}` is listed, and no product code brings it about; build it, delete \
                 it or mark it *not yet*"
            )),
            (Some(true), true) => {
                broken.push(format!("{what}: `{name}` is marked *not yet*, and is there"));
            }
            (Some(true), false) | (Some(false), true) => {}
        }
    }
    for name in listed.keys().filter(|name| !done.contains_key(*name)) {
        broken.push(format!("{what}: `{name}` is listed, and no code gives this name"));
    }
}

fn error_codes(source: &Source, page: &str, broken: &mut Vec<String>) {
    let codes = source.pairs.get(Path::new("crates/provider-api/src/error.rs"));
    let done = codes.into_iter().flatten().map(|(variant, code)| {
        let variant = ("ErrorCode".to_owned(), variant.clone());
        (code.clone(), source.constructed.contains(&variant))
    });
    let lines = docs::section(page, "## Errors").unwrap_or_default();
    compare("docs/gateway.md, Errors", &docs::first_column(&lines), &done.collect(), broken);
}

/// A topic is told if a product crate other than the bus makes its fact.
fn topics(source: &Source, page: &str, broken: &mut Vec<String>) {
    let names = source.arms.get(&("crates/provider-bus/src/message.rs".into(), "name".to_owned()));
    let done = names.into_iter().flatten().filter_map(|arm| {
        let (_, topic) = arm.alternatives.first()?.first()?;
        let (fact, _) = source.topics.iter().find(|(_, of)| of == topic)?;
        let files = source.structs.get(fact).into_iter().flatten();
        let is_told = files.into_iter().any(|file| !file.starts_with("crates/provider-bus"));
        Some((arm.text.clone(), is_told))
    });
    compare("docs/bus.md", &docs::headings(page, "###"), &done.collect(), broken);
}

/// A kind of event is told if product code makes it.
fn events(source: &Source, page: &str, broken: &mut Vec<String>) {
    let is_told = |kind: &String| source.constructed.contains(&("EventKind".into(), kind.clone()));
    let done = source.events.iter().map(|kind| (kind.clone(), is_told(kind)));
    let lines = docs::section(page, "## Events").unwrap_or_default();
    let table: Vec<&str> =
        lines.into_iter().skip_while(|line| !line.starts_with("| event ")).collect();
    compare("docs/bus.md, Events", &docs::first_column(&table), &done.collect(), broken);
}

/// A metric is kept if something beside the table uses its constant. The words that a label can have
/// are listed in the table; each is somewhere else in the code.
fn metrics(source: &Source, page: &str, broken: &mut Vec<String>) {
    const TABLE: &str = "crates/provider-daemon/src/metrics/table";
    let mut done = BTreeMap::new();
    let tables = source.pairs.iter().filter(|(file, _)| file.starts_with(TABLE));
    for (constant, name) in tables.flat_map(|(_, pairs)| pairs) {
        let files = source.constants.get(constant).into_iter().flatten();
        let is_used = files.into_iter().any(|file| !file.starts_with(TABLE));
        done.insert(name.clone(), is_used);
    }
    let mut listed = Listed::new();
    for heading in ["## As the Go provider has them", "## Ours"] {
        listed.extend(docs::first_column(&docs::section(page, heading).unwrap_or_default()));
    }
    compare("docs/metrics.md", &listed, &done, broken);
    let is_label = |word: &str| {
        word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
    };
    let plain = |text: &str| {
        let words = text.replace(['-', ' '], "_");
        let small = |c: char| match c.is_ascii_uppercase() {
            true => format!("_{}", c.to_ascii_lowercase()),
            false => c.to_string(),
        };
        words.chars().map(small).collect::<String>().trim_start_matches('_').to_owned()
    };
    let is_table = |files: &BTreeSet<PathBuf>| files.iter().all(|file| file.starts_with(TABLE));
    let (tables, others): (Vec<_>, Vec<_>) =
        source.texts.iter().partition(|(_, files)| is_table(files));
    let said: BTreeSet<String> = others.iter().map(|(text, _)| plain(text)).collect();
    let lists = tables.iter().filter(|(text, _)| text.contains(", "));
    for list in lists.filter(|(text, _)| text.split(", ").all(is_label)) {
        for word in list.0.split(", ").filter(|word| !said.contains(&plain(word))) {
            broken.push(format!("docs/metrics.md: no code gives the label `{word}`"));
        }
    }
}

/// A setting counts if its parser reads it and what it becomes is read outside of the parser.
fn settings(source: &Source, broken: &mut Vec<String>) {
    let owned = |file: &Path| is_parser(file) && !PARSERS_OWN.iter().any(|own| file.ends_with(own));
    let is_settings = |file: &Path| SETTINGS.iter().any(|settings| file == Path::new(settings));
    let fields = source.fields.iter().filter(|(file, _)| owned(file) || is_settings(file));
    for (file, fields) in fields {
        for (structure, field) in fields.iter().filter(|(of, _)| !SHOWN.contains(&of.as_str())) {
            let readers = source.reads.get(&(structure.clone(), field.clone()));
            if !readers.into_iter().flatten().any(|reader| !is_parser(reader)) {
                let file = file.display();
                broken.push(format!(
                    "{structure}.{field} ({file}) is set, and nothing but the parser reads it"
                ));
            }
        }
    }
    for (name, _) in source.settings.iter().filter(|(_, has_effect)| **has_effect) {
        let files = source.texts.get(name).into_iter().flatten();
        if files.filter(|file| !file.starts_with(TABLE)).count() == 0 {
            broken.push(format!("--{name}: no code reads this setting; say so with `unused`"));
        }
    }
}

/// The table of settings.
const TABLE: &str = "crates/provider-daemon/src/config/table";
/// Types of the parser that no setting becomes.
const PARSERS_OWN: [&str; 3] = ["reader.rs", "given.rs", "setting.rs"];
/// What settings become outside of the parser.
const SETTINGS: [&str; 6] = [
    "crates/provider-engine/src/order/policy.rs",
    "crates/provider-engine/src/escrow/settings.rs",
    "crates/provider-engine/src/manifest/settings.rs",
    "crates/provider-engine/src/settings.rs",
    "crates/provider-kube/src/settings.rs",
    "crates/provider-operators/src/hostname/settings.rs",
];

/// Types of the parser that are only shown.
const SHOWN: [&str; 1] = ["NeedsRestart"];

/// Whether a file only makes a configuration. `kube.rs` and `files.rs` hand it on.
fn is_parser(file: &Path) -> bool {
    let hands_on = file.ends_with("kube.rs") || file.ends_with("files.rs");
    file.starts_with("crates/provider-daemon/src/config") && !hands_on
}
