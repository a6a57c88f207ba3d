//! Which server to use. Behind Sentinel that changes.

use akash_net::Trust;
use redis::aio::MultiplexedConnection;
use redis::{RedisError, Value};
use tokio::time::timeout;

use super::Timing;
use super::dial::{DialError, Dialer};
use super::target::{Address, Servers, Target};

/// Why no server is known.
#[derive(Debug, thiserror::Error)]
pub(super) enum FindError {
    #[error("Sentinel {sentinel} could not be reached")]
    Dial { sentinel: Address, source: DialError },
    #[error("Sentinel {0} does not answer")]
    Silent(Address),
    #[error("Sentinel {sentinel} refused the question")]
    Refused { sentinel: Address, source: RedisError },
    #[error("Sentinel {sentinel} knows no master `{master}`: check the name in the URL")]
    UnknownMaster { sentinel: Address, master: String },
}

/// Why a server is not to be written to.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoleError {
    #[error("it does not say whether it is the master")]
    Silent,
    #[error("it does not tell its role")]
    Refused(#[from] RedisError),
    #[error("it is not the master any more")]
    Replica,
}

/// The server to use. Sentinels are asked in turn, beginning with another one at each attempt:
/// one that is cut off from the others believes in the master of yesterday.
pub(super) async fn server(
    target: &Target,
    (timing, trust): (&Timing, &Trust),
    attempts: u32,
) -> Result<Address, FindError> {
    let (sentinels, master, login) = match &target.servers {
        Servers::One(address) => return Ok(address.clone()),
        Servers::Sentinels { sentinels, master, login } => (sentinels, master, login),
    };
    let dialer = Dialer { login, db: 0, tls: target.tls.as_ref(), trust, timing };
    let unknown = |sentinel: &Address| FindError::UnknownMaster {
        sentinel: sentinel.clone(),
        master: master.clone(),
    };
    let count = sentinels.len();
    let first = usize::try_from(attempts).unwrap_or(0) % count.max(1);
    let mut failure = None;
    for sentinel in sentinels.iter().cycle().skip(first).take(count) {
        match ask(&dialer, sentinel, master).await {
            Ok(Some(address)) => return Ok(address),
            Ok(None) => failure = Some(unknown(sentinel)),
            Err(error) => failure = Some(error),
        }
    }
    // A target has at least one Sentinel, so there was a failure.
    Err(failure.unwrap_or_else(|| unknown(&Address { host: String::new(), port: 0 })))
}

async fn ask(
    dialer: &Dialer<'_>,
    sentinel: &Address,
    master: &str,
) -> Result<Option<Address>, FindError> {
    let mut commands = dialer
        .commands(sentinel)
        .await
        .map_err(|source| FindError::Dial { sentinel: sentinel.clone(), source })?;
    let mut question = redis::cmd("SENTINEL");
    question.arg("GET-MASTER-ADDR-BY-NAME").arg(master);
    let answer = question.query_async::<Option<(String, u16)>>(&mut commands.connection);
    match timeout(dialer.timing.answer, answer).await {
        Err(_) => Err(FindError::Silent(sentinel.clone())),
        Ok(Err(source)) => Err(FindError::Refused { sentinel: sentinel.clone(), source }),
        Ok(Ok(found)) => Ok(found.map(|(host, port)| Address { host, port })),
    }
}

/// Whether a server that Sentinels named takes itself for the master.
pub(super) async fn is_master(
    connection: &mut MultiplexedConnection,
    timing: &Timing,
) -> Result<(), RoleError> {
    let role = redis::cmd("ROLE");
    let answer = role.query_async::<Vec<Value>>(connection);
    let answer = timeout(timing.answer, answer).await.map_err(|_| RoleError::Silent)??;
    match answer.first() {
        Some(Value::BulkString(role)) if role == b"master" => Ok(()),
        _ => Err(RoleError::Replica),
    }
}
