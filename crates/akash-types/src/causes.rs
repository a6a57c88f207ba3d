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
}
