//! Asking once.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::link::{LinesIn, LinesOut, both};
use crate::wire::Request;

/// How long a process may take to let us in.
const CONNECT: Duration = Duration::from_secs(2);
/// How long it may take to answer; longer than it waits itself.
const ANSWER: Duration = Duration::from_secs(10);

/// Why a process was not reached, or gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("the simulated cluster at {address}: {source}")]
pub(super) struct Unreached {
    address: SocketAddr,
    source: io::Error,
}

/// Connects and sends a request.
pub(super) async fn open(
    address: SocketAddr,
    request: &Request,
) -> Result<(LinesIn, LinesOut), Unreached> {
    let connected = async {
        let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
        let (input, mut output) = both(stream);
        output.send(request).await?;
        Ok((input, output))
    };
    connected.await.map_err(|source| Unreached { address, source })
}

/// The first answer on a connection.
pub(super) async fn first<T: DeserializeOwned>(input: &mut LinesIn) -> Result<T, Unreached> {
    let answer = async {
        let line = timeout(ANSWER, input.next()).await??;
        line.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "it broke off"))
    };
    // The address is unknown here and of no interest: the connection stood.
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    answer.await.map_err(|source| Unreached { address, source })
}

/// Asks something that has one answer.
pub(super) async fn ask<T: DeserializeOwned>(
    address: SocketAddr,
    request: &Request,
) -> Result<T, Unreached> {
    let (mut input, _output) = open(address, request).await?;
    first(&mut input).await.map_err(|why| Unreached { address, ..why })
}
