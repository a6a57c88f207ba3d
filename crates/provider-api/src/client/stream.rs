//! Logs and events as they come.

use std::marker::PhantomData;
use std::time::Duration;

use akash_types::LeaseId;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http::header::AUTHORIZATION;
use serde::de::DeserializeOwned;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::connect::Connection;
use super::{Client, ClientError, refused};
use crate::path;
use crate::query::{Query, ShellParams, StreamParams};
use crate::stream::{ClientFrame, CloseCode, EventFrame, LogFrame, ServerFrame};

/// Largest message that is taken from a provider.
const LARGEST: usize = 16 << 20;
/// A provider that says nothing for so long, not even that it is there, is gone: it pings every
/// ten seconds.
const SILENCE: Duration = Duration::from_secs(30);

pub(super) type Socket = WebSocketStream<Connection>;

/// Messages of a stream.
pub struct Frames<T> {
    socket: Socket,
    end: Option<StreamEnd>,
    kind: PhantomData<fn() -> T>,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEnd {
    /// Why, if the provider said; providers written in Go leave without a word.
    pub code: Option<CloseCode>,
    /// The code as it was sent; 1006 if none was.
    pub number: u16,
    /// In words; may be empty.
    pub reason: String,
}

impl Client {
    /// What the containers of a lease wrote.
    pub async fn logs(
        &self,
        lease: LeaseId,
        params: &StreamParams,
    ) -> Result<Frames<LogFrame>, ClientError> {
        self.frames(&path::logs(lease), &params.to_query()).await
    }

    /// What happened to a lease.
    pub async fn events(
        &self,
        lease: LeaseId,
        params: &StreamParams,
    ) -> Result<Frames<EventFrame>, ClientError> {
        self.frames(&path::events(lease), &params.to_query()).await
    }

    async fn frames<T>(&self, path: &str, query: &Query) -> Result<Frames<T>, ClientError> {
        let socket = self.upgrade(path, query).await?;
        Ok(Frames { socket, end: None, kind: PhantomData })
    }

    pub(super) async fn upgrade(&self, path: &str, query: &Query) -> Result<Socket, ClientError> {
        let uri = format!("ws://{}{path}?{}", self.authority, query.to_text());
        let request = uri.into_client_request();
        let mut request = request.map_err(|error| ClientError::Request(error.to_string()))?;
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}").parse();
            let value = value.map_err(|_| ClientError::Request("the token is none".to_owned()))?;
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        let connecting = async {
            let connection = self.connector.connect().await?;
            let config = WebSocketConfig::default()
                .max_message_size(Some(LARGEST))
                .max_frame_size(Some(LARGEST));
            let opened =
                tokio_tungstenite::client_async_with_config(request, connection, Some(config));
            match opened.await {
                Ok((socket, _)) => Ok(socket),
                Err(Error::Http(answer)) => {
                    let body = answer.body().as_deref().unwrap_or_default();
                    Err(refused(answer.status(), answer.headers(), body))
                }
                Err(error) => Err(error.into()),
            }
        };
        let connected = tokio::time::timeout(self.patience, connecting).await;
        connected.map_err(|_| ClientError::TimedOut)?
    }
}

impl<T: DeserializeOwned> Frames<T> {
    /// The next message; `None` when there are no more, and then [`Frames::end`] says why.
    pub async fn next(&mut self) -> Result<Option<T>, ClientError> {
        while self.end.is_none() {
            // Whatever comes shows that the provider is there.
            let received = tokio::time::timeout(SILENCE, self.socket.next()).await;
            match received.map_err(|_| ClientError::TimedOut)? {
                Some(Ok(Message::Text(text))) => {
                    let frame = serde_json::from_str(&text);
                    let frame = frame.map_err(|error| ClientError::Answer(error.to_string()))?;
                    return Ok(Some(frame));
                }
                Some(Ok(Message::Close(frame))) => {
                    self.end = Some(StreamEnd::of(frame));
                    // Answers the other side's farewell.
                    let _ = self.socket.flush().await;
                }
                Some(Ok(_)) => {}
                None => self.end = Some(StreamEnd::of(None)),
                Some(Err(error)) => self.end = Some(StreamEnd::of_error(error)?),
            }
        }
        Ok(None)
    }
}

impl<T> Frames<T> {
    /// How the stream ended, if it did.
    pub const fn end(&self) -> Option<&StreamEnd> {
        self.end.as_ref()
    }

    /// Says that no more is wanted.
    pub async fn close(mut self) {
        let _ = self.socket.close(None).await;
    }
}

impl<T> std::fmt::Debug for Frames<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").field("end", &self.end).finish_non_exhaustive()
    }
}

impl StreamEnd {
    pub(super) fn of(frame: Option<CloseFrame>) -> Self {
        let number = frame.as_ref().map_or(1006, |frame| frame.code.into());
        let reason = frame.map(|frame| frame.reason.to_string()).unwrap_or_default();
        Self { code: CloseCode::from_code(number), number, reason }
    }

    /// Leaving without a word is an end; everything else is a failure.
    pub(super) fn of_error(error: Error) -> Result<Self, Error> {
        match error {
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ok(Self::of(None)),
            other => Err(other),
        }
    }
}

/// A command that runs.
#[derive(Debug)]
pub struct Shell {
    /// What goes to it.
    pub input: ShellInput,
    /// What comes from it.
    pub output: ShellOutput,
}

/// What goes to a command.
#[derive(Debug)]
pub struct ShellInput(SplitSink<Socket, Message>);

/// What comes from a command.
#[derive(Debug)]
pub struct ShellOutput(SplitStream<Socket>);

impl Client {
    /// Starts a command.
    pub async fn shell(&self, lease: LeaseId, params: &ShellParams) -> Result<Shell, ClientError> {
        let socket = self.upgrade(&path::shell(lease), &params.to_query()).await?;
        let (input, output) = socket.split();
        Ok(Shell { input: ShellInput(input), output: ShellOutput(output) })
    }
}

impl ShellInput {
    /// Sends something; waits while the provider does not take it.
    pub async fn send(&mut self, frame: &ClientFrame) -> Result<(), ClientError> {
        Ok(self.0.send(Message::Binary(frame.encode())).await?)
    }

    /// Says that no more is wanted, which ends the command.
    pub async fn close(&mut self) {
        let _ = self.0.close().await;
    }
}

impl ShellOutput {
    /// The next part, or how the connection ended.
    pub async fn next(&mut self) -> Result<Result<ServerFrame, StreamEnd>, ClientError> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Binary(bytes))) => {
                    let frame = ServerFrame::decode(&bytes);
                    return frame.map(Ok).map_err(|error| ClientError::Answer(error.to_string()));
                }
                Some(Ok(Message::Close(frame))) => return Ok(Err(StreamEnd::of(frame))),
                None => return Ok(Err(StreamEnd::of(None))),
                Some(Err(error)) => match StreamEnd::of_error(error) {
                    Ok(end) => return Ok(Err(end)),
                    Err(error) => return Err(error.into()),
                },
                Some(Ok(_)) => {}
            }
        }
    }
}
