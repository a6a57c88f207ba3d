//! One connection's life: from finding the server to the first failure.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::SystemTime;

use akash_net::Trust;
use futures_util::StreamExt;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use redis::{RedisError, Value};
use tokio::time::{sleep, timeout};

use super::dial::{DialError, Dialer, FindError, RoleError};
use super::target::{Address, Servers, Target};
use super::{Timing, dial};
use crate::bus::Shared;
use crate::event::{Entry, STREAM, STREAM_LENGTH};
use crate::message::{Topic, VERSION};
use crate::status::Connection;

/// Events that go to Redis at once.
const EVENTS_AT_ONCE: usize = 256;

#[derive(Debug)]
pub(super) struct End {
    pub(super) was_connected: bool,
    pub(super) error: SessionError,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("no Redis server was found")]
    Find(#[from] FindError),
    #[error("Redis at {server} could not be reached")]
    Dial { server: Address, source: DialError },
    #[error("Redis at {server} is not to be used")]
    Role { server: Address, source: RoleError },
    #[error("Redis at {server} failed to {attempt}")]
    Refused { server: Address, attempt: &'static str, source: RedisError },
    #[error("Redis at {server} did not {attempt} in time")]
    Silent { server: Address, attempt: &'static str },
    #[error("Redis at {server} closed the connection")]
    Closed { server: Address },
}

/// Connects, exchanges facts until something fails, and says what.
pub(super) async fn run(
    target: &Target,
    with: (&Timing, &Trust),
    attempts: u32,
    shared: &Shared,
) -> End {
    match Session::open(target, with, attempts, shared).await {
        Err(error) => End { was_connected: false, error },
        Ok((session, commands, ears)) => {
            let connected = Connection::Connected {
                since: SystemTime::now(),
                server: session.server.to_string(),
            };
            shared.change_status(|status| status.connection = connected);
            let Ears { sink, stream } = ears;
            // Each part only receives, waits or asks within a bounded time, and what one of them
            // leaves half done the next session does again.
            let ended = tokio::select! {
                ended = session.send(commands.connection.clone()) => ended,
                ended = session.stream_events(commands.connection.clone()) => ended,
                ended = session.listen(stream) => ended,
                ended = session.beat(commands.connection.clone(), sink) => ended,
            };
            if let Some(outbox) = &shared.outbox {
                outbox.events.release();
            }
            match ended {
                Ok(never) => match never {},
                Err(error) => End { was_connected: true, error },
            }
        }
    }
}

struct Session<'a> {
    server: Address,
    behind_sentinel: bool,
    timing: &'a Timing,
    shared: &'a Shared,
}

struct Ears {
    sink: PubSubSink,
    stream: PubSubStream,
}

impl<'a> Session<'a> {
    async fn open(
        target: &Target,
        (timing, trust): (&'a Timing, &Trust),
        attempts: u32,
        shared: &'a Shared,
    ) -> Result<(Self, super::dial::Commands, Ears), SessionError> {
        let server = dial::server(target, (timing, trust), attempts).await?;
        let (login, db, tls) = (&target.login, target.db, target.tls.as_ref());
        let dialer = Dialer { login, db, tls, trust, timing };
        let unreachable = |source| SessionError::Dial { server: server.clone(), source };
        let mut commands = dialer.commands(&server).await.map_err(unreachable)?;
        let ears = dialer.announcements(&server).await.map_err(unreachable)?;
        let (mut sink, stream) = ears.split();

        let behind_sentinel = matches!(target.servers, Servers::Sentinels { .. });
        let session = Session { server, behind_sentinel, timing, shared };
        session.check_role(&mut commands.connection).await?;
        // First listen, then read: nothing falls between.
        let names = Topic::ALL.map(Topic::name);
        session.answer("subscribe to the topics", sink.subscribe(&names)).await?;
        session.read_keys(&mut commands.connection).await?;
        Ok((session, commands, Ears { sink, stream }))
    }

    /// Brings what waits into Redis, now and whenever something does.
    async fn send(&self, mut to: MultiplexedConnection) -> Result<Infallible, SessionError> {
        let Some(outbox) = &self.shared.outbox else { return std::future::pending().await };
        loop {
            let mut batch = redis::pipe();
            batch.atomic();
            for topic in outbox.take() {
                if let Some(payload) = self.shared.own(topic) {
                    batch.cmd("SET").arg(topic.name()).arg(&*payload).ignore();
                    batch.cmd("PUBLISH").arg(topic.name()).arg(&*payload).ignore();
                }
            }
            if !batch.is_empty() {
                self.answer("take new values", batch.query_async::<()>(&mut to)).await?;
            }
            outbox.filled().await;
        }
    }

    /// Appends the events that wait to the stream, now and whenever something does.
    ///
    /// A server that takes facts and refuses events, such as one whose rules do not allow `XADD`, is
    /// asked again at the next beat: facts go on meanwhile.
    async fn stream_events(
        &self,
        mut to: MultiplexedConnection,
    ) -> Result<Infallible, SessionError> {
        let Some(outbox) = &self.shared.outbox else { return std::future::pending().await };
        loop {
            let entries = outbox.events.begin(EVENTS_AT_ONCE);
            if entries.is_empty() {
                outbox.events.filled().await;
                continue;
            }
            let batch = append(&self.shared.publisher, &entries);
            let sending = batch.query_async::<()>(&mut to);
            match self.answer("take events", sending).await {
                Ok(()) => {
                    outbox.events.confirm();
                    self.shared.events_refused(None);
                }
                Err(SessionError::Refused { source, .. }) if is_refusal(&source) => {
                    outbox.events.release();
                    self.shared.events_refused(Some(format!("{STREAM}: {source}")));
                    sleep(self.timing.beat).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Hears what others announce.
    async fn listen(&self, mut stream: PubSubStream) -> Result<Infallible, SessionError> {
        while let Some(message) = stream.next().await {
            if let Some(topic) = Topic::named(message.get_channel_name()) {
                self.shared.hear(topic, Some(message.get_payload_bytes()));
            }
        }
        Err(SessionError::Closed { server: self.server.clone() })
    }

    /// Looks again now and then: at the keys, at the role, and whether announcements still come.
    async fn beat(
        &self,
        mut commands: MultiplexedConnection,
        mut sink: PubSubSink,
    ) -> Result<Infallible, SessionError> {
        loop {
            sleep(self.timing.beat).await;
            self.check_role(&mut commands).await?;
            self.read_keys(&mut commands).await?;
            self.answer("answer a ping", sink.ping::<Value>()).await?;
        }
    }

    async fn read_keys(&self, from: &mut MultiplexedConnection) -> Result<(), SessionError> {
        let mut question = redis::cmd("MGET");
        question.arg(&Topic::ALL.map(Topic::name));
        let answer = question.query_async::<Vec<Option<Vec<u8>>>>(from);
        let payloads = self.answer("read the topics", answer).await?;
        for (topic, payload) in Topic::ALL.into_iter().zip(payloads) {
            self.shared.hear(topic, payload.as_deref());
        }
        Ok(())
    }

    async fn check_role(&self, of: &mut MultiplexedConnection) -> Result<(), SessionError> {
        if !self.behind_sentinel {
            return Ok(());
        }
        dial::is_master(of, self.timing)
            .await
            .map_err(|source| SessionError::Role { server: self.server.clone(), source })
    }

    async fn answer<T>(
        &self,
        attempt: &'static str,
        asking: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, SessionError> {
        let server = || self.server.clone();
        match timeout(self.timing.answer, asking).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(source)) => Err(SessionError::Refused { server: server(), attempt, source }),
            Err(_) => Err(SessionError::Silent { server: server(), attempt }),
        }
    }
}

/// Appends events to the stream: all of them, or none.
fn append(publisher: &str, entries: &[Arc<Entry>]) -> redis::Pipeline {
    let mut batch = redis::pipe();
    batch.atomic();
    for entry in entries {
        let command = batch.cmd("XADD").arg(STREAM).arg("MAXLEN").arg("~").arg(STREAM_LENGTH);
        command.arg("*").arg("version").arg(VERSION).arg("publisher").arg(publisher);
        command.arg("seq").arg(entry.seq).arg("event").arg(entry.name);
        command.arg("data").arg(&entry.data).ignore();
    }
    batch
}

/// Whether the server answered, and said no.
fn is_refusal(error: &RedisError) -> bool {
    matches!(error.kind(), redis::ErrorKind::Server(_) | redis::ErrorKind::Extension)
}
