//! From parser events to a [`Tree`].

use std::borrow::Cow;
use std::collections::HashSet;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::tree::{Content, Links, Node, NodeId, Scalar, Tree};
use crate::problem::{Place, Problem, Shown};

/// An SDL larger than this is refused before it is parsed.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// The SDL's own structure is nine levels deep; whatever goes far beyond is an attack on
/// somebody's stack.
const MAX_DEPTH: usize = 64;

/// How many nodes merge keys may copy. Aliases themselves cost nothing here (they are links),
/// but `<<` writes the entries of its target out.
const MAX_MERGED_ENTRIES: usize = 100_000;

/// Whether there is nothing but printable ASCII and line feeds, as in nearly every text. Without a
/// way out of the loop the compiler looks at many bytes at once.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, b'\n' | b' '..=b'~'))
}

/// Refuses what no YAML may hold, comments included: control characters and half-characters.
fn check_characters(text: &str) -> Result<(), Problem> {
    let odd = |c: char| {
        matches!(
            c,
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}'
                | '\u{86}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if is_plain(text) {
        return Ok(());
    }
    let Some((at, found)) = text.char_indices().find(|(_, c)| odd(*c)) else { return Ok(()) };
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |index| index + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    Err(Problem {
        path: String::new(),
        place: place(Marker::new(at, before.matches('\n').count() + 1, column)),
        message: format!("the character U+{:04X} is not allowed", u32::from(found)),
        allowed: Some("text, line breaks and tabs".into()),
    })
}

/// Reads the first document of the text.
pub(crate) fn load(text: &str) -> Result<Tree<'_>, Problem> {
    check_characters(text)?;
    let mut loader = Loader::with_capacity(text.len());
    let unfinished = (!text.ends_with(['\n', '\r'])).then(|| text.chars().count());
    for item in Parser::new_from_str(text) {
        let (mut event, span) = item.map_err(|error| syntax_problem(&error))?;
        if let Some(length) = unfinished
            && let Event::Scalar(value, style, ..) = &mut event
            && span.end.index() >= length
        {
            trim_last_block(value, *style);
        }
        // Go's tools read the first document and ignore the rest.
        if event == Event::DocumentEnd {
            break;
        }
        loader.event(event, span)?;
    }
    Ok(loader.tree)
}

/// A block scalar that runs to the end of a text without a last line break has none either,
/// where the parser gives it one.
fn trim_last_block(value: &mut Cow<'_, str>, style: ScalarStyle) {
    if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
        && let Some(body) = value.strip_suffix('\n')
    {
        *value = Cow::Owned(body.to_owned());
    }
}

/// A collection whose end has not been seen.
#[derive(Clone, Copy)]
struct Open {
    id: NodeId,
    is_mapping: bool,
    /// Where its children begin on the [`Loader::pending`] stack.
    children: usize,
    anchor: usize,
}

/// Builds a tree from what a parser finds, in the order of the text.
struct Loader<'a> {
    tree: Tree<'a>,
    open: Vec<Open>,
    /// Children of all open collections, innermost last.
    pending: Vec<NodeId>,
    /// By anchor number. `None` while the anchored node is still open.
    anchors: Vec<Option<NodeId>>,
    merged_entries: usize,
}

impl<'a> Loader<'a> {
    fn with_capacity(bytes: usize) -> Self {
        // A node of an SDL takes about ten bytes of text; reserving that much once is cheaper
        // than growing four times.
        let nodes = bytes / 10 + 8;
        Self {
            tree: Tree {
                nodes: Vec::with_capacity(nodes),
                links: Vec::with_capacity(nodes),
                root: None,
            },
            open: Vec::with_capacity(12),
            pending: Vec::with_capacity(32),
            anchors: Vec::new(),
            merged_entries: 0,
        }
    }

