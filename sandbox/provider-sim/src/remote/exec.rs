//! A command in another process.

use std::io;
use std::net::SocketAddr;

use provider_engine::cluster::port::{
    ClusterEvent, EventStream, ExecInput, ExecOutput, Input, LogLines, LogPart, Output, ReadFailure,
};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::link::{LinesIn, LinesOut};
use crate::wire::{EventWrap, InputWrap, LogWrap, OutputWrap, ReadFailureWrap, Request};

/// Parts that may wait in either direction, each no longer than [`ExecInput::PART`].
const PARTS: usize = 8;

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

async fn pump(
    mut input: LinesIn,
    mut output: LinesOut,
    mut inputs: mpsc::Receiver<ExecInput>,
    outputs: mpsc::Sender<ExecOutput>,
) {
    let mut is_open = true;
    loop {
        tokio::select! {
            sent = inputs.recv(), if is_open => {
                is_open = sent.is_some();
                let part = InputWrap(sent.unwrap_or(ExecInput::EndOfStdin));
                // A connection that broke shows in what comes from it.
                is_open &= output.send(&part).await.is_ok();
            }
            line = input.next::<OutputWrap>() => {
                let part = match line {
                    Ok(Some(part)) => part.0,
                    Ok(None) => ExecOutput::Broken("the cluster broke off".to_owned()),
                    Err(why) => ExecOutput::Broken(why.to_string()),
                };
                let is_last = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
                if outputs.send(part).await.is_err() || is_last {
                    return;
                }
            }
            () = outputs.closed() => return,
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

/// Parts that come one after the other. The way back is kept: its end would end them.
#[derive(Debug)]
struct Parts {
    input: LinesIn,
    _output: LinesOut,
    is_over: bool,
}

impl Parts {
    async fn open(address: SocketAddr, request: &Request) -> Result<Self, ReadFailure> {
        let (mut input, output) = super::open(address, request).await?;
        let opened: Result<(), ReadFailureWrap> = super::first(&mut input).await?;
        opened.map_err(|why| why.0)?;
        Ok(Self { input, _output: output, is_over: false })
    }

    async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ReadFailure> {
        if self.is_over {
            return Ok(None);
        }
        let line: io::Result<Option<Result<Option<T>, ReadFailureWrap>>> = self.input.next().await;
        let part = match line {
            Ok(Some(part)) => part.map_err(|why| why.0),
            Ok(None) => Err(ReadFailure::Unavailable("the cluster broke off".to_owned())),
            Err(why) => Err(ReadFailure::Unavailable(why.to_string())),
        };
        self.is_over = !matches!(part, Ok(Some(_)));
        part
    }
}

#[derive(Debug)]
pub struct RemoteLines(Parts);

impl RemoteLines {
    pub(super) async fn open(address: SocketAddr, request: &Request) -> Result<Self, ReadFailure> {
        Parts::open(address, request).await.map(Self)
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
    pub(super) async fn open(address: SocketAddr, request: &Request) -> Result<Self, ReadFailure> {
        Parts::open(address, request).await.map(Self)
    }
}

impl EventStream for RemoteEvents {
    async fn next(&mut self) -> Result<Option<ClusterEvent>, ReadFailure> {
        Ok(self.0.next::<EventWrap>().await?.map(|event| event.0))
    }
}
