//! Reads typed values out of the tree and remembers what was wrong.

use crate::problem::{Path, Place, Problem, Shown};
use crate::yaml::{self, Content, Node, NumberProblem, Scalar, Tree};

/// How many values may be visited before decoding gives up. A document of the largest size has
/// fewer; only aliases used again and again within each other reach it.
const MAX_VISITS: u32 = 1_000_000;

/// A value with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// A key of the document, which names what it holds.
pub(crate) type Key<'d> = Spot<&'d str>;

/// A section whose entries have names: sorted by name, so that everything built from it comes
/// out in the same order however the author wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Named<'d, T> {
    entries: Vec<(Key<'d>, T)>,
}

impl<T> Default for Named<'_, T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<'d, T> Named<'d, T> {
    pub(crate) fn new(mut entries: Vec<(Key<'d>, T)>) -> Self {
        entries.sort_by(|(a, _), (b, _)| a.value.cmp(b.value));
        Self { entries }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let index = self.entries.binary_search_by(|(key, _)| key.value.cmp(name)).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &(Key<'d>, T)> {
        self.entries.iter()
    }

    /// The names, for a message that says what there is to choose from.
    pub(crate) fn names(&self) -> String {
        const MOST: usize = 8;
        let mut names: Vec<&str> = self.iter().map(|(key, _)| key.value).take(MOST).collect();
        if self.entries.len() > MOST {
            names.push("…");
        }
        if names.is_empty() {
            "there is none".into()
        } else {
            format!("there are: {}", names.join(", "))
        }
    }
}

/// The decoder's state: where it reads from and what it found wrong.
#[derive(Debug)]
pub(crate) struct Reader<'d, 'a> {
    pub(crate) tree: &'d Tree<'a>,
    problems: Vec<Problem>,
    lints: Vec<Problem>,
    visits: u32,
}

impl<'d, 'a> Reader<'d, 'a> {
    pub(crate) fn new(tree: &'d Tree<'a>) -> Self {
        Self { tree, problems: Vec::new(), lints: Vec::new(), visits: 0 }
    }

    pub(crate) fn finish(self) -> (Vec<Problem>, Vec<Problem>) {
        (self.problems, self.lints)
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    pub(crate) fn problem(&mut self, path: Path<'_>, place: Place, message: impl Into<String>) {
        self.push(path, place, message.into(), None);
    }

    pub(crate) fn problem_allowing(
        &mut self,
        path: Path<'_>,
        place: Place,
        message: impl Into<String>,
        allowed: impl Into<String>,
    ) {
        self.push(path, place, message.into(), Some(allowed.into()));
    }

    /// Notes what the SDL's JSON schema refuses although every tool accepts it.
    pub(crate) fn lint(&mut self, path: Path<'_>, place: Place, message: impl Into<String>) {
        self.lints.push(Problem {
            path: path.to_string(),
            place,
            message: message.into(),
            allowed: None,
        });
    }

    fn push(&mut self, path: Path<'_>, place: Place, message: String, allowed: Option<String>) {
        self.problems.push(Problem { path: path.to_string(), place, message, allowed });
    }

    /// Counts visits; says once, and only once, that there are too many.
    fn visit(&mut self, count: usize, path: Path<'_>, place: Place) -> bool {
        let before = self.visits;
        self.visits = self.visits.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        if self.visits <= MAX_VISITS {
            return true;
        }
        if before <= MAX_VISITS {
            self.problem(path, place, "aliases make this document too large to read");
        }
        false
    }

    /// Calls `each` for every entry of a mapping. Null counts as an empty one and answers
    /// `false`, as does anything that is not a mapping, which is a problem.
    pub(crate) fn mapping(
        &mut self,
        node: &'d Node<'a>,
        path: Path<'_>,
        mut each: impl FnMut(&mut Self, Key<'d>, &'d Node<'a>, Path<'_>),
    ) -> bool {
        match &node.content {
            Content::Mapping(links) => {
                if !self.visit(links.len(), path, node.place) {
                    return false;
                }
                for entry in self.tree.entries(*links) {
                    let key = Spot { value: entry.key, place: entry.key_place };
                    each(self, key, entry.value, path.key(entry.key));
                }
                true
            }
            Content::Scalar(scalar) if yaml::is_null(scalar) => false,
            _ => {
                self.wrong_kind(node, path, "a mapping (key: value)");
                false
            }
        }
    }

    /// Decodes a section whose keys are names that the author chose.
    pub(crate) fn named<T>(
        &mut self,
        node: &'d Node<'a>,
        path: Path<'_>,
        mut decode: impl FnMut(&mut Self, Key<'d>, &'d Node<'a>, Path<'_>) -> T,
    ) -> Named<'d, T> {
        let mut entries = Vec::new();
        self.mapping(node, path, |reader, key, value, path| {
            let decoded = decode(reader, key, value, path);
            entries.push((key, decoded));
        });
        Named::new(entries)
    }

    /// Calls `each` for every item of a list. `None` for null; an empty list is a list.
    pub(crate) fn list<T>(
        &mut self,
        node: &'d Node<'a>,
        path: Path<'_>,
        mut each: impl FnMut(&mut Self, &'d Node<'a>, Path<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        match &node.content {
            Content::Sequence(links) => {
                let mut items = Vec::with_capacity(links.len());
                if !self.visit(links.len(), path, node.place) {
                    return Some(items);
                }
                for (index, item) in self.tree.items(*links).enumerate() {
                    items.extend(each(self, item, path.index(index)));
                }
                Some(items)
            }
            Content::Scalar(scalar) if yaml::is_null(scalar) => None,
            _ => {
                self.wrong_kind(node, path, "a list");
                None
            }
        }
    }

    /// A list of texts. Null items are dropped, as Go's tools drop them.
    pub(crate) fn texts(
        &mut self,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Option<Vec<Spot<&'d str>>> {
        self.list(node, path, |reader, item, path| reader.text(item, path))
    }

    /// The source text of a scalar, whatever it looks like; `None` for null.
    pub(crate) fn text(&mut self, node: &'d Node<'a>, path: Path<'_>) -> Option<Spot<&'d str>> {
        let scalar = self.scalar(node, path, "text")?;
        Some(Spot { value: &scalar.text, place: node.place })
    }

    pub(crate) fn unsigned(&mut self, node: &'d Node<'a>, path: Path<'_>) -> Option<Spot<u32>> {
        let scalar = self.scalar(node, path, "a number")?;
        match yaml::unsigned(scalar) {
            Ok(value) => Some(Spot { value, place: node.place }),
            Err(problem) => {
                let what = match problem {
                    NumberProblem::Quoted => "is quoted, so it is text and not a number",
                    NumberProblem::NotANumber => "is not a number",
                    NumberProblem::Negative => "is negative",
                    NumberProblem::Fraction => "has a fraction",
                    NumberProblem::TooLarge => "is too large",
                };
                let message = format!("{} {what}", Shown(&scalar.text));
                self.problem_allowing(
                    path,
                    node.place,
                    message,
                    "a whole number from 0 to 4294967295",
                );
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, node: &'d Node<'a>, path: Path<'_>) -> Option<Spot<bool>> {
        let scalar = self.scalar(node, path, "true or false")?;
        let value = yaml::boolean(scalar);
        if value.is_none() {
            let message = format!("{} is neither true nor false", Shown(&scalar.text));
            self.problem_allowing(path, node.place, message, "true or false, without quotes");
        }
        Some(Spot { value: value?, place: node.place })
    }

    fn scalar(
        &mut self,
        node: &'d Node<'a>,
        path: Path<'_>,
        wanted: &str,
    ) -> Option<&'d Scalar<'a>> {
        match &node.content {
            Content::Scalar(scalar) if yaml::is_null(scalar) => None,
            Content::Scalar(scalar) => Some(scalar),
            _ => {
                self.wrong_kind(node, path, wanted);
                None
            }
        }
    }

    pub(crate) fn wrong_kind(&mut self, node: &Node<'_>, path: Path<'_>, wanted: &str) {
        self.problem(path, node.place, format!("expected {wanted}, found {}", node.kind_name()));
    }

    /// Keys nobody knows are passed over by every tool; the schema minds them, and so does
    /// whoever mistyped one.
    pub(crate) fn unknown_key(&mut self, key: Key<'_>, path: Path<'_>, known: &str) {
        self.lint(path, key.place, format!("unknown key, ignored; known here: {known}"));
    }
}

/// Whether the node is YAML's null.
pub(crate) fn is_null(node: &Node<'_>) -> bool {
    matches!(&node.content, Content::Scalar(scalar) if yaml::is_null(scalar))
}
