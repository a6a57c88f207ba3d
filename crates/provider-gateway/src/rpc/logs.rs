//! Logs over gRPC, line by line.

use std::collections::VecDeque;

use provider_engine::cluster::port::{LogLines, LogPart};
use tonic::Status;

use super::lease::{ended, read};
use crate::gateway::StreamPermit;
use crate::stream::{Allowed, Lines};

/// Logs that are read line by line.
pub(super) struct Logs<L> {
    parts: L,
    lines: Lines,
    allowed: Allowed,
    /// Lines that can be told, and of which service each.
    waiting: VecDeque<(String, Vec<u8>)>,
    _permit: StreamPermit,
}

impl<L: LogLines> Logs<L> {
    pub(super) const fn new(
        parts: L,
        lines: Lines,
        allowed: Allowed,
        permit: StreamPermit,
    ) -> Self {
        Self { parts, lines, allowed, waiting: VecDeque::new(), _permit: permit }
    }

    /// A line and whose it is.
    pub(super) async fn next(&mut self) -> Result<Option<(String, Vec<u8>)>, Status> {
        loop {
            if let Some(line) = self.waiting.pop_front() {
                return Ok(Some(line));
            }
            let part = tokio::select! {
                ending = self.allowed.watch.ended() => return Err(ended(ending)),
                part = self.parts.next() => part.map_err(read)?,
            };
            let Some(part) = part else { return Ok(None) };
            let (LogPart::Text { service, .. } | LogPart::Break { service, .. }) = &part;
            if !self.allowed.services.include(service) {
                continue;
            }
            let service = service.clone();
            for frame in self.lines.push(part) {
                let mut line = frame.message.into_bytes();
                if !frame.continues {
                    line.push(b'\n');
                }
                self.waiting.push_back((service.clone(), line));
            }
        }
    }
}