    fn event(&mut self, event: Event<'a>, span: Span) -> Result<(), Problem> {
        let place = place(span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = self.is_text(style, tag, place)?;
                self.scalar(place, Scalar { text, is_text }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.start(place, anchor, false),
            Event::MappingStart(anchor, _) => self.start(place, anchor, true),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => match self.anchors.get(anchor).copied().flatten() {
                Some(id) => self.attach(id),
                None => {
                    let message = "this alias refers to a value that contains it";
                    Err(self.problem(place, message.into(), None))
                }
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// Adds a scalar; `anchor` is 0 where it has none, here and below.
    fn scalar(&mut self, place: Place, scalar: Scalar<'a>, anchor: usize) -> Result<(), Problem> {
        let id = self.add(place, Content::Scalar(scalar))?;
        self.anchor(anchor, Some(id));
        self.attach(id)
    }

    fn is_text(
        &self,
        style: ScalarStyle,
        tag: Option<Cow<'a, Tag>>,
        place: Place,
    ) -> Result<bool, Problem> {
        let Some(tag) = tag else {
            return Ok(style != ScalarStyle::Plain);
        };
        if !tag.is_yaml_core_schema() {
            return Ok(true);
        }
        match tag.suffix.as_str() {
            "null" | "bool" | "int" | "float" => Ok(false),
            "binary" => Err(self.problem(
                place,
                "binary values (!!binary) have no meaning in an SDL".into(),
                Some("write the text itself".into()),
            )),
            _ => Ok(true),
        }
    }

    fn add(&mut self, place: Place, content: Content<'a>) -> Result<NodeId, Problem> {
        let Ok(id) = u32::try_from(self.tree.nodes.len()) else {
            return Err(self.problem(place, "the document has too many values".into(), None));
        };
        self.tree.nodes.push(Node { place, content });
        Ok(NodeId(id))
    }

    fn anchor(&mut self, anchor: usize, id: Option<NodeId>) {
        if anchor == 0 {
            return;
        }
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        if let Some(slot) = self.anchors.get_mut(anchor) {
            *slot = id;
        }
    }

    /// Opens a collection; what is added until [`Self::end`] goes into it.
    fn start(&mut self, place: Place, anchor: usize, is_mapping: bool) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.problem(
                place,
                "values are nested too deeply".into(),
                Some(format!("at most {MAX_DEPTH} levels")),
            ));
        }
        let none = Links { start: 0, end: 0 };
        let content = if is_mapping { Content::Mapping(none) } else { Content::Sequence(none) };
        let id = self.add(place, content)?;
        self.anchor(anchor, None);
        self.open.push(Open { id, is_mapping, children: self.pending.len(), anchor });
        Ok(())
    }

    /// Gives a finished node to the collection it stands in.
    fn attach(&mut self, id: NodeId) -> Result<(), Problem> {
        let Some(open) = self.open.last() else {
            self.tree.root = Some(id);
            return Ok(());
        };
        let is_key = open.is_mapping && (self.pending.len() - open.children).is_multiple_of(2);
        if is_key && !matches!(self.tree.node(id).content, Content::Scalar(_)) {
            let kind = self.tree.node(id).kind_name();
            let place = self.tree.node(id).place;
            return Err(self.problem(place, format!("{kind} cannot be a key"), None));
        }
        self.pending.push(id);
        Ok(())
    }

    /// Closes the innermost collection.
    fn end(&mut self) -> Result<(), Problem> {
        let Some(open) = self.open.last().copied() else { return Ok(()) };
        let start = self.tree.links.len();
        if open.is_mapping && self.check_keys(self.children(open))? {
            self.write_merged(open)?;
        } else if let Some(children) = self.pending.get(open.children..) {
            self.tree.links.extend_from_slice(children);
        }
        self.pending.truncate(open.children);
        self.open.pop();
        let links = self.links_from(start);
        if let Some(node) = self.tree.nodes.get_mut(open.id.0 as usize) {
            node.content =
                if open.is_mapping { Content::Mapping(links) } else { Content::Sequence(links) };
        }
        self.anchor(open.anchor, Some(open.id));
        self.attach(open.id)
    }

    /// The children that the innermost open collection has so far.
    fn children(&self, open: Open) -> &[NodeId] {
        self.pending.get(open.children..).unwrap_or_default()
    }

    /// The number of links is bounded by the size of the text and by [`MAX_MERGED_ENTRIES`],
    /// far below 32 bits.
    #[expect(clippy::cast_possible_truncation)]
    fn links_from(&self, start: usize) -> Links {
        Links { start: start as u32, end: self.tree.links.len() as u32 }
    }

    /// Links the entries of a mapping that has merge keys: explicit keys win, earlier merges win
    /// over later ones.
    fn write_merged(&mut self, open: Open) -> Result<(), Problem> {
        let children = self.children(open).to_vec();
        let mut seen: HashSet<String> = HashSet::new();
        let mut merges = Vec::new();
        for [key, value] in children.as_chunks::<2>().0 {
            if self.is_merge(*key) {
                merges.push(*value);
            } else {
                seen.insert(self.key_text(*key).to_owned());
                self.tree.links.extend([*key, *value]);
            }
        }
        for merge in merges {
            for source in self.merge_sources(merge)? {
                let entries: Vec<NodeId> = self.tree.slice(source).to_vec();
                self.merged_entries += entries.len() / 2;
                if self.merged_entries > MAX_MERGED_ENTRIES {
                    let place = self.tree.node(open.id).place;
                    return Err(self.problem(
                        place,
                        "merge keys copy too much".into(),
                        Some(format!("at most {MAX_MERGED_ENTRIES} entries in all")),
                    ));
                }
                for [key, value] in entries.as_chunks::<2>().0 {
                    if seen.insert(self.key_text(*key).to_owned()) {
                        self.tree.links.extend([*key, *value]);
                    }
                }
            }
        }
        Ok(())
    }

    /// The mappings that a merge key's value names.
    fn merge_sources(&self, value: NodeId) -> Result<Vec<Links>, Problem> {
        let node = self.tree.node(value);
        let wrong = |place| {
            self.problem(
                place,
                "a merge key (<<) takes a mapping or a list of mappings".into(),
                None,
            )
        };
        match &node.content {
            Content::Mapping(links) => Ok(vec![*links]),
            Content::Sequence(links) => self
                .tree
                .items(*links)
                .map(|item| match &item.content {
                    Content::Mapping(links) => Ok(*links),
                    _ => Err(wrong(item.place)),
                })
                .collect(),
            Content::Scalar(_) => Err(wrong(node.place)),
        }
    }

    /// Whether there is a merge key; an error when a key stands twice.
    fn check_keys(&self, children: &[NodeId]) -> Result<bool, Problem> {
        let pairs = children.as_chunks::<2>().0;
        let mut has_merge = false;
        // Comparing all pairs beats hashing for the few keys that mappings have.
        const FEW: usize = 16;
        let mut seen = HashSet::new();
        for (index, [key, _]) in pairs.iter().enumerate() {
            has_merge |= self.is_merge(*key);
            let text = self.key_text(*key);
            let first = if pairs.len() <= FEW {
                pairs
                    .iter()
                    .take(index)
                    .map(|[other, _]| *other)
                    .find(|o| self.key_text(*o) == text)
            } else if seen.insert(text) {
                None
            } else {
                pairs.iter().map(|[other, _]| *other).find(|o| self.key_text(*o) == text)
            };
            if let Some(first) = first {
                return Err(self.problem(
                    self.tree.node(*key).place,
                    format!(
                        "key {} stands twice, first on line {}",
                        Shown(text),
                        self.tree.node(first).place.line
                    ),
                    Some("keep one of them".into()),
                ));
            }
        }
        Ok(has_merge)
    }

    fn key_text(&self, id: NodeId) -> &str {
        match &self.tree.node(id).content {
            Content::Scalar(scalar) => &scalar.text,
            _ => "",
        }
    }

    fn is_merge(&self, id: NodeId) -> bool {
        match &self.tree.node(id).content {
            Content::Scalar(scalar) => !scalar.is_text && scalar.text == "<<",
            _ => false,
        }
    }

    fn problem(&self, place: Place, message: String, allowed: Option<String>) -> Problem {
        Problem { path: self.path(), place, message, allowed }
    }

    /// The path of the innermost open collection.
    fn path(&self) -> String {
        let mut path = String::new();
        for (depth, open) in self.open.iter().enumerate() {
            let until = self.open.get(depth + 1).map_or(self.pending.len(), |next| next.children);
            let Some(children) = self.pending.get(open.children..until) else { break };
            if open.is_mapping {
                // An odd number of children means that the last is a key without its value.
                if let [.., key] = children
                    && !children.len().is_multiple_of(2)
                {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(self.key_text(*key));
                }
            } else {
                path.push_str(&format!("[{}]", children.len()));
            }
        }
        path
    }
}

fn syntax_problem(error: &ScanError) -> Problem {
    Problem {
        path: String::new(),
        place: place(*error.marker()),
        message: format!("this is not YAML: {}", error.info()),
        allowed: None,
    }
}

fn place(mark: Marker) -> Place {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: small(mark.line()), column: small(mark.col()).saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a tree back in a form that shows structure and nothing else.
    fn show(tree: &Tree<'_>, node: &Node<'_>) -> String {
        match &node.content {
            Content::Scalar(scalar) if scalar.is_text => format!("'{}'", scalar.text),
            Content::Scalar(scalar) => scalar.text.to_string(),
            Content::Sequence(links) => {
                let items: Vec<_> = tree.items(*links).map(|item| show(tree, item)).collect();
                format!("[{}]", items.join(","))
            }
            Content::Mapping(links) => {
                let entries: Vec<_> = tree
                    .entries(*links)
                    .map(|entry| format!("{}:{}", entry.key, show(tree, entry.value)))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    fn loaded(text: &str) -> String {
        let tree = load(text).unwrap();
        tree.root().map(|root| show(&tree, root)).unwrap_or_default()
    }

    #[test]
    fn structure_and_places() {
        let text = "a: 1\nb:\n  - x\n  - 'y'\nc: {d: e}\n";
        assert_eq!(loaded(text), "{a:1,b:[x,'y'],c:{d:e}}");
        let tree = load(text).unwrap();
        let Some(Node { content: Content::Mapping(links), .. }) = tree.root() else { panic!() };
        let places: Vec<_> = tree.entries(*links).map(|e| (e.key_place, e.value.place)).collect();
        assert_eq!(places[1], (Place { line: 2, column: 1 }, Place { line: 3, column: 3 }));
    }

    #[test]
    fn only_the_first_document_counts() {
        assert_eq!(loaded("a: 1\n---\nb: 2\n"), "{a:1}");
        assert_eq!(loaded(""), "");
        assert_eq!(loaded("# nothing\n"), "");
    }

    #[test]
    fn aliases_and_merges() {
        assert_eq!(loaded("a: &x {k: 1}\nb: *x\n"), "{a:{k:1},b:{k:1}}");
        assert_eq!(
            loaded("base: &b {k: 1, m: 2}\nuse: {<<: *b, k: 9}\n"),
            "{base:{k:1,m:2},use:{k:9,m:2}}"
        );
        assert_eq!(
            loaded("a: &a {k: 1}\nb: &b {k: 2, n: 3}\nc: {<<: [*a, *b]}\n"),
            "{a:{k:1},b:{k:2,n:3},c:{k:1,n:3}}"
        );
        // Quoted, it is an ordinary key.
        assert_eq!(loaded("c: {'<<': 1}"), "{c:{<<:1}}");
    }

    #[test]
    fn refusals_name_the_place() {
        for (text, line, path, part) in [
            ("a: 1\nb: 2\na: 3\n", 3, "", "key \"a\" stands twice, first on line 1"),
            ("s:\n  w:\n    p: 1\n    p: 2\n", 4, "s.w", "stands twice"),
            ("a: &x [*x]\n", 1, "a[0]", "contains it"),
            ("a: {<<: 5}\n", 1, "a", "merge key"),
            ("a: {<<: [5]}\n", 1, "a", "merge key"),
            ("? [a]\n: b\n", 1, "", "a list cannot be a key"),
            ("a: [1, 2\nb: 3\n", 2, "", "not YAML"),
            ("a: *nowhere\n", 1, "", "not YAML"),
            ("a: !!binary aGVsbG8=\n", 1, "a", "binary"),
        ] {
            let problem = load(text).unwrap_err();
            assert!(problem.message.contains(part), "{text:?}: {problem}");
            assert_eq!((problem.place.line, problem.path.as_str()), (line, path), "{problem}");
        }
    }

    #[test]
    fn the_last_line_break_is_the_texts_own() {
        assert_eq!(loaded("a: |\n  x\n  y\n"), "{a:'x\ny\n'}");
        assert_eq!(loaded("a: |\n  x\n  y"), "{a:'x\ny'}");
        assert_eq!(loaded("a: >\n  x\n  y"), "{a:'x y'}");
        assert_eq!(loaded("a: |\n  x\nb: y"), "{a:'x\n',b:y}");
        assert_eq!(loaded("a: |\n  x\n# y"), "{a:'x\n'}");
    }

    #[test]
    fn control_characters_are_refused_where_they_stand() {
        let problem = load("a: 1\nb: é\u{1}\n").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "2:5: the character U+0001 is not allowed (text, line breaks and tabs)"
        );
        assert!(load("# \u{feff}\na: 1\n").is_err());
        assert!(load("a: 1\t\r\n").is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(load(&nested(60)).is_ok());
        assert!(load(&nested(100)).unwrap_err().message.contains("nested too deeply"));
        // The parser has a bound of its own for what it looks ahead.
        assert!(load(&nested(5000)).is_err());
    }

    #[test]
    fn merges_are_bounded() {
        // Each level merges the one before it twice over under new names.
        let mut text = String::from("l0: &l0 {");
        for key in 0..1000 {
            text.push_str(&format!("k{key}: 1, "));
        }
        text.push_str("}\n");
        for user in 0..2000 {
            text.push_str(&format!("u{user}: {{<<: *l0}}\n"));
        }
        assert!(load(&text).unwrap_err().message.contains("merge keys copy too much"));
    }
}
