//! How the bus is doing.

use std::time::SystemTime;

/// How the bus is doing, for status and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusStatus {
    /// Whether other processes are heard.
    pub connection: Connection,
    /// Connections to Redis that were lost since the start.
    pub lost_connections: u64,
    /// Values that a newer one replaced before Redis took them. Nobody misses them.
    pub superseded: u64,
    /// Payloads, heard or to be published, that were no fact of their topic and were dropped. One
    /// that stays in its key counts at every look.
    pub undecodable: u64,
    /// Events that were dropped because too many waited for Redis.
    pub events_dropped: u64,
    /// Why Redis does not take events although it takes facts; `None` if it does.
    pub events_refused: Option<String>,
}

/// Whether other processes are heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// There are none: the bus serves this process only.
    InProcess,
    /// They are, through Redis.
    Connected {
        since: SystemTime,
        /// The server, as host and port.
        server: String,
    },
    /// They are not, for now. What is published reaches this process at once, others later.
    Reconnecting {
        since: SystemTime,
        attempts: u32,
        /// What went wrong last; empty before the first try ended.
        reason: String,
    },
}

impl BusStatus {
    pub(crate) const fn new(connection: Connection) -> Self {
        Self {
            connection,
            lost_connections: 0,
            superseded: 0,
            undecodable: 0,
            events_dropped: 0,
            events_refused: None,
        }
    }

    /// Whether everyone who should hear a fact does.
    pub const fn is_well(&self) -> bool {
        !matches!(self.connection, Connection::Reconnecting { .. })
    }
}
