//! Frames of streams.
//!
//! Logs and events are texts, one JSON object and a line break each. A shell speaks in binary
//! frames whose first byte says what the rest is:
//!
//! ```text
//!  client                                             provider
//!    104 what the command reads ─────────────────►
//!    104 alone: nothing more to read ────────────►
//!    105 columns, lines ─────────────────────────►
//!                     ◄───────────────────────── 100 what it wrote
//!                     ◄───────────────────────── 101 what it wrote as errors
//!                     ◄───────────────────────── 102 how it ended, last
//!                     ◄───────────────────────── 103 nobody knows how it ended, last
//! ```

mod shell;

use serde::{Deserialize, Serialize};

pub use shell::{ClientFrame, FrameError, ServerFrame, ShellResult};

/// Why a stream of a provider ended, as the code of its close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCode {
    /// There is no more.
    Done,
    /// Something else went wrong.
    Failed,
    /// There is no such lease, or nothing of it.
    NotFound,
    /// The cluster does not answer.
    Unavailable,
    /// The lease ended while the stream went on.
    LeaseClosed,
    /// The provider stops; another try reaches the one that follows.
    Stopping,
}

impl CloseCode {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::NotFound,
        Self::Unavailable,
        Self::LeaseClosed,
        Self::Stopping,
    ];

    /// As it is sent.
    pub const fn code(self) -> u16 {
        match self {
            Self::Done => 1000,
            Self::Stopping => 1001,
            Self::Failed => 4000,
            Self::NotFound => 4001,
            Self::Unavailable => 4002,
            Self::LeaseClosed => 4003,
        }
    }

    /// What a code means, if a provider sends it.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventFrame {
    /// `Normal`, or `Warning`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The part of the cluster that says so; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reporting_controller: String,
    /// Which of them, such as a node; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reporting_instance: String,
    /// One word, such as `Pulled`.
    pub reason: String,
    /// What happened, in words.
    pub note: String,
    /// What it happened to.
    pub object: EventObject,
}

/// A thing of a cluster, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventObject {
    /// Its kind, such as `Pod`.
    pub kind: String,
    /// Where its name counts.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

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
