//! A command that runs, in a task of its own.

use std::collections::VecDeque;
use std::time::Duration;

use provider_engine::cluster::port::{
    ClusterEvent, EventStream, ExecInput, ExecOutput, Input, LogLines, LogPart, Output, ReadFailure,
};
use tokio::sync::mpsc;

use super::SimDriver;
use crate::core::{EventCursor, LogCursor, Shell, ShellOutput};

/// Parts that may wait in either direction, each no longer than [`ExecInput::PART`].
const PARTS: usize = 2;
/// How often to look whether the container is still there.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct SimInputEnd(mpsc::Sender<ExecInput>);

#[derive(Debug)]
pub struct SimOutputEnd {
    parts: mpsc::Receiver<ExecOutput>,
    is_over: bool,
}

/// Lets a command run; `said` is what it has said already.
pub(super) fn run(
    driver: SimDriver,
    shell: Shell,
    said: Vec<ShellOutput>,
) -> (SimInputEnd, SimOutputEnd) {
    let (input, inputs) = mpsc::channel(PARTS);
    let (outputs, parts) = mpsc::channel(PARTS);
    tokio::spawn(drive(driver, shell, said, inputs, outputs));
    (SimInputEnd(input), SimOutputEnd { parts, is_over: false })
}

async fn drive(
    driver: SimDriver,
    mut shell: Shell,
    mut said: Vec<ShellOutput>,
    mut inputs: mpsc::Receiver<ExecInput>,
    outputs: mpsc::Sender<ExecOutput>,
) {
    let mut input_is_open = true;
    loop {
        for output in said.drain(..) {
            let output = match output {
                ShellOutput::Stdout(bytes) => ExecOutput::Stdout(bytes),
                ShellOutput::Stderr(bytes) => ExecOutput::Stderr(bytes),
                ShellOutput::Exit(code) => ExecOutput::Exit(code),
            };
            if outputs.send(output).await.is_err() {
                return;
            }
        }
        if shell.has_ended() {
            return;
        }
        tokio::select! {
            input = inputs.recv(), if input_is_open => {
                input_is_open = input.is_some();
                said = shell.feed(input.unwrap_or(ExecInput::EndOfStdin));
            }
            () = outputs.closed() => return,
            () = tokio::time::sleep(LOOK) => {
                let looked = shell.clone();
                let runs = driver.read(move |cluster| cluster.still_runs(&looked)).await;
                if !matches!(runs, Ok(true)) {
                    let broken = ExecOutput::Broken("the container has ended".to_owned());
                    let _ = outputs.send(broken).await;
                    return;
                }
            }
        }
    }
}

impl Input for SimInputEnd {
    async fn send(&mut self, input: ExecInput) -> bool {
        self.0.send(input).await.is_ok()
    }
}

impl Output for SimOutputEnd {
    async fn next(&mut self) -> ExecOutput {
        let over = |why: &str| ExecOutput::Broken(why.to_owned());
        if self.is_over {
            return over("the command has ended already");
        }
        let part = self.parts.recv().await.unwrap_or_else(|| over("the cluster has stopped"));
        self.is_over = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
        part
    }
}

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
