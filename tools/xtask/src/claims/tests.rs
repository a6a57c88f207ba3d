use std::path::Path;

use super::*;

const CODE: &str = r#"
struct Settings { written: u8, read: u8, bound: u8 }
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

/// What these files do, by path.
fn read(files: &[(&str, &str)]) -> Source {
    let parsed = |(path, text): &(&str, &str)| {
        (PathBuf::from(path), source::parsed(Path::new(path), text).unwrap())
    };
    let mut source = Source::default();
    source.add(&files.iter().map(parsed).collect::<Vec<_>>());
    source
}

fn source() -> Source {
    read(&[("code.rs", CODE)])
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
    let is_read =
        |field: &str| source.reads.contains_key(&("Settings".to_owned(), field.to_owned()));
    assert!(is_read("read") && is_read("bound"));
    assert!(!is_read("written"));
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
    let code = r#"codes! { /// Doc.
        Busy = "busy", }
        metrics! { HEIGHT: 0 = "provider_height", Kind::Gauge, [], "Height."; }
        facts! { LeaseChange: Lease, Block: ChainBlock, }
        kinds! { OrderNoticed: "Found."; OrderEnded: "Over."; }"#;
    let source = read(&[("macros.rs", code)]);
    let pairs = &source.pairs[Path::new("macros.rs")];
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert!(pairs.contains(&pair("Busy", "busy")));
    assert!(pairs.contains(&pair("HEIGHT", "provider_height")));
    assert_eq!(source.topics, [pair("LeaseChange", "Lease"), pair("Block", "ChainBlock")]);
    assert_eq!(source.events, ["OrderNoticed", "OrderEnded"]);
}

#[test]
fn settings_say_whether_they_have_an_effect() {
    let code = r#"const SETTINGS: &[Setting] = &[
        Setting::new("used", "N", "0", "…").live(),
        Setting::switch("unused", "false", "…").live().unused("because"),
    ];"#;
    let source = read(&[("table.rs", code)]);
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

/// What a check finds, without what it says of code that is not there.
fn found(check: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
    let mut broken = Vec::new();
    check(&mut broken);
    broken
}

#[test]
fn a_topic_whose_fact_nobody_makes_outside_of_the_bus_is_found() {
    let message = r#"
        impl Topic {
            fn name(self) -> &'static str {
                match self { Self::Lease => "told", Self::Block => "silent" }
            }
        }
        facts! { LeaseChange: Lease, Block: Block }
        fn read() -> Block { Block { height: 1 } }"#;
    let announce = "fn tell() { publish(LeaseChange { dseq: 1 }) }";
    let source = read(&[
        ("crates/provider-bus/src/message.rs", message),
        ("crates/provider-daemon/src/announce.rs", announce),
    ]);
    let found = found(|broken| topics(&source, "### `told`\n### `silent`\n", broken));
    assert!(
        found.len() == 1 && found[0].contains("`silent` is listed, and no product"),
        "{found:?}"
    );
}

#[test]
fn a_kind_of_event_that_is_only_matched_is_found() {
    let source = read(&[(
        "event.rs",
        r#"kinds! { Told: "It is."; Silent: "It is not."; }
        fn tell(kind: EventKind) -> EventKind {
            match kind { EventKind::Silent => EventKind::Told, other => other }
        }"#,
    )]);
    let page = "## Events\n| field | holds |\n| `seq` | a |\n\n| event | means |\n| `Told` | a |\n\
                | `Silent` | b |\n";
    let found = found(|broken| events(&source, page, broken));
    assert!(
        found.len() == 1 && found[0].contains("`Silent` is listed, and no product"),
        "{found:?}"
    );
}

