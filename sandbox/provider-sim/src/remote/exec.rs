//! A command in another process.

use std::io;

use provider_engine::cluster::port::{
    ClusterEvent, EventStream, ExecInput, ExecOutput, Input, LogLines, LogPart, Output, ReadFailure,
};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::{IdleConnections, RemoteDriver};
use crate::link::{LinesIn, LinesOut};
use crate::wire::{EventWrap, InputWrap, LogWrap, OutputWrap, ReadFailureWrap, Request};

/// Parts that may wait in either direction, each no longer than [`ExecInput::PART`].
const PARTS: usize = 2;

#[derive(Debug)]
pub struct RemoteInput(mpsc::Sender<ExecInput>);

#[derive(Debug)]
pub struct RemoteOutput {
    parts: mpsc::Receiver<ExecOutput>,
    is_over: bool,
}

/// Carries input and output until the command ends or nobody wants its output.
pub(super) fn carry(input: LinesIn, output: LinesOut) -> (RemoteInput, RemoteOutput) {
    let (to, inputs) = mpsc::channel(PARTS);
    let (outputs, parts) = mpsc::channel(PARTS);
    tokio::spawn(pump(input, output, inputs, outputs));
    (RemoteInput(to), RemoteOutput { parts, is_over: false })
}

/// Both directions side by side: a process that takes no more input, because nobody reads its
/// output, is still read from.
async fn pump(
    input: LinesIn,
    output: LinesOut,
    inputs: mpsc::Receiver<ExecInput>,
    outputs: mpsc::Sender<ExecOutput>,
) {
    tokio::select! {
        () = give(output, inputs) => {}
        () = take(input, &outputs) => {}
        () = outputs.closed() => {}
    }
}

/// Sends input for as long as the command may be there: never ends by itself.
async fn give(mut output: LinesOut, mut inputs: mpsc::Receiver<ExecInput>) {
    loop {
        let part = inputs.recv().await;
        let is_last = part.is_none();
        let sent = output.send(&InputWrap(part.unwrap_or(ExecInput::EndOfStdin))).await;
        // A connection that broke shows in what comes from it.
        if is_last || sent.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Receives output until the command ends, or until nobody takes it.
async fn take(mut input: LinesIn, outputs: &mpsc::Sender<ExecOutput>) {
    loop {
        let part = match input.next::<OutputWrap>().await {
            Ok(Some(part)) => part.0,
            Ok(None) => ExecOutput::Broken("the cluster broke off".to_owned()),
            Err(why) => ExecOutput::Broken(why.to_string()),
        };
        let is_last = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
        if outputs.send(part).await.is_err() || is_last {
            return;
        }
    }
}

impl Input for RemoteInput {
    async fn send(&mut self, input: ExecInput) -> bool {
        self.0.send(input).await.is_ok()
    }
}

impl Output for RemoteOutput {
    async fn next(&mut self) -> ExecOutput {
        let over = |why: &str| ExecOutput::Broken(why.to_owned());
        if self.is_over {
            return over("the command has ended already");
        }
        let part = self.parts.recv().await.unwrap_or_else(|| over("the connection is gone"));
        self.is_over = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
        part
    }
}

/// Parts that come one after the other. After the last one the connection is kept for what is asked
/// next; the way back is held until then, because its end would end them.
#[derive(Debug)]
struct Parts {
    /// Nothing after the last part.
    connection: Option<(LinesIn, LinesOut)>,
    idle: IdleConnections,
}

impl Parts {
    async fn open(driver: &RemoteDriver, request: &Request) -> Result<Self, ReadFailure> {
        let (opened, connection) = driver.first::<Result<(), ReadFailureWrap>>(request).await?;
        opened.map_err(|why| why.0)?;
        Ok(Self { connection: Some(connection), idle: driver.idle.clone() })
    }

    async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ReadFailure> {
        let Some((input, _)) = &mut self.connection else { return Ok(None) };
        let line: io::Result<Option<Result<Option<T>, ReadFailureWrap>>> = input.next().await;
        let part = match line {
            Ok(Some(Ok(None))) => {
                if let Some(connection) = self.connection.take() {
                    self.idle.put(connection);
                }
                return Ok(None);
            }
            Ok(Some(part)) => part.map_err(|why| why.0),
            Ok(None) => Err(ReadFailure::Unavailable("the cluster broke off".to_owned())),
            Err(why) => Err(ReadFailure::Unavailable(why.to_string())),
        };
        if part.is_err() {
            self.connection = None;
        }
        part
    }
}

#[derive(Debug)]
pub struct RemoteLines(Parts);

impl RemoteLines {
    pub(super) async fn open(
        driver: &RemoteDriver,
        request: &Request,
    ) -> Result<Self, ReadFailure> {
        Parts::open(driver, request).await.map(Self)
    }
}

impl LogLines for RemoteLines {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        Ok(self.0.next::<LogWrap>().await?.map(|part| part.0))
    }
}

#[derive(Debug)]
pub struct RemoteEvents(Parts);

impl RemoteEvents {
    pub(super) async fn open(
        driver: &RemoteDriver,
        request: &Request,
    ) -> Result<Self, ReadFailure> {
        Parts::open(driver, request).await.map(Self)
    }
}

impl EventStream for RemoteEvents {
    async fn next(&mut self) -> Result<Option<ClusterEvent>, ReadFailure> {
        Ok(self.0.next::<EventWrap>().await?.map(|event| event.0))
    }
}
