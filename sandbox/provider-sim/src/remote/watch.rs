//! Watching a cluster in another process.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use akash_types::Backoff;
use provider_engine::cluster::port::Changes;
use provider_engine::cluster::view::ViewChange;
use tokio::time::Instant;

use crate::link::{LinesIn, LinesOut};
use crate::wire::{Assembly, ChangeWire, Request};

const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(100), most: Duration::from_secs(5) };

#[derive(Debug)]
pub struct RemoteChanges {
    address: SocketAddr,
    connection: Option<Connection>,
    /// Whether the watcher knows that nothing is known.
    told_lost: bool,
    failures: u32,
    try_at: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    input: LinesIn,
    _output: LinesOut,
    assembly: Assembly,
}

impl RemoteChanges {
    pub(super) const fn new(address: SocketAddr) -> Self {
        Self { address, connection: None, told_lost: false, failures: 0, try_at: None }
    }

    /// The next change on the connection that stands; an error if it broke.
    async fn receive(connection: &mut Connection) -> io::Result<ViewChange> {
        loop {
            let line: Option<ChangeWire> = connection.input.next().await?;
            let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
            if let Some(change) = connection.assembly.take(line).map_err(io::Error::other)? {
                return Ok(change);
            }
        }
    }

    async fn connect(&mut self) {
        if let Some(at) = self.try_at {
            tokio::time::sleep_until(at).await;
        }
        match super::open(self.address, &Request::Observe).await {
            Ok((input, output)) => {
                let assembly = Assembly::default();
                self.connection = Some(Connection { input, _output: output, assembly });
            }
            Err(_) => self.put_off(),
        }
    }

    /// The next attempt comes later than the last.
    fn put_off(&mut self) {
        self.failures = self.failures.saturating_add(1);
        let salt = u64::from(self.address.port());
        self.try_at = Some(Instant::now() + BACKOFF.after(self.failures, salt));
    }
}

impl Changes for RemoteChanges {
    async fn next(&mut self) -> ViewChange {
        loop {
            if let Some(connection) = &mut self.connection {
                match Self::receive(connection).await {
                    Ok(change) => {
                        self.failures = 0;
                        self.told_lost = change == ViewChange::Lost;
                        return change;
                    }
                    Err(_) => {
                        self.connection = None;
                        self.put_off();
                    }
                }
            } else if self.try_at.is_some() && !self.told_lost {
                self.told_lost = true;
                return ViewChange::Lost;
            } else {
                self.connect().await;
            }
        }
    }
}
