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
