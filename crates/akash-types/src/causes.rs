//! Errors in one line.

use std::error::Error;

/// An error and its sources, joined by `: `. A source whose words were already said is left out:
/// some libraries repeat their source in their own message.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

/// The start of a text.
pub(crate) fn shortened(text: &str) -> String {
    /// Longer than any id, so that what is nearly right is quoted whole.
    const LIMIT: usize = 160;
    match text.char_indices().nth(LIMIT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn every_source_is_said_once() {
        let inner = Layer("no route to host", None);
        let repeats = Layer("connect: no route to host", Some(Box::new(inner)));
        let outer = Layer("cannot ask the node", Some(Box::new(repeats)));
        assert_eq!(with_causes(&outer), "cannot ask the node: connect: no route to host");
        assert_eq!(with_causes(&Layer("alone", None)), "alone");
    }

    #[test]
    fn only_long_texts_are_cut() {
        let (fits, long) = ("é".repeat(160), "é".repeat(161));
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&long), format!("{fits}…"));
    }
}
