//! The port over a cluster in another process.
//!
//! A connection carries one request at a time; what only reads is asked over connections that are
//! kept. A process that cannot be reached, or breaks off, is a cluster that does not answer:
//! `Unavailable`, and `Lost` for who watches, who then tries again by itself.

mod exec;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use akash_types::{Backoff, LeaseId};
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    Changes, EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus, LogQuery,
    Logs, Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::{Held, ViewChange};
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::core::Disturbance;
use crate::link::{LinesIn, LinesOut, both};
use crate::wire::{
    Assembly, ChangeWire, ExecFailureWrap, FailureWrap, HeldWire, OperationWire, QueryWrap,
    ReadFailureWrap, Request, RequestWrap, ServicesWrap, StatusWrap,
};

pub use exec::{RemoteEvents, RemoteInput, RemoteLines, RemoteOutput};

/// A simulated cluster in another process.
#[derive(Clone, Debug)]
pub struct RemoteDriver {
    address: SocketAddr,
    idle: IdleConnections,
}

impl RemoteDriver {
    /// The cluster that listens at `address`. Nothing is asked yet.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, idle: IdleConnections::default() }
    }

    /// Makes something go wrong, or right again.
    pub async fn disturb(&self, disturbance: Disturbance) -> Result<(), ReadFailure> {
        Ok(ask(self.address, &Request::Disturb(disturbance)).await?)
    }

    async fn read<T: DeserializeOwned>(&self, request: Request) -> Result<T, ReadFailure> {
        let (answer, connection) = self.first::<Result<T, ReadFailureWrap>>(&request).await?;
        self.idle.put(connection);
        answer.map_err(|why| why.0)
    }

    /// The first answer to a request that only reads, and its connection. One that was kept may
    /// have ended meanwhile: the request is sent again over a new one.
    async fn first<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<(T, (LinesIn, LinesOut)), Unreached> {
        if let Some((mut input, mut output)) = self.idle.take()
            && output.send(request).await.is_ok()
        {
            match first(&mut input).await {
                Ok(answer) => return Ok((answer, (input, output))),
                Err(late) if late.source.kind() == io::ErrorKind::TimedOut => {
                    return Err(Unreached { address: self.address, ..late });
                }
                Err(_ended) => {}
            }
        }
        let (mut input, output) = open(self.address, request).await?;
        let answer = first(&mut input).await;
        let answer = answer.map_err(|why| Unreached { address: self.address, ..why })?;
        Ok((answer, (input, output)))
    }
}

/// Connections on which everything that was asked has been answered. Every clone is the same.
#[derive(Clone, Debug, Default)]
struct IdleConnections(Arc<Mutex<Vec<(LinesIn, LinesOut)>>>);

impl IdleConnections {
    /// How many are kept: more than one request to the gateway asks for at once.
    const MOST: usize = 8;

    fn take(&self) -> Option<(LinesIn, LinesOut)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, connection: (LinesIn, LinesOut)) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < Self::MOST {
            idle.push(connection);
        }
    }
}

impl From<Unreached> for ReadFailure {
    fn from(why: Unreached) -> Self {
        Self::Unavailable(why.to_string())
    }
}

impl Execute for RemoteDriver {
    async fn execute(&self, operation: Operation) -> Result<(), CommandFailure> {
        let request = Request::Execute(Box::new(OperationWire::from(&operation)));
        let answer: Result<Result<(), FailureWrap>, Unreached> = ask(self.address, &request).await;
        match answer {
            Ok(result) => result.map_err(|why| why.0),
            Err(why) => Err(CommandFailure::Unavailable(why.to_string())),
        }
    }
}

impl Observe for RemoteDriver {
    type Changes = RemoteChanges;

    fn observe(&self) -> RemoteChanges {
        RemoteChanges::new(self.address)
    }
}

impl Inspect for RemoteDriver {
    type Events = RemoteEvents;

    async fn status(&self, lease: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        let services: Vec<StatusWrap> = self.read(Request::Status((&lease).into())).await?;
        Ok(LeaseStatus { services: services.into_iter().map(|service| service.0).collect() })
    }

    async fn service(&self, lease: LeaseId, service: &str) -> Result<ServiceStatus, ReadFailure> {
        let request = Request::Service((&lease).into(), service.to_owned());
        Ok(self.read::<StatusWrap>(request).await?.0)
    }

    async fn manifest(&self, lease: LeaseId) -> Result<Held, ReadFailure> {
        let held: HeldWire = self.read(Request::Manifest((&lease).into())).await?;
        let unreadable = |why| ReadFailure::Refused(format!("its answer is no manifest: {why}"));
        Held::try_from(held).map_err(unreadable)
    }

    async fn events(&self, lease: LeaseId, query: EventQuery) -> Result<RemoteEvents, ReadFailure> {
        let services = ServicesWrap(query.services);
        let request = Request::Events { lease: (&lease).into(), services, follow: query.follow };
        RemoteEvents::open(self, &request).await
    }
}

impl Logs for RemoteDriver {
    type Lines = RemoteLines;

    async fn logs(&self, lease: LeaseId, query: LogQuery) -> Result<RemoteLines, ReadFailure> {
        let request = Request::Logs((&lease).into(), QueryWrap(query));
        RemoteLines::open(self, &request).await
    }
}

impl Exec for RemoteDriver {
    type Input = RemoteInput;
    type Output = RemoteOutput;

    async fn exec(
        &self,
        lease: LeaseId,
        request: ExecRequest,
    ) -> Result<(RemoteInput, RemoteOutput), ExecFailure> {
        let request = Request::Exec((&lease).into(), RequestWrap(request));
        let unreached = |why: Unreached| ExecFailure::Unavailable(why.to_string());
        let opened = open(self.address, &request).await.map_err(unreached)?;
        let (mut input, output) = opened;
        let started: Result<(), ExecFailureWrap> = first(&mut input).await.map_err(unreached)?;
        started.map_err(|why| why.0)?;
        Ok(exec::carry(input, output))
    }
}

/// How long a process may take to let us in.
const CONNECT: Duration = Duration::from_secs(2);
/// How long it may take to answer; longer than it waits itself.
const ANSWER: Duration = Duration::from_secs(10);

/// Why a process was not reached, or gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("the simulated cluster at {address}: {source}")]
struct Unreached {
    address: SocketAddr,
    source: io::Error,
}

/// Connects and sends a request.
async fn open(address: SocketAddr, request: &Request) -> Result<(LinesIn, LinesOut), Unreached> {
    let connected = async {
        let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
        let (input, mut output) = both(stream);
        output.send(request).await?;
        Ok((input, output))
    };
    connected.await.map_err(|source| Unreached { address, source })
}

/// The first answer on a connection.
async fn first<T: DeserializeOwned>(input: &mut LinesIn) -> Result<T, Unreached> {
    let answer = async {
        let line = timeout(ANSWER, input.next()).await??;
        line.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "it broke off"))
    };
    // The address is unknown here and of no interest: the connection stood.
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    answer.await.map_err(|source| Unreached { address, source })
}

/// Asks something that has one answer.
async fn ask<T: DeserializeOwned>(address: SocketAddr, request: &Request) -> Result<T, Unreached> {
    let (mut input, _output) = open(address, request).await?;
    first(&mut input).await.map_err(|why| Unreached { address, ..why })
}

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
    const fn new(address: SocketAddr) -> Self {
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
        match open(self.address, &Request::Observe).await {
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
