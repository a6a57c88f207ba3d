//! What the documentation lists.

use std::collections::BTreeMap;

/// What marks a line, or a section, of something that is planned.
const NOT_YET: &str = "*not yet*";

/// Names that a part of a page lists, with whether they are marked as planned.
pub(super) type Listed = BTreeMap<String, bool>;

/// The lines below the heading `heading`, up to the next one of its level or above.
pub(super) fn section<'a>(page: &'a str, heading: &str) -> Option<Vec<&'a str>> {
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    let mut lines = page.lines().skip_while(|line| *line != heading);
    lines.next()?;
    let ends = |line: &str| (1..=level(heading)).contains(&level(line));
    Some(lines.take_while(|line| !ends(line)).collect())
}

/// Names in the first column of the tables of a section: those in backticks, or the whole cell
/// where it has none.
pub(super) fn first_column(lines: &[&str]) -> Listed {
    let mut listed = Listed::new();
    let rows = lines.iter().filter_map(|line| line.strip_prefix('|'));
    for row in rows {
        let cell = row.split('|').next().unwrap_or_default().trim();
        let is_head = cell.starts_with("--") || HEADS.contains(&cell);
        if is_head {
            continue;
        }
        let is_planned = row.contains(NOT_YET);
        let quoted: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        let names = if quoted.is_empty() { vec![cell] } else { quoted };
        listed.extend(names.into_iter().map(|name| (name.to_owned(), is_planned)));
    }
    listed
}

const HEADS: [&str; 5] = ["code", "name", "kind", "cause", "event"];

/// Names in headings such as ``### `name` ``; the mark may stand anywhere in their section.
pub(super) fn headings(page: &str, level: &str) -> Listed {
    let mut listed = Listed::new();
    for line in page.lines().filter(|line| line.starts_with(&format!("{level} `"))) {
        let name = line.split('`').nth(1).unwrap_or_default();
        let is_planned = section(page, line)
            .is_some_and(|lines| lines.iter().any(|line| line.contains(NOT_YET)));
        listed.insert(name.to_owned(), is_planned || line.contains(NOT_YET));
    }
    listed
}

/// Paths that a page names in backticks outside of code blocks, `{a,b}` written out: whatever ends
/// in `.rs` or `/`.
pub(super) fn paths(page: &str) -> Vec<String> {
    let outside_blocks = page.split("```").step_by(2);
    let quoted = outside_blocks.flat_map(|text| text.split('`').skip(1).step_by(2));
    let is_path = |text: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/{},".contains(c);
        !text.starts_with('/')
            && text.chars().all(is_plain)
            && (text.ends_with(".rs") || text.ends_with('/'))
    };
    quoted.filter(is_path).flat_map(written_out).collect()
}

/// Files of the walks: what stands in backticks in the numbered lines of a section.
pub(super) fn walk_files(page: &str, heading: &str) -> Vec<String> {
    let is_step = |line: &&&str| line.starts_with(|c: char| c.is_ascii_digit());
    let lines = section(page, heading).unwrap_or_default();
    let steps: Vec<String> = lines.iter().filter(is_step).map(|line| (*line).to_owned()).collect();
    steps.iter().flat_map(|line| paths(line)).collect()
}

/// Entries of a tree that is drawn in a code block: a name in the first column, or two spaces into
/// its folder, with the folders inside of it that its line and the lines below name.
pub(super) fn tree(page: &str, heading: &str) -> Vec<(String, Vec<String>)> {
    let lines = section(page, heading).unwrap_or_default();
    let block = lines.into_iter().skip_while(|line| !line.starts_with("```")).skip(1);
    let (mut entries, mut top) = (Vec::<(String, Vec<String>)>::new(), String::new());
    for line in block.take_while(|line| !line.starts_with("```")) {
        let indent = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        if indent <= 2 {
            let Some(name) = words.next() else { continue };
            let entry = if indent == 0 { name.to_owned() } else { format!("{top}{name}") };
            if indent == 0 {
                name.clone_into(&mut top);
            }
            entries.push((entry, Vec::new()));
        }
        let words = words.map(|word| word.trim_matches(['(', ')', ',', ':', ';', '.']));
        let folders = words.filter(|word| word.ends_with('/')).map(str::to_owned);
        if let Some((_, inside)) = entries.last_mut() {
            inside.extend(folders);
        }
    }
    entries
}

fn written_out(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((names, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}
