//! What tenants read: status, events, logs, commands.

use provider_engine::cluster::port::{
    ClusterEvent, Counts, EventKind, ExecFailure, ExecInput, ExecOutput, ExecRequest,
    ForwardedPort, LastExit, LeasedIp, LogPart, LogQuery, Missing, ObjectRef, Phase, ReadFailure,
    ServiceChoice, ServiceStatus, Terminal, Transport,
};
use serde::{Deserialize, Serialize};

/// Counterparts with the same fields, and wrappers to use them in lists.
macro_rules! wrapped {
    ($($wrapper:ident($noun:ty) = $wire:literal;)+) => {
        $(
            #[derive(Clone, Debug, Serialize, Deserialize)]
            #[serde(transparent)]
            pub(crate) struct $wrapper(#[serde(with = $wire)] pub(crate) $noun);
        )+
    };
}

wrapped! {
    StatusWrap(ServiceStatus) = "ServiceStatusWire";
    PortWrap(ForwardedPort) = "ForwardedPortWire";
    IpWrap(LeasedIp) = "LeasedIpWire";
    ExitWrap(LastExit) = "LastExitWire";
    EventWrap(ClusterEvent) = "ClusterEventWire";
    LogWrap(LogPart) = "LogPartWire";
    InputWrap(ExecInput) = "ExecInputWire";
    OutputWrap(ExecOutput) = "ExecOutputWire";
    ReadFailureWrap(ReadFailure) = "ReadFailureWire";
    ExecFailureWrap(ExecFailure) = "ExecFailureWire";
    TerminalWrap(Terminal) = "TerminalWire";
    QueryWrap(LogQuery) = "LogQueryWire";
    RequestWrap(ExecRequest) = "ExecRequestWire";
    ServicesWrap(ServiceChoice) = "ServiceChoiceWire";
}

/// Modules for `#[serde(with = …)]`: a list or an option of nouns through their wrapper.
macro_rules! many {
    ($module:ident, [$noun:ty], $wrapper:ident) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serializer};

            use super::*;

            pub(super) fn serialize<S: Serializer>(
                nouns: &[$noun],
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(nouns.iter().cloned().map($wrapper))
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Vec<$noun>, D::Error> {
                let wrapped = Vec::<$wrapper>::deserialize(deserializer)?;
                Ok(wrapped.into_iter().map(|wrapped| wrapped.0).collect())
            }
        }
    };
    ($module:ident, Option<$noun:ty>, $wrapper:ident) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use super::*;

            pub(super) fn serialize<S: Serializer>(
                noun: &Option<$noun>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                noun.clone().map($wrapper).serialize(serializer)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$noun>, D::Error> {
                Ok(Option::<$wrapper>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
            }
        }
    };
}

many!(ports, [ForwardedPort], PortWrap);
many!(ips, [LeasedIp], IpWrap);
many!(exit, Option<LastExit>, ExitWrap);
many!(terminal, Option<Terminal>, TerminalWrap);

#[derive(Serialize, Deserialize)]
#[serde(remote = "ServiceStatus")]
struct ServiceStatusWire {
    name: String,
    #[serde(with = "PhaseWire")]
    phase: Phase,
    why: Option<String>,
    #[serde(with = "CountsWire")]
    counts: Counts,
    restarts: u32,
    #[serde(with = "exit")]
    last_exit: Option<LastExit>,
    hostnames: Vec<String>,
    #[serde(with = "ports")]
    ports: Vec<ForwardedPort>,
    #[serde(with = "ips")]
    ips: Vec<LeasedIp>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Phase")]
enum PhaseWire {
    Ending,
    Ready,
    Degraded,
    Failing,
    Pending,
    Starting,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Counts")]
struct CountsWire {
    wanted: u32,
    existing: u32,
    updated: u32,
    ready: u32,
    generation: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LastExit")]
struct LastExitWire {
    code: i32,
    reason: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ForwardedPort")]
struct ForwardedPortWire {
    host: Option<String>,
    port: u16,
    external_port: u16,
    #[serde(with = "TransportWire")]
    transport: Transport,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Transport")]
enum TransportWire {
    Tcp,
    Udp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LeasedIp")]
struct LeasedIpWire {
    port: u16,
    external_port: u16,
    #[serde(with = "TransportWire")]
    transport: Transport,
    address: std::net::IpAddr,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ClusterEvent")]
struct ClusterEventWire {
    #[serde(with = "EventKindWire")]
    kind: EventKind,
    reason: String,
    note: String,
    controller: String,
    instance: String,
    #[serde(with = "ObjectRefWire")]
    object: ObjectRef,
    service: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EventKind")]
enum EventKindWire {
    Normal,
    Warning,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ObjectRef")]
struct ObjectRefWire {
    kind: String,
    namespace: String,
    name: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LogPart")]
enum LogPartWire {
    Text { service: String, replica: String, text: String, continues: bool },
    Break { service: String, replica: String, note: String },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LogQuery")]
struct LogQueryWire {
    #[serde(with = "ServiceChoiceWire")]
    services: ServiceChoice,
    tail: Option<u64>,
    follow: bool,
    previous: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ServiceChoice")]
enum ServiceChoiceWire {
    All,
    Named(Vec<String>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ExecRequest")]
struct ExecRequestWire {
    service: String,
    replica: Option<u32>,
    command: Vec<String>,
    stdin: bool,
    #[serde(with = "terminal")]
    terminal: Option<Terminal>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Terminal")]
struct TerminalWire {
    width: u16,
    height: u16,
}

/// Bytes as a text of base64: a list of numbers takes several times as long to write and to read,
/// and shells carry many.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        STANDARD_NO_PAD.decode(text.as_bytes()).map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ExecInput")]
enum ExecInputWire {
    Stdin(#[serde(with = "base64_bytes")] Vec<u8>),
    EndOfStdin,
    Resize(#[serde(with = "TerminalWire")] Terminal),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ExecOutput")]
enum ExecOutputWire {
    Stdout(#[serde(with = "base64_bytes")] Vec<u8>),
    Stderr(#[serde(with = "base64_bytes")] Vec<u8>),
    Exit(i32),
    Broken(String),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ReadFailure")]
enum ReadFailureWire {
    NotFound(#[serde(with = "MissingWire")] Missing),
    Unavailable(String),
    Refused(String),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Missing")]
enum MissingWire {
    Lease,
    Workloads,
    Service(String),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ExecFailure")]
enum ExecFailureWire {
    NotFound(#[serde(with = "MissingWire")] Missing),
    NotRunning(String),
    NoSuchReplica { asked: u32, existing: u32 },
    NoSuchCommand(String),
    Unavailable(String),
    Refused(String),
}
