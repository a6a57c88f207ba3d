use std::path::Path;

use super::*;

const CODE: &str = r#"
impl Reason {
    pub const ALL: &'static [Self] = &[Self::Full, Self::Dead, Self::Compared];
    fn code(&self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Dead | Self::Compared => "dead",
            Self::Inner(Inner::Deep { .. }) => "deep",
            Self::Listed => "listed",
        }
    }
}
fn act(reason: &Reason, settings: &Settings) -> Reason {
    if *reason == Reason::Compared || matches!(reason, Reason::Dead) {
        return Reason::Full;
    }
    settings.written = 1;
    let Settings { bound, .. } = settings;
    let _ = settings.read;
    send(vec![Reason::Listed, Reason::Inner(bound)]);
    Inner::Deep { of: 1 }
}
#[cfg(test)]
mod tests {
    fn dead() -> Reason { Reason::Dead }
}
"#;

fn source() -> Source {
    let mut source = Source::default();
    source.add(Path::new("code.rs"), CODE).unwrap();
    source
}

fn is_constructed(source: &Source, variant: &str) -> bool {
    source.constructed.contains(&("Reason".to_owned(), variant.to_owned()))
}

#[test]
fn only_product_expressions_construct() {
    let source = source();
    for variant in ["Full", "Listed", "Inner"] {
        assert!(is_constructed(&source, variant), "{variant}");
    }
    // In patterns, comparisons, the list of all and tests.
    for variant in ["Dead", "Compared"] {
        assert!(!is_constructed(&source, variant), "{variant}");
    }
}

#[test]
fn a_field_that_is_only_written_is_not_read() {
    let source = source();
    assert!(source.reads.contains_key("read"));
    assert!(source.reads.contains_key("bound"));
    assert!(!source.reads.contains_key("written"));
}

#[test]
fn arms_give_texts_with_every_way_to_them() {
    let source = source();
    let arms = &source.arms[&("code.rs".into(), "code".to_owned())];
    let texts: Vec<_> =
        arms.iter().map(|arm| (arm.text.as_str(), arm.alternatives.len())).collect();
    assert_eq!(texts, [("full", 1), ("dead", 2), ("deep", 1), ("listed", 1)]);
    let names = |(of, variant): &source::Variant| format!("{of}::{variant}");
    let deep: Vec<_> = arms[2].alternatives[0].iter().map(names).collect();
    assert_eq!(deep, ["Reason::Inner", "Inner::Deep"]);
}

#[test]
fn macros_name_what_they_define() {
    let mut source = Source::default();
    let code = r#"codes! { /// Doc.
        Busy = "busy", }
        metrics! { HEIGHT: 0 = "provider_height", Kind::Gauge, [], "Height."; }
        facts! { LeaseChange: Lease, Block: ChainBlock, }"#;
    source.add(Path::new("macros.rs"), code).unwrap();
    let pairs = &source.pairs[Path::new("macros.rs")];
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert!(pairs.contains(&pair("Busy", "busy")));
    assert!(pairs.contains(&pair("HEIGHT", "provider_height")));
    assert_eq!(source.topics, [pair("LeaseChange", "Lease"), pair("Block", "ChainBlock")]);
}

#[test]
fn settings_say_whether_they_have_an_effect() {
    let mut source = Source::default();
    let code = r#"const SETTINGS: &[Setting] = &[
        Setting::new("used", "N", "0", "…").live(),
        Setting::switch("unused", "false", "…").live().unused("because"),
    ];"#;
    source.add(Path::new("table.rs"), code).unwrap();
    assert!(source.settings["used"]);
    assert!(!source.settings["unused"]);
}

const PAGE: &str = "\
# Page
## First
| code | means |
|---|---|
| `one`, `two` | something |
| `three` | *not yet*: planned |
### `topic.a`
text
### `topic.b`
This is *not yet* sent.
## Second
| code | means |
| `four` | other |
";

#[test]
fn a_section_lists_the_first_column_of_its_tables() {
    let lines = docs::section(PAGE, "## First").unwrap();
    let listed = docs::first_column(&lines);
    let expected = [("one", false), ("three", true), ("two", false)];
    assert_eq!(
        listed.iter().map(|(name, mark)| (name.as_str(), *mark)).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(docs::section(PAGE, "## Third"), None);
    let topics = docs::headings(PAGE, "###");
    assert_eq!(topics, Listed::from([("topic.a".to_owned(), false), ("topic.b".to_owned(), true)]));
}

#[test]
fn every_kind_of_difference_is_found() {
    let listed = ["claimed", "planned", "stale", "good", "invented"];
    let listed = listed.map(|name| (name.to_owned(), matches!(name, "planned" | "stale")));
    let done =
        [("claimed", false), ("planned", false), ("stale", true), ("good", true), ("new", true)];
    let done = done.map(|(name, is_done)| (name.to_owned(), is_done));
    let mut broken = Vec::new();
    compare("page", &Listed::from(listed), &BTreeMap::from(done), &mut broken);
    let names: Vec<_> = broken.iter().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(names, ["claimed", "new", "stale", "invented"]);
}

#[test]
fn a_path_in_backticks_has_to_exist() {
    let page =
        "`order/{step,look}.rs`, `lane/`, `a.rs b`, `<x>.rs`\n```text\n`gone.rs`\n```\n`x.rs`";
    assert_eq!(docs::paths(page), ["order/step.rs", "order/look.rs", "lane/", "x.rs"]);
    let files = ["src/order/step.rs", "src/lane/mod.rs", "y/border/look.rs"].map(PathBuf::from);
    let mut broken = Vec::new();
    named_paths(page, &files, &mut broken);
    assert_eq!(
        broken,
        ["ARCHITECTURE.md: there is no `order/look.rs`", "ARCHITECTURE.md: there is no `x.rs`"]
    );
}

#[test]
fn a_walk_names_whole_files_in_its_steps() {
    let page = "## Walks\n### One\nText, `else.rs`.\n1. `a/src/x.rs`: begins.\n2. `a/src/{y,z}.rs`\n\
                ## Next\n1. `other.rs`\n";
    let files = ["crates/a/src/x.rs", "crates/b/a/src/y.rs"].map(PathBuf::from);
    let mut broken = Vec::new();
    walks(page, &files, &mut broken);
    let missing = |path| format!("ARCHITECTURE.md, Walks: there is no `{path}`");
    assert_eq!(broken, ["a/src/y.rs", "a/src/z.rs"].map(missing));
    broken.clear();
    walks("## Walks\nNone.\n", &files, &mut broken);
    assert_eq!(broken, ["ARCHITECTURE.md: there are no walks"]);
}

#[test]
fn what_the_map_shows_has_to_exist() {
    let page = "## Map\n\n```text\ncrates/       the product\n  one         it: first/ (a),\n             \
                second/, gone/\n  two         more\nrun           a file\nlost/  none\n```\n";
    let files =
        ["crates/one/src/first/a.rs", "crates/one/second/b.rs", "run", "gone/c"].map(PathBuf::from);
    let mut broken = Vec::new();
    map(page, &files, &mut broken);
    let expected =
        ["`crates/one` has no `gone/`", "there is no `crates/two`", "there is no `lost/`"];
    let expected = expected.map(|what| format!("ARCHITECTURE.md, Map: {what}"));
    assert_eq!(broken, expected);
    broken.clear();
    map("## Map\n", &files, &mut broken);
    assert_eq!(broken, ["ARCHITECTURE.md: there is no map"]);
}
