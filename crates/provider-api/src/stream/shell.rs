//! Frames of a shell.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

const STDOUT: u8 = 100;
const STDERR: u8 = 101;
const RESULT: u8 = 102;
const FAILURE: u8 = 103;
const STDIN: u8 = 104;
const RESIZE: u8 = 105;

/// What a provider sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerFrame {
    /// What the command wrote.
    Stdout(Bytes),
    /// What it wrote as errors; never with a terminal.
    Stderr(Bytes),
    /// How it ended, or why it did not start. The last frame.
    Result(ShellResult),
    /// Nobody knows how it ended. The last frame.
    Failure,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellResult {
    /// What it returned.
    pub exit_code: i32,
    /// Why it did not run, if it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// What the command reads.
    Stdin(Bytes),
    /// There is nothing more to read. Providers written in Go do not know it and go on waiting.
    EndOfStdin,
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Lines.
        height: u16,
    },
}

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// There are none.
    #[error("the frame is empty")]
    Empty,
    /// The first byte says nothing.
    #[error("the frame has code {0}, which nobody knows")]
    Code(u8),
    /// A size needs four bytes.
    #[error("the frame of a terminal's size has {0} bytes instead of 4")]
    Size(usize),
    /// The result is not JSON.
    #[error("the result of the command cannot be read: {0}")]
    Result(String),
}

impl ServerFrame {
    /// As it is sent.
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Stdout(bytes) => coded(STDOUT, bytes),
            Self::Stderr(bytes) => coded(STDERR, bytes),
            Self::Result(result) => {
                let line = crate::json::to_line(result).unwrap_or_default();
                coded(RESULT, line.as_bytes())
            }
            Self::Failure => coded(FAILURE, &[]),
        }
    }

    /// Reads it.
    pub fn decode(frame: &Bytes) -> Result<Self, FrameError> {
        let (code, payload) = split(frame)?;
        match code {
            STDOUT => Ok(Self::Stdout(payload)),
            STDERR => Ok(Self::Stderr(payload)),
            RESULT => serde_json::from_slice(&payload)
                .map(Self::Result)
                .map_err(|error| FrameError::Result(error.to_string())),
            FAILURE => Ok(Self::Failure),
            other => Err(FrameError::Code(other)),
        }
    }
}

impl ClientFrame {
    /// As it is sent.
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Stdin(bytes) => coded(STDIN, bytes),
            Self::EndOfStdin => coded(STDIN, &[]),
            Self::Resize { width, height } => {
                let ([a, b], [c, d]) = (width.to_be_bytes(), height.to_be_bytes());
                coded(RESIZE, &[a, b, c, d])
            }
        }
    }

    /// Reads it.
    pub fn decode(frame: &Bytes) -> Result<Self, FrameError> {
        let (code, payload) = split(frame)?;
        match (code, &payload[..]) {
            (STDIN, []) => Ok(Self::EndOfStdin),
            (STDIN, _) => Ok(Self::Stdin(payload)),
            (RESIZE, [a, b, c, d, ..]) => Ok(Self::Resize {
                width: u16::from_be_bytes([*a, *b]),
                height: u16::from_be_bytes([*c, *d]),
            }),
            (RESIZE, short) => Err(FrameError::Size(short.len())),
            (other, _) => Err(FrameError::Code(other)),
        }
    }
}

fn coded(code: u8, payload: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(payload.len().saturating_add(1));
    frame.put_u8(code);
    frame.put_slice(payload);
    frame.freeze()
}

fn split(frame: &Bytes) -> Result<(u8, Bytes), FrameError> {
    let code = frame.first().ok_or(FrameError::Empty)?;
    Ok((*code, frame.slice(1..)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_are_as_recorded() {
        let result = |exit_code, message: &str| {
            ServerFrame::Result(ShellResult { exit_code, message: message.to_owned() })
        };
        let table: [(ServerFrame, &[u8]); 5] = [
            (ServerFrame::Stdout(Bytes::from_static(b"hi\n")), b"dhi\n"),
            (ServerFrame::Stderr(Bytes::from_static(b"e")), b"ee"),
            (result(3, ""), b"f{\"exit_code\":3}\n"),
            (
                result(0, "no active replicase for service"),
                b"f{\"exit_code\":0,\"message\":\"no active replicase for service\"}\n",
            ),
            (ServerFrame::Failure, b"g"),
        ];
        for (frame, bytes) in table {
            assert_eq!(frame.encode(), bytes);
            assert_eq!(ServerFrame::decode(&frame.encode()), Ok(frame));
        }
        let resize = ClientFrame::Resize { width: 120, height: 40 };
        assert_eq!(resize.encode(), Bytes::from_static(b"i\x00x\x00("));
    }

    #[test]
    fn what_is_no_frame_says_why() {
        let decode = |bytes: &'static [u8]| ClientFrame::decode(&Bytes::from_static(bytes));
        assert_eq!(decode(b""), Err(FrameError::Empty));
        assert_eq!(decode(b"zz"), Err(FrameError::Code(b'z')));
        assert_eq!(decode(b"i\x00x\x00"), Err(FrameError::Size(3)));
        assert_eq!(decode(b"h"), Ok(ClientFrame::EndOfStdin));
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes: Vec<u8>) {
            let bytes = Bytes::from(bytes);
            if let Ok(frame) = ClientFrame::decode(&bytes) {
                prop_assert_eq!(ClientFrame::decode(&frame.encode()), Ok(frame));
            }
            if let Ok(frame) = ServerFrame::decode(&bytes) {
                prop_assert_eq!(ServerFrame::decode(&frame.encode()), Ok(frame));
            }
        }
    }
}
