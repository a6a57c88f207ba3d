//! Heads of HTTP/1 requests, seen as they arrive.
//!
//! Bytes of a head that is not complete yet are counted against the budget for strangers, but for
//! the first [`FREE`]: hyper reserves that much for every connection anyway, and heads of tenants
//! fit, so that a tenant is answered however much strangers hold. A
//! head with both `Content-Length` and `Transfer-Encoding` is marked: hyper takes the second, drops
//! the first and closes the connection afterwards, so a service could not tell.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::places::{Full, Place};

/// Bytes of each head that are not counted: as much as hyper's buffer has from the start.
const FREE: usize = 8 * 1024;

/// Among the extensions of a request whose head had both lengths.
#[derive(Clone, Copy, Debug)]
pub struct AmbiguousLength;

#[derive(Debug)]
pub(super) struct Heads(Mutex<State>);

#[derive(Debug)]
struct State {
    held: Place<IpAddr>,
    /// Bytes of the head so far.
    read: usize,
    /// A request is being answered: what arrives is its body, or a stream.
    is_answering: bool,
    scan: Scan,
}

impl Heads {
    pub(super) fn new(held: Place<IpAddr>) -> Self {
        Self(Mutex::new(State { held, read: 0, is_answering: false, scan: Scan::default() }))
    }

    /// Takes note of bytes that were read.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<(), Full> {
        let mut state = self.lock();
        if !state.is_answering {
            state.scan.push(bytes);
            let before = state.read.max(FREE);
            state.read = state.read.saturating_add(bytes.len());
            let counted = state.read.saturating_sub(before);
            state.held.grow(counted)?;
        }
        Ok(())
    }

    /// A head is complete. Returns true if it had both lengths.
    pub(super) fn answering(&self) -> bool {
        let mut state = self.lock();
        state.held.clear();
        state.read = 0;
        state.is_answering = true;
        std::mem::take(&mut state.scan).is_ambiguous()
    }

    /// The answer is there: what arrives next is a head.
    pub(super) fn answered(&self) {
        self.lock().is_answering = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const LENGTH: &[u8] = b"content-length";
const ENCODING: &[u8] = b"transfer-encoding";

/// Looks for two names among those of a head, byte by byte.
#[derive(Debug, Default)]
struct Scan {
    /// The beginning of the line, in lower case; no more of it than a name has.
    line: Vec<u8>,
    lines: usize,
    is_past_name: bool,
    is_over: bool,
    has_length: bool,
    has_encoding: bool,
}

impl Scan {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_over {
                return;
            }
            match *byte {
                b'\n' if self.line.is_empty() => self.is_over = self.lines > 0,
                b'\n' => {
                    self.lines = self.lines.saturating_add(1);
                    self.line.clear();
                    self.is_past_name = false;
                }
                b'\r' => {}
                b':' if !self.is_past_name => {
                    self.is_past_name = true;
                    self.has_length |= self.line == LENGTH;
                    self.has_encoding |= self.line == ENCODING;
                }
                _ if self.is_past_name || self.line.len() > ENCODING.len() => {}
                byte => self.line.push(byte.to_ascii_lowercase()),
            }
        }
    }

    const fn is_ambiguous(&self) -> bool {
        self.has_length && self.has_encoding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;

    fn is_ambiguous(head: &str, piece: usize) -> bool {
        let mut scan = Scan::default();
        head.as_bytes().chunks(piece).for_each(|piece| scan.push(piece));
        scan.is_ambiguous()
    }

    #[test]
    fn both_lengths_are_found_wherever_the_head_is_cut() {
        let both = "\r\nPUT /x:y HTTP/1.1\r\nContent-Length : 3\r\ncontent-length: 3\r\nhost: x\r\n\
                    Transfer-ENCODING: chunked\r\n\r\n";
        let one = "PUT / HTTP/1.1\r\ncontent-length: 9\r\nx-transfer-encoding: y\r\n\
                   y: transfer-encoding:\r\n\r\ntransfer-encoding: in the body\r\n\r\n";
        for piece in 1..both.len() {
            assert!(is_ambiguous(both, piece), "{piece}");
            assert!(!is_ambiguous(one, piece), "{piece}");
        }
    }

    #[test]
    fn only_long_heads_are_held() {
        let places = Places::new(100, 100);
        let heads = Heads::new(places.empty([127, 0, 0, 1].into()));
        heads.read(&[b'x'; FREE - 10]).unwrap();
        assert_eq!(places.taken(), 0);
        heads.read(&[b'x'; 70]).unwrap();
        assert_eq!(places.taken(), 60);
        heads.answering();
        heads.read(&[b'x'; FREE * 2]).unwrap();
        assert_eq!(places.taken(), 0);
        heads.answered();
        heads.read(&[b'x'; FREE + 100]).unwrap();
        assert_eq!(heads.read(b"x"), Err(Full::All));
        drop(heads);
        assert_eq!(places.taken(), 0);
    }
}
