//! A short way for everyday YAML.
//!
//! Nearly every SDL is written in a small part of YAML: block mappings and lists, values on the
//! line of their key, plain or simply quoted. That part can be read line by line in a tenth of
//! the time. Whatever else turns up (flow collections, several-line values, anchors, tags, tabs,
//! null, anything that is wrong) makes [`load`] answer `None`, and the parser that knows all of
//! YAML reads the text from the start. Where this one does answer, the tree is the same, place by
//! place: a test compares them on whatever it can think of.

use std::borrow::Cow;

use super::load::{Loader, is_plain};
use super::tree::{Scalar, Tree};
use crate::problem::Place;

/// The tree of the text, when it is written in everyday YAML throughout.
pub(super) fn load(text: &str) -> Option<Tree<'_>> {
    // Characters that no YAML may hold have been refused already.
    if !is_plain(text) && text.contains(['\t', '\r', '\u{85}']) {
        return None;
    }
    let mut lines = Lines {
        loader: Loader::with_capacity(text.len()),
        open: Vec::with_capacity(12),
        waiting: false,
    };
    let mut may_start_document = true;
    for (index, line) in text.split('\n').enumerate() {
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        let rest = line.get(indent..)?;
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        if indent == 0 && rest.starts_with(['-', '.', '%']) {
            // `---` may stand once, before everything else; `...` and directives are not for us.
            let is_start = rest.strip_prefix("---").is_some_and(is_blank);
            if is_start && may_start_document {
                may_start_document = false;
                continue;
            }
            if !rest.starts_with("- ") {
                return None;
            }
        }
        may_start_document = false;
        lines.line(u32::try_from(index).ok()? + 1, u32::try_from(indent).ok()?, rest)?;
    }
    if lines.waiting || lines.open.is_empty() {
        return None;
    }
    while lines.open.pop().is_some() {
        lines.loader.end().ok()?;
    }
    Some(lines.loader.tree)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mapping,
    List,
}

/// A block whose lines begin in this column, counted from zero.
struct Block {
    kind: Kind,
    column: u32,
}

struct Lines<'a> {
    loader: Loader<'a>,
    open: Vec<Block>,
    /// The last line was a key without a value, so a block has to follow.
    waiting: bool,
}

impl<'a> Lines<'a> {
    /// Takes one line with something on it: `rest` begins in `column`.
    fn line(&mut self, line: u32, column: u32, rest: &'a str) -> Option<()> {
        let Some(item) = rest.strip_prefix("- ") else {
            if self.waiting || self.open.is_empty() {
                self.open_mapping(line, column)?;
            } else {
                self.close_blocks(column, Kind::Mapping)?;
            }
            return self.entry(line, column, rest);
        };
        let item = item.trim_start_matches(' ');
        let inner = column + u32::try_from(rest.len() - item.len()).ok()?;
        if self.waiting || self.open.is_empty() {
            self.open_list(line, column, inner)?;
        } else {
            self.close_blocks(column, Kind::List)?;
        }
        match key_end(item)? {
            Some(_) => {
                self.start(place(line, inner), inner, Kind::Mapping)?;
                self.entry(line, inner, item)
            }
            None => self.scalar(line, inner, item),
        }
    }

    /// Opens the mapping that a key waits for, or the document's outermost.
    fn open_mapping(&mut self, line: u32, column: u32) -> Option<()> {
        if self.open.last().is_some_and(|block| column <= block.column) {
            return None;
        }
        self.start(place(line, column), column, Kind::Mapping)
    }

    /// Opens the list that a key waits for, which may stand in the column of its key; the parser
    /// then takes the list to begin at its first item.
    fn open_list(&mut self, line: u32, column: u32, item: u32) -> Option<()> {
        let below_key = self.open.last().is_some_and(|block| column == block.column);
        if self.open.last().is_some_and(|block| column < block.column) {
            return None;
        }
        self.start(place(line, if below_key { item } else { column }), column, Kind::List)
    }

    fn start(&mut self, place: Place, column: u32, kind: Kind) -> Option<()> {
        self.waiting = false;
        self.loader.start(place, 0, kind == Kind::Mapping).ok()?;
        self.open.push(Block { kind, column });
        Some(())
    }

    /// Closes blocks until the one that a line in this column goes on with.
    fn close_blocks(&mut self, column: u32, wanted: Kind) -> Option<()> {
        while let Some(block) = self.open.last() {
            if block.column == column && block.kind == wanted {
                return Some(());
            }
            // Further in than any block, it would go on with the value of the line before.
            if block.column < column {
                return None;
            }
            self.open.pop();
            self.loader.end().ok()?;
        }
        None
    }

    /// `key: value`, or `key:` with a block below.
    fn entry(&mut self, line: u32, column: u32, rest: &'a str) -> Option<()> {
        let end = key_end(rest)??;
        let (key, after) = rest.split_at_checked(end)?;
        self.loader.scalar(place(line, column), plain(key), 0).ok()?;
        let after = after.get(1..)?;
        if is_blank(after) {
            self.waiting = true;
            return Some(());
        }
        let value = after.trim_start_matches(' ');
        let offset = end + 1 + after.len() - value.len();
        self.scalar(line, column + u32::try_from(offset).ok()?, value)
    }

    /// A value up to the end of its line.
    fn scalar(&mut self, line: u32, column: u32, text: &'a str) -> Option<()> {
        let scalar = match text.as_bytes().first()? {
            quote @ (b'"' | b'\'') => quoted(text, char::from(*quote))?,
            b'-' if !text.starts_with("- ") && text.len() > 1 => plain_value(text)?,
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!'
            | b'|' | b'>' | b'%' | b'@' | b'`' => return None,
            _ => plain_value(text)?,
        };
        self.loader.scalar(place(line, column), scalar, 0).ok()
    }
}

