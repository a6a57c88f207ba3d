//! A line of a log.

use serde::{Deserialize, Serialize};

/// A line, or a piece of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFrame {
    /// Which replica wrote it; its name begins with that of the service and a dash.
    pub name: String,
    /// The line without its end.
    pub message: String,
    /// Whether the line goes on in the next frame of the same replica.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    /// Whether it is the provider that speaks: the replica ended, and what follows is of its
    /// successor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marker: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_line_is_as_recorded() {
        let frame = LogFrame {
            name: "web-7cb85d644b-4km9w".to_owned(),
            message: "started".to_owned(),
            ..LogFrame::default()
        };
        let line = crate::json::to_line(&frame).unwrap();
        assert_eq!(line, "{\"name\":\"web-7cb85d644b-4km9w\",\"message\":\"started\"}\n");
        assert_eq!(serde_json::from_str::<LogFrame>(&line).unwrap(), frame);
    }
}
