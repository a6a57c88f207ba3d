//! A command in a container.

use akash_types::LeaseId;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;

use super::stream::{Socket, StreamEnd};
use super::{Client, ClientError};
use crate::path;
use crate::query::ShellParams;
use crate::stream::{ClientFrame, ServerFrame};

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