fn place(line: u32, column: u32) -> Place {
    Place { line, column: column + 1 }
}

fn plain(text: &str) -> Scalar<'_> {
    Scalar { text: Cow::Borrowed(text), is_text: false }
}

/// Where the key of a `key: value` ends. `Some(None)` when there is no key; `None` when what
/// stands before the colon is not simple enough to be sure.
fn key_end(rest: &str) -> Option<Option<usize>> {
    let bytes = rest.as_bytes();
    let simple = bytes
        .iter()
        .position(|byte| !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'-'))
        .unwrap_or(bytes.len());
    match bytes.get(simple..)? {
        [b':'] | [b':', b' ', ..] if simple > 0 && !rest.starts_with(['-', '.', '/']) => {
            Some(Some(simple))
        }
        after if after.windows(2).any(|pair| pair == b": ") || after.ends_with(b":") => None,
        _ => Some(None),
    }
}

/// A plain value: ASCII, and no second colon or comment sign that could mean something.
fn plain_value(text: &str) -> Option<Scalar<'_>> {
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b' ' if bytes.get(index + 1) == Some(&b'#') => {
                end = index;
                break;
            }
            b':' if matches!(bytes.get(index + 1), None | Some(b' ')) => return None,
            b' '..=b'~' => {}
            _ => return None,
        }
    }
    let value = text.get(..end)?.trim_end_matches(' ');
    // A document marker in the middle would be one only in the first column, where no value is.
    Some(plain(value))
}

/// A quoted value without anything in it that needs unquoting.
fn quoted(text: &str, quote: char) -> Option<Scalar<'_>> {
    let inside = text.get(1..)?;
    let end = inside.find([quote, '\\'])?;
    let value = inside.get(..end)?;
    let after = inside.get(end..)?.strip_prefix(quote)?;
    let simple = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    (simple && is_blank(after)).then_some(Scalar { text: Cow::Borrowed(value), is_text: true })
}

/// Nothing but blanks, or a comment after a blank.
fn is_blank(text: &str) -> bool {
    let trimmed = text.trim_start_matches(' ');
    trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::load::load_any;
    use super::*;

    /// Where the short way answers, the long way must answer the same.
    fn agrees(text: &str) -> bool {
        let Some(short) = load(text) else { return false };
        let long = load_any(text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        assert_eq!(short.flat(), long.flat(), "{text}");
        true
    }

    #[test]
    fn everyday_texts_are_read_this_way() {
        for text in [
            "a: 1\n",
            "---\na: 1",
            "# comment\n---\n\na: 1 # one\nb:   two words  \n",
            "a:\n  b:\n    c: d\n  e: f\ng: h\n",
            "a:\n- x\n- y\nb: z\n",
            "a:\n  - x\n  - k: v\n    l: w\n  - -c\n",
            "a:\n  -   k: v\n      l:\n      - 1\n",
            "a: 'x y' # c\nb: \"z\"\n",
            "a: http://x:80/y#z\nb: k=v\nc: -100m\nd: 0.5\n",
            "  a: 1\n  b: 2\n",
            "# é – 😀\na: 1\n",
            "- a\n- b: c\n",
            "a:\n    b: c\n    # odd comment\n  # another\nd: e\n",
        ] {
            assert!(agrees(text), "not taken: {text:?}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for text in [
            "",
            "a",
            "a:",
            "a: [1]",
            "a: {b: c}",
            "a: |\n  x\n",
            "a: &x 1",
            "a: *x",
            "a: !t x",
            "a: b: c",
            "a: b\n  c\n",
            "a:\tb",
            "a: b\n c: d\n",
            "a: 'it''s'",
            "a: \"\\n\"",
            "a: \"open\n",
            "\"a\": b",
            "? a\n: b",
            "a: b\n---\nc: d\n",
            "a: é",
            "%YAML 1.2\n---\na: b",
            "a:\n  - - b\n",
            "a:\n  -\n    b\n",
            "a: 1\r\nb: 2\r\n",
            "a: 1\na: 2\n",
            "a: - b",
            "a:\n  b\n",
            "a: 1\n- b\n",
            "a: #c\n",
            "a: x # \u{85}y\n",
        ] {
            assert!(!agrees(text), "taken: {text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn agrees_on_lines_of_all_sorts(
            lines in prop::collection::vec(
                (
                    0usize..7,
                    prop::sample::select(vec![
                        "a: 1", "b:", "c: x y", "- d", "- e: f", "-  g:", "h: 'i'", "# j", "", "- ",
                        "-", "- - k", "l: \"m\" # n", "o: p#q", "r: #s", "t : u", "v:w", "- x: - y",
                        "z: a: b", "---", "...", "- 'q' r", "s: -", "- -t", "u: ~", "w: |", "x: >",
                        "y: [1]", "- {}", "<<: 1", "a b: c", "é: f", "?", "? g", ": h", "- : i",
                        "1: 2", "k: v ", "m: -1", "n: ''", "p: \"\"", "-o", "q: ?r", "t: :u", "v: a,b",
                        "w: a[0]", "x: a # b: c", "y:  z:", "- a:b", "- a: 'b'",
                    ]),
                ),
                0..12,
            ),
        ) {
            let text: Vec<String> =
                lines.iter().map(|(indent, line)| format!("{}{line}", " ".repeat(*indent))).collect();
            agrees(&text.join("\n"));
        }
    }
}
