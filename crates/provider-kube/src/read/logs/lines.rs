//! From the bytes of a log to parts of bounded length.

use k8s_openapi::jiff::Timestamp;
use provider_engine::cluster::port::MAX_LOG_TEXT;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether the line goes on in the next piece.
    pub(super) continues: bool,
}

/// Takes bytes as they come and gives lines, or pieces of them.
///
/// Every line begins with the time at which it was written, which is taken away. Lines that are not
/// newer than the last one of an earlier reading were told then, and are left out.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Nothing up to here is told.
    told: Option<Timestamp>,
    /// When the newest line that was told was written.
    newest: Option<Timestamp>,
    held: Vec<u8>,
    /// Whether what is held goes on with a line of which a piece was given.
    is_inside: bool,
    is_left_out: bool,
}

impl Lines {
    /// Of which nothing up to `told` is told.
    pub(super) fn after(told: Option<Timestamp>) -> Self {
        Self { told, newest: told, ..Self::default() }
    }

    /// When the newest line that was told was written.
    pub(super) const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.held.extend_from_slice(line);
            self.give(false, &mut pieces);
            rest = after.get(1..).unwrap_or_default();
        }
        self.held.extend_from_slice(rest);
        // A time and a piece: enough to know what it is.
        while self.held.len() > MAX_LOG_TEXT + 64 {
            let after = self.held.split_off(cut(&self.held, MAX_LOG_TEXT));
            self.give(true, &mut pieces);
            self.held = after;
        }
        pieces
    }

    /// There are no more bytes.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !self.held.is_empty() || self.is_inside {
            self.give(false, &mut pieces);
        }
        pieces
    }

    fn give(&mut self, continues: bool, pieces: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        let mut text = held.as_slice();
        if !std::mem::replace(&mut self.is_inside, continues) {
            let (at, rest) = stamped(text);
            text = rest;
            self.is_left_out = at.is_some_and(|at| self.told.is_some_and(|told| at <= told));
            if !self.is_left_out {
                self.newest = at.or(self.newest);
            }
        }
        if self.is_left_out {
            return;
        }
        // What is no UTF-8 takes more room once it is replaced.
        let text = String::from_utf8_lossy(text);
        let mut rest = &*text;
        while rest.len() > MAX_LOG_TEXT {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(MAX_LOG_TEXT));
            pieces.push(Piece { text: piece.to_owned(), continues: true });
            rest = after;
        }
        pieces.push(Piece { text: rest.to_owned(), continues });
    }
}

/// The time at the beginning of a line, and what comes after it.
fn stamped(line: &[u8]) -> (Option<Timestamp>, &[u8]) {
    let end = line.iter().take(40).position(|byte| *byte == b' ').unwrap_or(line.len());
    let (stamp, rest) = line.split_at(end);
    let at = std::str::from_utf8(stamp).ok().and_then(|stamp| stamp.parse().ok());
    match at {
        Some(at) => (Some(at), rest.get(1..).unwrap_or_default()),
        None => (None, line),
    }
}

/// The last place up to `most` that is not inside a character.
fn cut(bytes: &[u8], most: usize) -> usize {
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (most.saturating_sub(3)..=most).rev().find(|at| !is_inside(at)).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Piece]) -> Vec<(&str, bool)> {
        pieces.iter().map(|piece| (&*piece.text, piece.continues)).collect()
    }

    #[test]
    fn lines_lose_their_time_wherever_they_are_cut() {
        let log = "2026-01-02T03:04:05.123456789Z one two\n2026-01-02T03:04:06Z \n\
                   2026-01-02T03:04:07.5Z three";
        for size in [1, 2, 7, 1000] {
            let mut lines = Lines::default();
            let mut pieces: Vec<_> =
                log.as_bytes().chunks(size).flat_map(|bytes| lines.feed(bytes)).collect();
            pieces.extend(lines.end());
            assert_eq!(texts(&pieces), [("one two", false), ("", false), ("three", false)]);
            assert_eq!(lines.newest(), Some("2026-01-02T03:04:07.5Z".parse().unwrap()));
            assert_eq!(lines.end(), []);
        }
    }

    #[test]
    fn what_was_told_is_not_told_again() {
        let mut lines = Lines::after(Some("2026-01-02T03:04:06Z".parse().unwrap()));
        let pieces = lines
            .feed(b"2026-01-02T03:04:05Z a\n2026-01-02T03:04:06Z b\n2026-01-02T03:04:06.1Z c\n");
        assert_eq!(texts(&pieces), [("c", false)]);
    }

    #[test]
    fn a_long_line_comes_whole_in_bounded_pieces() {
        let long = "aé\u{1f600}".repeat(50_000);
        let mut lines = Lines::default();
        let mut pieces = lines.feed(format!("2026-01-02T03:04:05Z {long}").as_bytes());
        pieces.extend(lines.feed(b"\n2026-01-02T03:04:06Z next\n"));
        assert!(pieces.iter().all(|piece| piece.text.len() <= MAX_LOG_TEXT));
        let (last, first) = pieces.split_last().unwrap();
        assert_eq!((&*last.text, last.continues), ("next", false));
        let whole: String = first.iter().map(|piece| &*piece.text).collect();
        assert_eq!(whole, long);
        let ends: Vec<_> = first.iter().map(|piece| piece.continues).collect();
        assert_eq!(ends.iter().filter(|continues| !**continues).count(), 1);
    }

    #[test]
    fn what_is_no_text_is_replaced_and_stays_bounded() {
        let mut lines = Lines::default();
        let mut pieces = lines.feed(&[0xff; MAX_LOG_TEXT + 10]);
        pieces.extend(lines.end());
        assert!(pieces.len() > 2);
        assert!(pieces.iter().all(|piece| piece.text.len() <= MAX_LOG_TEXT));
    }
}
