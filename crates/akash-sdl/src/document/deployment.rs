//! `deployment`, `endpoints` and `reclamation`.

use akash_types::parse_go_duration;

use super::reader::{Key, Reader, Spot};
use crate::problem::{Path, Shown};
use crate::yaml::Node;

/// `deployment.<service>.<placement>`: so many replicas of a service, each with this profile.
#[derive(Clone, Debug)]
pub(crate) struct Placed<'d> {
    pub(crate) profile: Spot<&'d str>,
    pub(crate) count: Spot<u32>,
}

impl<'d> Placed<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        _: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        let place = node.place;
        let mut placed =
            Self { profile: Spot { value: "", place }, count: Spot { value: 0, place } };
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "profile" => {
                if let Some(profile) = reader.text(value, path) {
                    placed.profile = profile;
                }
            }
            "count" => {
                if let Some(count) = reader.unsigned(value, path) {
                    placed.count = count;
                }
            }
            _ => reader.unknown_key(key, path, "profile, count"),
        });
        placed
    }
}

/// `endpoints.<name>`: an IP address that exposes can share.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint<'d> {
    pub(crate) name: Key<'d>,
}

impl<'d> Endpoint<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        name: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        if !is_endpoint_name(name.value) {
            reader.problem_allowing(
                path,
                name.place,
                format!("endpoint named {} is not a valid name", Shown(name.value)),
                "lower-case letters, then digits, - and _ too; at least two characters",
            );
        }
        let mut kind = None;
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "kind" => kind = reader.text(value, path),
            _ => reader.unknown_key(key, path, "kind"),
        });
        match kind.filter(|kind| !kind.value.is_empty()) {
            None => reader.problem_allowing(
                path,
                name.place,
                format!("endpoint named {} has no kind", Shown(name.value)),
                "kind: ip",
            ),
            Some(kind) if kind.value != "ip" => reader.problem_allowing(
                path.key("kind"),
                kind.place,
                format!("endpoint named {}, unknown kind {}", Shown(name.value), Shown(kind.value)),
                "ip",
            ),
            Some(_) => {}
        }
        Self { name }
    }
}

/// `^[a-z]+[-_0-9a-z]+$`
fn is_endpoint_name(name: &str) -> bool {
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'))
}

/// `reclamation`: how long a provider has to wait before it may take the machines back.
#[derive(Clone, Debug)]
pub(crate) struct Reclamation {
    /// `None` when it could not be read, which has been said.
    pub(crate) min_window: Option<std::time::Duration>,
}

impl Reclamation {
    pub(crate) fn decode<'d, 'a>(
        reader: &mut Reader<'d, 'a>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        const ALLOWED: &str = "a duration such as 30m, 24h or 1h30m, longer than 0";
        let mut text = Spot { value: "", place: node.place };
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "min_window" => {
                if let Some(value) = reader.text(value, path) {
                    text = value;
                }
            }
            _ => reader.unknown_key(key, path, "min_window"),
        });
        let path = path.key("min_window");
        let refused = match parse_go_duration(text.value) {
            Some(window) if window.is_zero() => "reclamation min_window must be > 0".to_owned(),
            Some(window) => {
                if !is_plain_window(text.value) {
                    reader.lint(path, text.place, "not a whole number followed by s, m or h");
                }
                return Self { min_window: Some(window) };
            }
            None if text.value.starts_with('-') => "reclamation min_window must be > 0".to_owned(),
            None => format!("invalid reclamation min_window {}", Shown(text.value)),
        };
        reader.problem_allowing(path, text.place, refused, ALLOWED);
        Self { min_window: None }
    }
}

/// What the schema takes: `^[1-9][0-9]*(s|m|h)$`.
fn is_plain_window(text: &str) -> bool {
    let digits = text.strip_suffix(['s', 'm', 'h']).unwrap_or_default();
    !digits.is_empty()
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_names() {
        for name in ["ab", "meow", "a1", "a-b_c9"] {
            assert!(is_endpoint_name(name), "{name}");
        }
        for name in ["", "a", "1a", "Ab", "aB", "-a", "a.b"] {
            assert!(!is_endpoint_name(name), "{name}");
        }
    }
}
