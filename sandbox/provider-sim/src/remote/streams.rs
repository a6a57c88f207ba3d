//! Logs and events from another process.

use std::io;
use std::net::SocketAddr;

use provider_engine::cluster::port::{ClusterEvent, EventStream, LogLines, LogPart, ReadFailure};
use serde::de::DeserializeOwned;

use crate::link::{LinesIn, LinesOut};
use crate::wire::{EventWrap, LogWrap, ReadFailureWrap, Request};

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
