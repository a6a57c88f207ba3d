//! The top level: which grammar, and the sections.

use super::compute::Compute;
use super::deployment::{Endpoint, Placed, Reclamation};
use super::placement::Placement;
use super::reader::{Key, Named, Reader, Spot};
use super::service::Service;
use crate::problem::{Path, Place, Shown};
use crate::yaml::{Content, Node};

/// Which rules the document follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// SDL 2.0: every service of a placement has its own resource unit.
    V2_0,
    /// SDL 2.1 and later: services of a placement with the same profile share a unit.
    V2_1,
}

#[derive(Clone, Debug)]
pub(crate) struct Document<'d> {
    pub(crate) place: Place,
    pub(crate) grammar: Grammar,
    pub(crate) services: Named<'d, Service<'d>>,
    pub(crate) compute: Named<'d, Compute<'d>>,
    pub(crate) placement: Named<'d, Placement<'d>>,
    pub(crate) deployment: Named<'d, Named<'d, Placed<'d>>>,
    pub(crate) endpoints: Named<'d, Endpoint<'d>>,
    pub(crate) reclamation: Option<Reclamation>,
}

const SECTIONS: &str = "version, include, services, profiles, deployment, endpoints, reclamation";

impl<'d> Document<'d> {
    /// `None` when it is not known which grammar to read it by; that has been said then.
    pub(crate) fn decode<'a>(reader: &mut Reader<'d, 'a>) -> Option<Self> {
        let start = Place { line: 1, column: 1 };
        let root = reader.tree.root();
        let Some(node @ Node { content: Content::Mapping(_), place }) = root else {
            let place = root.map_or(start, |node| node.place);
            reader.problem_allowing(
                Path::ROOT,
                place,
                "this is not an SDL: the document is not a mapping",
                format!("top-level keys {SECTIONS}"),
            );
            return None;
        };
        let grammar = Self::grammar(reader, node)?;
        let mut document = Self {
            place: *place,
            grammar,
            services: Named::default(),
            compute: Named::default(),
            placement: Named::default(),
            deployment: Named::default(),
            endpoints: Named::default(),
            reclamation: None,
        };
        reader.mapping(node, Path::ROOT, |reader, key, value, path| {
            document.section(reader, key, value, path);
        });
        Some(document)
    }

    fn section<'a>(
        &mut self,
        reader: &mut Reader<'d, 'a>,
        key: Key<'d>,
        value: &'d Node<'a>,
        path: Path<'_>,
    ) {
        match key.value {
            "version" => {}
            // Accepted and without effect.
            "include" => {
                reader.texts(value, path);
            }
            "services" => self.services = reader.named(value, path, Service::decode),
            "profiles" => {
                reader.mapping(value, path, |reader, key, value, path| match key.value {
                    "compute" => self.compute = reader.named(value, path, Compute::decode),
                    "placement" => self.placement = reader.named(value, path, Placement::decode),
                    _ => reader.unknown_key(key, path, "compute, placement"),
                });
            }
            "deployment" => {
                self.deployment = reader.named(value, path, |reader, _, value, path| {
                    reader.named(value, path, Placed::decode)
                });
            }
            "endpoints" => self.endpoints = reader.named(value, path, Endpoint::decode),
            "reclamation" => self.reclamation = Some(Reclamation::decode(reader, value, path)),
            _ => {
                let message = format!("unexpected field {}", Shown(key.value));
                reader.problem_allowing(path, key.place, message, SECTIONS);
            }
        }
    }

    fn grammar<'a>(reader: &mut Reader<'d, 'a>, root: &'d Node<'a>) -> Option<Grammar> {
        let mut version = None;
        reader.mapping(root, Path::ROOT, |reader, key, value, path| {
            if key.value == "version" {
                version = reader.text(value, path).or(Some(Spot { value: "", place: key.place }));
            }
        });
        let path = Path::ROOT.key("version");
        let Some(version) = version else {
            reader.problem_allowing(Path::ROOT, root.place, "no version found", "version: \"2.1\"");
            return None;
        };
        let grammar = grammar_of(version.value);
        match grammar {
            None => reader.problem_allowing(
                path,
                version.place,
                format!("unsupported version {}", Shown(version.value)),
                "\"2.0\" or \"2.1\"",
            ),
            Some(_) if !matches!(version.value, "2.0" | "2.1") => {
                reader.lint(path, version.place, "not one of \"2.0\", \"2.1\"");
            }
            Some(_) => {}
        }
        grammar
    }
}

/// Reads a version the way existing tools do: a `v` in front, missing parts and leading zeros
/// are fine; exactly 2.0.0 is the old grammar and everything from 2.1.0 on the new one. A
/// pre-release (`2.1.0-rc1`) comes before its release.
fn grammar_of(text: &str) -> Option<Grammar> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (core, suffix) = match text.find(['-', '+']) {
        Some(at) => text.split_at_checked(at)?,
        None => (text, ""),
    };
    let parts: Vec<&str> = core.split('.').collect();
    if parts.len() > 3 || (parts.len() < 3 && !suffix.is_empty()) {
        return None;
    }
    let mut numbers = [0u64; 3];
    for (number, part) in numbers.iter_mut().zip(&parts) {
        if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    let pre_release = suffix.starts_with('-');
    match numbers {
        [2, 0, 0] if !pre_release => Some(Grammar::V2_0),
        [2, 1, 0] if pre_release => None,
        numbers if numbers >= [2, 1, 0] => Some(Grammar::V2_1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for text in ["2.0", "v2.0", "2", "2.0.0", "02.00", " 2.0 ", "2.0.0+build"] {
            assert_eq!(grammar_of(text), Some(Grammar::V2_0), "{text}");
        }
        for text in ["2.1", "v2.1", "2.1.0", "2.2", "3", "3.0", "2.2.0-rc1", "10.0.1"] {
            assert_eq!(grammar_of(text), Some(Grammar::V2_1), "{text}");
        }
        for text in [
            "",
            "1.0",
            "2.0.1",
            "2.0.0-rc1",
            "2.1.0-rc1",
            "2.1-rc1",
            "two",
            "2.x",
            "2.0.0.0",
            "-1",
            "2.",
            ".",
        ] {
            assert_eq!(grammar_of(text), None, "{text}");
        }
    }
}