#[test]
fn a_metric_that_nothing_sets_and_a_label_that_nothing_gives_are_found() {
    let table = r#"metrics! {
        KEPT: 1 = "provider_kept", Kind::Gauge, [("result", "accepted, tearing-down, invented")], "Kept.";
        LEFT: 0 = "provider_left", Kind::Gauge, [], "Left alone.";
    }"#;
    let observe = r#"fn observe(page: &mut Page) {
        page.set(&table::KEPT, ["accepted"]);
        page.set(&table::KEPT, ["tearing down"]);
    }"#;
    let source = read(&[
        ("crates/provider-daemon/src/metrics/table/ours.rs", table),
        ("crates/provider-daemon/src/metrics/observe.rs", observe),
    ]);
    let page =
        "## Ours\n| name | kind |\n| `provider_kept` | gauge |\n| `provider_left` | gauge |\n";
    let found = found(|broken| metrics(&source, page, broken));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`provider_left` is listed, and no product"), "{found:?}");
    assert!(found[1].contains("no code gives the label `invented`"), "{found:?}");
}

#[test]
fn an_error_code_that_no_answer_has_is_found() {
    let source = read(&[
        ("crates/provider-api/src/error.rs", r#"codes! { Busy = "busy", Gone = "gone", }"#),
        ("crates/gateway.rs", "fn fail() -> ErrorCode { ErrorCode::Busy }"),
    ]);
    let page = "## Errors\n| code | status |\n| `busy` | 503 |\n| `gone` | 410 |\n";
    let found = found(|broken| error_codes(&source, page, broken));
    assert!(found.len() == 1 && found[0].contains("`gone` is listed, and no product"), "{found:?}");
}

const CONFIG: &str = r#"
pub struct Reload { pub script: Option<PriceScript>, pub levels: Levels }
pub struct Config { pub script: Option<PriceScript> }
impl Config {
    pub fn reloaded(&self, new: &Reload) -> Self { Self { script: new.script.clone() } }
}"#;

/// What is said of settings, where the program outside of the parser does this.
fn settings_with(run: &str) -> Vec<String> {
    let source = read(&[
        ("crates/provider-daemon/src/config/changes.rs", CONFIG),
        ("crates/provider-daemon/src/run.rs", run),
    ]);
    found(|broken| settings(&source, broken))
}

#[test]
fn a_setting_that_is_read_of_another_type_only_is_found() {
    for (run, is_found) in [
        ("fn run(config: &Config, reload: Reload) { go(config.script, reload.levels) }", true),
        ("fn run(config: &Config) { let Reload { levels, .. } = go(config.script); }", true),
        ("fn run(config: &Config, r: Reload) { go(config.script, r.script, r.levels) }", false),
        (
            "fn run(&self, config: &Config) { go(config.script);
             let Reload { script, levels } = next(); }",
            false,
        ),
        (
            "async fn run(config: &Config, mut reloads: Receiver<Reload>) {
                 go(config.script);
                 tokio::select! {
                     () = &mut stop => {}
                     Some(reload) = reloads.recv() => { go(reload.script, reload.levels); }
                 }
             }",
            false,
        ),
        (
            "impl Run {
                 fn next(&self) -> Option<Reload> { None }
                 fn run(&self, config: Config) {
                     go(config.script);
                     if let Some(reload) = self.next() { go(reload.script, reload.levels) }
                     self.next().map(|reload| reload.script);
                 }
             }",
            false,
        ),
    ] {
        let found = settings_with(run);
        let is_script = found.len() == 1 && found[0].starts_with("Reload.script ");
        assert_eq!(is_script, is_found, "{run}: {found:?}");
        assert_eq!(found.is_empty(), !is_found, "{run}: {found:?}");
    }
}

#[test]
fn a_setting_without_effect_that_does_not_say_so_is_found() {
    let table = r#"const SETTINGS: &[Setting] = &[
        Setting::new("read", "N", "0", "…"), Setting::new("left", "N", "0", "…"),
        Setting::new("said", "N", "0", "…").unused("because"),
    ];"#;
    let source = read(&[
        ("crates/provider-daemon/src/config/table/mod.rs", table),
        ("crates/provider-daemon/src/config/engine.rs", r#"fn f() { reader.span("read") }"#),
    ]);
    let found = found(|broken| settings(&source, broken));
    assert!(found.len() == 1 && found[0].starts_with("--left: no code"), "{found:?}");
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
