//! Logs and events as they come.

use std::collections::VecDeque;
use std::time::Duration;

use provider_engine::cluster::port::{ClusterEvent, EventStream, LogLines, LogPart, ReadFailure};

use super::SimDriver;
use crate::core::{EventCursor, LogCursor};

/// How often somebody who follows looks for more.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct SimLines {
    driver: SimDriver,
    cursor: LogCursor,
    parts: VecDeque<LogPart>,
}

impl SimLines {
    pub(super) const fn new(driver: SimDriver, cursor: LogCursor) -> Self {
        Self { driver, cursor, parts: VecDeque::new() }
    }
}

impl LogLines for SimLines {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Ok(Some(part));
            }
            if self.cursor.is_done() {
                return Ok(None);
            }
            // Read with a copy: a future that is dropped meanwhile has read nothing.
            let mut cursor = self.cursor.clone();
            let reading = self.driver.read(move |cluster| {
                let parts = cursor.read(cluster);
                (cursor, parts)
            });
            let (cursor, parts) = reading.await?;
            self.parts.extend(parts?);
            self.cursor = cursor;
            if self.parts.is_empty() && !self.cursor.has_more() && !self.cursor.is_done() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

#[derive(Debug)]
pub struct SimEvents {
    driver: SimDriver,
    cursor: EventCursor,
    follow: bool,
    begun: bool,
    events: VecDeque<ClusterEvent>,
}

impl SimEvents {
    pub(super) const fn new(driver: SimDriver, cursor: EventCursor, follow: bool) -> Self {
        Self { driver, cursor, follow, begun: false, events: VecDeque::new() }
    }
}

impl EventStream for SimEvents {
    async fn next(&mut self) -> Result<Option<ClusterEvent>, ReadFailure> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.begun && !self.follow {
                return Ok(None);
            }
            if self.begun {
                tokio::time::sleep(PAUSE).await;
            }
            let mut cursor = self.cursor.clone();
            let reading = self.driver.read(move |cluster| {
                let events = cursor.read(cluster);
                (cursor, events)
            });
            let (cursor, events) = reading.await?;
            self.events.extend(events?);
            self.cursor = cursor;
            self.begun = true;
        }
    }
}
