//! Pieces of lines become lines again, without a length that would end them.
//!
//! A driver gives long lines in pieces, those of several replicas mixed. They are put together as
//! long as that fits; a line longer than that goes out in several frames, each but the last saying
//! that it goes on. What is held is bounded, however many replicas write however long lines, and so
//! is what a frame takes once it is written as JSON, where a byte may become six.

use std::collections::BTreeMap;

use provider_api::stream::LogFrame;
use provider_engine::cluster::port::LogPart;

/// Longest line in one frame, in bytes. Existing providers give up above 64 KiB.
const LINE: usize = 64 * 1024;
/// Longest line in one frame, in bytes of JSON: one of plain text is not cut before [`LINE`].
const WRITTEN: usize = 96 * 1024;
/// Most that is held of all lines together, in bytes.
const TOTAL: usize = LINE;

#[derive(Debug)]
pub(crate) struct Lines {
    open: BTreeMap<String, String>,
    /// Bytes of all of them.
    held: usize,
    /// Whether the end of a replica is told.
    markers: bool,
}

impl Lines {
    pub(crate) const fn new(markers: bool) -> Self {
        Self { open: BTreeMap::new(), held: 0, markers }
    }

    /// What can be sent now.
    pub(crate) fn push(&mut self, part: LogPart) -> Vec<LogFrame> {
        self.frames(part).into_iter().flat_map(cut).collect()
    }

    fn frames(&mut self, part: LogPart) -> Vec<LogFrame> {
        match part {
            LogPart::Text { replica, text, continues: true, .. } => {
                let line = self.open.entry(replica.clone()).or_default();
                line.push_str(&text);
                self.held = self.held.saturating_add(text.len());
                if line.len() < LINE && self.held < TOTAL {
                    return Vec::new();
                }
                let message = self.take(&replica);
                vec![LogFrame { name: replica, message, continues: true, marker: false }]
            }
            LogPart::Text { replica, text, continues: false, .. } => {
                let mut message = self.take(&replica);
                message.push_str(&text);
                if message.ends_with('\r') {
                    message.pop();
                }
                vec![LogFrame { name: replica, message, ..LogFrame::default() }]
            }
            LogPart::Break { replica, note, .. } => {
                let unended = self.unended(&replica);
                let marker = self.markers.then(|| LogFrame {
                    name: replica,
                    message: format!("[provider] {note}"),
                    continues: false,
                    marker: true,
                });
                unended.into_iter().chain(marker).collect()
            }
        }
    }

    /// What is left of lines that never ended.
    pub(crate) fn finish(&mut self) -> Vec<LogFrame> {
        let replicas: Vec<String> = self.open.keys().cloned().collect();
        replicas.iter().filter_map(|replica| self.unended(replica)).flat_map(cut).collect()
    }

    fn unended(&mut self, replica: &str) -> Option<LogFrame> {
        let message = self.take(replica);
        (!message.is_empty()).then(|| LogFrame {
            name: replica.to_owned(),
            message,
            ..LogFrame::default()
        })
    }

    fn take(&mut self, replica: &str) -> String {
        let line = self.open.remove(replica).unwrap_or_default();
        self.held = self.held.saturating_sub(line.len());
        line
    }
}

/// A frame in as many as it needs for none to be longer than [`WRITTEN`].
fn cut(frame: LogFrame) -> Vec<LogFrame> {
    if frame.message.len() <= WRITTEN / MOST_ESCAPED
        || frame.message.bytes().map(written).sum::<usize>() <= WRITTEN
    {
        return vec![frame];
    }
    let LogFrame { name, message, continues, marker } = frame;
    let (mut frames, mut rest) = (Vec::new(), message.as_str());
    while !rest.is_empty() {
        let mut length = 0_usize;
        let fits = rest.bytes().take_while(|byte| {
            length = length.saturating_add(written(*byte));
            length <= WRITTEN
        });
        let (piece, left) = rest.split_at(rest.floor_char_boundary(fits.count()));
        rest = left;
        let continues = continues || !rest.is_empty();
        frames.push(LogFrame { name: name.clone(), message: piece.to_owned(), continues, marker });
    }
    frames
}

/// What a byte of a text becomes at most, as JSON.
const MOST_ESCAPED: usize = 6;

/// The same of one byte. The bytes that begin the two separators that are escaped count as such.
const fn written(byte: u8) -> usize {
    match byte {
        0..=0x1f | b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2 => MOST_ESCAPED,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use provider_api::json::to_line;

    use super::*;

    fn text(replica: &str, text: &str, continues: bool) -> LogPart {
        LogPart::Text {
            service: "web".to_owned(),
            replica: replica.to_owned(),
            text: text.to_owned(),
            continues,
        }
    }

    #[test]
    fn pieces_of_mixed_replicas_become_whole_lines() {
        let mut lines = Lines::new(true);
        assert_eq!(lines.push(text("a", "x", true)), []);
        assert_eq!(lines.push(text("b", "1", true)), []);
        let line = |name: &str, message: &str| LogFrame {
            name: name.to_owned(),
            message: message.to_owned(),
            ..LogFrame::default()
        };
        assert_eq!(lines.push(text("a", "y\r", false)), [line("a", "xy")]);
        assert_eq!(lines.finish(), [line("b", "1")]);
        assert_eq!(lines.finish(), []);
    }

    #[test]
    fn the_end_of_a_replica_is_told_only_to_who_follows() {
        let ended = || LogPart::Break {
            service: "web".to_owned(),
            replica: "a".to_owned(),
            note: "it ended".to_owned(),
        };
        let mut lines = Lines::new(true);
        lines.push(text("a", "half", true));
        let told = lines.push(ended());
        assert_eq!(told[0].message, "half");
        assert_eq!((told[1].message.as_str(), told[1].marker), ("[provider] it ended", true));
        assert_eq!(Lines::new(false).push(ended()), []);
    }

    #[test]
    fn a_line_of_plain_text_is_one_frame_and_no_frame_is_long_as_json() {
        let mut lines = Lines::new(false);
        assert_eq!(lines.push(text("a", &"x".repeat(LINE), false)).len(), 1);
        for piece in ["\u{1}", "<", "\u{2028}", "a\"é"] {
            let message = piece.repeat(LINE / piece.len());
            let frames = lines.push(text("a", &message, false));
            assert!(frames.len() > 1, "{piece:?}");
            let last = frames.len() - 1;
            for (number, frame) in frames.iter().enumerate() {
                assert!(to_line(frame).unwrap().len() <= WRITTEN + 64, "{piece:?}");
                assert_eq!(frame.continues, number < last);
            }
            let whole: String = frames.iter().map(|frame| frame.message.as_str()).collect();
            assert_eq!(whole, message);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_what_is_held_is_bounded(
            parts in prop::collection::vec((0..9_usize, 0..750_usize, any::<bool>()), 0..100),
        ) {
            let mut lines = Lines::new(false);
            let (mut sent, mut got) = (0, 0);
            for (replica, length, continues) in parts {
                // A piece is up to 32 KiB; what is longer is there to reach the bounds.
                let piece = "x".repeat(length * 100);
                sent += piece.len();
                got += lines
                    .push(text(&replica.to_string(), &piece, continues))
                    .iter()
                    .map(|frame| frame.message.len())
                    .sum::<usize>();
                prop_assert!(lines.held < TOTAL);
                prop_assert_eq!(lines.held, lines.open.values().map(String::len).sum::<usize>());
            }
            got += lines.finish().iter().map(|frame| frame.message.len()).sum::<usize>();
            prop_assert_eq!(sent, got);
        }
    }
}
