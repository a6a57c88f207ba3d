//! The tree itself: nodes in one vector, children as ranges of another.

use std::borrow::Cow;

use crate::problem::Place;

/// Names a node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(super) u32);

/// A range of [`Tree::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A scalar as it stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Quoted, a block scalar or tagged as text: it is never a number, a boolean or null.
    pub(crate) is_text: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Scalar(Scalar<'a>),
    Sequence(Links),
    /// Keys and values alternate; keys are scalars, unique, and merge keys are expanded.
    Mapping(Links),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node<'a> {
    pub(crate) place: Place,
    pub(crate) content: Content<'a>,
}

/// One document. A node that an alias refers to is linked from several places, so the tree is
/// really a graph without cycles.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) links: Vec<NodeId>,
    pub(super) root: Option<NodeId>,
}

/// What stands in for a node that does not exist; ids come from the tree itself, so it is
/// never met, but looking a node up must not be able to panic.
static MISSING: Node<'static> = Node {
    place: Place { line: 0, column: 0 },
    content: Content::Scalar(Scalar { text: Cow::Borrowed(""), is_text: false }),
};

impl<'a> Tree<'a> {
    pub(crate) fn root(&self) -> Option<&Node<'a>> {
        self.root.map(|id| self.node(id))
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node<'a> {
        self.nodes.get(id.0 as usize).unwrap_or(&MISSING)
    }

    /// The children of a sequence.
    pub(crate) fn items(&self, links: Links) -> impl ExactSizeIterator<Item = &Node<'a>> {
        self.slice(links).iter().map(|id| self.node(*id))
    }

    /// The entries of a mapping.
    pub(crate) fn entries(&self, links: Links) -> impl Iterator<Item = Entry<'_, 'a>> {
        self.slice(links).as_chunks::<2>().0.iter().map(|[key, value]| {
            let key = self.node(*key);
            Entry { key: key.key_text(), key_place: key.place, value: self.node(*value) }
        })
    }

    pub(super) fn slice(&self, links: Links) -> &[NodeId] {
        self.links.get(links.start as usize..links.end as usize).unwrap_or_default()
    }
}

/// One entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'t, 'a> {
    pub(crate) key: &'t str,
    pub(crate) key_place: Place,
    pub(crate) value: &'t Node<'a>,
}

impl Node<'_> {
    fn key_text(&self) -> &str {
        match &self.content {
            Content::Scalar(scalar) => &scalar.text,
            Content::Sequence(_) | Content::Mapping(_) => "",
        }
    }

    /// What a person would call this kind of value.
    pub(crate) fn kind_name(&self) -> &'static str {
        match &self.content {
            Content::Scalar(_) => "a single value",
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }
}

impl Links {
    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Whether the scalar stands for "nothing".
pub(crate) fn is_null(scalar: &Scalar<'_>) -> bool {
    !scalar.is_text && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL")
}

/// Why a scalar is not an unsigned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberProblem {
    /// Quoted text, which is not read as a number even when it looks like one.
    Quoted,
    NotANumber,
    Negative,
    Fraction,
    TooLarge,
}

/// Reads an unsigned number of at most 32 bits.
pub(crate) fn unsigned(scalar: &Scalar<'_>) -> Result<u32, NumberProblem> {
    if scalar.is_text {
        return Err(NumberProblem::Quoted);
    }
    let text: String = scalar.text.chars().filter(|c| *c != '_').collect();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let value = match integer(digits) {
        Some(value) => value?,
        None => integral_float(digits)?,
    };
    match u32::try_from(value) {
        Ok(0) => Ok(0),
        _ if negative => Err(NumberProblem::Negative),
        Ok(value) => Ok(value),
        Err(_) => Err(NumberProblem::TooLarge),
    }
}

/// Digits with an optional base prefix; `None` when it is not written as an integer.
fn integer(digits: &str) -> Option<Result<u64, NumberProblem>> {
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(u64::from_str_radix(body, radix).map_err(|_| NumberProblem::TooLarge))
}

