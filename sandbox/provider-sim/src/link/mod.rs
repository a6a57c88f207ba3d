//! Lines of JSON over a connection, in both directions.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Longest line: a manifest has at most a few mebibytes.
const LONGEST: usize = 16 << 20;

#[derive(Debug)]
pub(crate) struct LinesIn {
    reader: BufReader<OwnedReadHalf>,
    /// What was read of the next line. It stays when a reading is given up.
    begun: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct LinesOut(OwnedWriteHalf);

/// Both ends of a connection.
pub(crate) fn both(stream: TcpStream) -> (LinesIn, LinesOut) {
    // Without it small lines wait for the other side's acknowledgement.
    let _ = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    (LinesIn { reader: BufReader::new(read), begun: Vec::new() }, LinesOut(write))
}

impl LinesIn {
    /// The next line; `None` at the end. Dropping the future loses nothing.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let left = LONGEST.saturating_sub(self.begun.len());
        let limit = u64::try_from(left).unwrap_or(u64::MAX);
        let mut limited = (&mut self.reader).take(limit);
        limited.read_until(b'\n', &mut self.begun).await?;
        match self.begun.strip_suffix(b"\n") {
            Some(line) => {
                let read = serde_json::from_slice(line);
                self.begun.clear();
                read.map(Some).map_err(io::Error::from)
            }
            None if self.begun.len() >= LONGEST => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"))
            }
            None => Ok(None),
        }
    }
}

impl LinesOut {
    pub(crate) async fn send<T: Serialize + Sync>(&mut self, value: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.0.write_all(&line).await
    }
}