/// `80.0` and `8e1` are numbers without a fraction and are taken as such. Go would also take
/// `80.5` and cut it to 80; a port or a count that is half a number is a mistake, so it is
/// refused here.
fn integral_float(digits: &str) -> Result<u64, NumberProblem> {
    let looks_like_float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if !looks_like_float {
        return Err(NumberProblem::NotANumber);
    }
    let value: f64 = digits.parse().map_err(|_| NumberProblem::NotANumber)?;
    if value > f64::from(u32::MAX) {
        return Err(NumberProblem::TooLarge);
    }
    if value.fract() != 0.0 {
        return Err(NumberProblem::Fraction);
    }
    // In range and without a fraction, checked above.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(value as u64)
}

/// Reads a boolean, with the spellings of YAML 1.1 that people still write.
pub(crate) fn boolean(scalar: &Scalar<'_>) -> Option<bool> {
    match &*scalar.text {
        "true" | "True" | "TRUE" if !scalar.is_text => Some(true),
        "false" | "False" | "FALSE" if !scalar.is_text => Some(false),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn plain(text: &str) -> Scalar<'_> {
        Scalar { text: Cow::Borrowed(text), is_text: false }
    }

    fn quoted(text: &str) -> Scalar<'_> {
        Scalar { text: Cow::Borrowed(text), is_text: true }
    }

    #[test]
    fn numbers_as_yaml_v3_reads_them() {
        for (text, expected) in [
            ("80", Ok(80)),
            ("+80", Ok(80)),
            ("8_0", Ok(80)),
            ("0x50", Ok(80)),
            ("0o120", Ok(80)),
            ("0120", Ok(80)),
            ("0b1010000", Ok(80)),
            ("80.0", Ok(80)),
            ("8e1", Ok(80)),
            ("08", Ok(8)),
            ("0", Ok(0)),
            ("-0", Ok(0)),
            ("4294967295", Ok(u32::MAX)),
            ("4294967296", Err(NumberProblem::TooLarge)),
            ("99999999999999999999999", Err(NumberProblem::TooLarge)),
            ("1e400", Err(NumberProblem::TooLarge)),
            ("-1", Err(NumberProblem::Negative)),
            ("80.5", Err(NumberProblem::Fraction)),
            ("eighty", Err(NumberProblem::NotANumber)),
            ("", Err(NumberProblem::NotANumber)),
            (".inf", Err(NumberProblem::NotANumber)),
            ("1.2.3", Err(NumberProblem::NotANumber)),
            ("0x", Err(NumberProblem::NotANumber)),
            ("true", Err(NumberProblem::NotANumber)),
        ] {
            assert_eq!(unsigned(&plain(text)), expected, "{text:?}");
        }
        assert_eq!(unsigned(&quoted("80")), Err(NumberProblem::Quoted));
    }

    #[test]
    fn booleans_with_old_spellings() {
        for text in ["true", "True", "TRUE", "y", "Yes", "on", "ON"] {
            assert_eq!(boolean(&plain(text)), Some(true), "{text}");
        }
        for text in ["false", "False", "n", "No", "off"] {
            assert_eq!(boolean(&plain(text)), Some(false), "{text}");
        }
        for text in ["", "1", "tRUE", "enabled"] {
            assert_eq!(boolean(&plain(text)), None, "{text}");
        }
        // yaml.v3 takes quoted "yes" for a boolean but not quoted "true".
        assert_eq!(boolean(&quoted("yes")), Some(true));
        assert_eq!(boolean(&quoted("true")), None);
    }

    #[test]
    fn nothing_is_only_nothing_when_plain() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert!(is_null(&plain(text)), "{text:?}");
            assert!(!is_null(&quoted(text)), "{text:?}");
        }
        assert!(!is_null(&plain("nULL")));
    }
}
