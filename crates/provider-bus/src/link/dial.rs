//! A connection, TLS or not, within a bounded time.

use std::io;
use std::sync::Arc;

use akash_net::{TlsError, TlsFiles, Trust};
use akash_types::with_causes;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, RedisConnectionInfo, RedisError, Value};
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Timing;
use super::target::{Address, Login, Servers, Target};

/// How to connect to any server of a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialer<'a> {
    pub(super) login: &'a Login,
    pub(super) db: i64,
    pub(super) tls: Option<&'a TlsFiles>,
    pub(super) trust: &'a Trust,
    pub(super) timing: &'a Timing,
}

/// A connection for commands. Ends with it what drives it.
#[derive(Debug)]
pub(super) struct Commands {
    pub(super) connection: MultiplexedConnection,
    _driver: JoinSet<()>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("it does not accept connections ({})", with_causes(.0))]
    Connect(io::Error),
    #[error("no connection within {} ms", .0.dial.as_millis())]
    TooSlow(Timing),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("its host cannot be the name in a certificate")]
    Name(#[from] InvalidDnsNameError),
    #[error("the TLS handshake failed ({})", with_causes(.0))]
    Handshake(io::Error),
    #[error("it refused the login")]
    Login(#[from] RedisError),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Dialer<'_> {
    pub(super) async fn commands(&self, to: &Address) -> Result<Commands, DialError> {
        self.in_time(async {
            let stream = self.stream(to).await?;
            // Answers are waited for by those who ask, within their own time.
            let config = AsyncConnectionConfig::new().set_response_timeout(None);
            let (connection, driver) =
                MultiplexedConnection::new_with_config(&self.greeting(), stream, config).await?;
            let mut tasks = JoinSet::new();
            tasks.spawn(driver);
            Ok(Commands { connection, _driver: tasks })
        })
        .await
    }

    pub(super) async fn announcements(&self, to: &Address) -> Result<PubSub, DialError> {
        self.in_time(async {
            let stream = self.stream(to).await?;
            Ok(PubSub::new(&self.greeting(), stream).await?)
        })
        .await
    }

    async fn in_time<T>(
        &self,
        dialing: impl Future<Output = Result<T, DialError>>,
    ) -> Result<T, DialError> {
        let late = || DialError::TooSlow(*self.timing);
        timeout(self.timing.dial, dialing).await.unwrap_or_else(|_| Err(late()))
    }

    async fn stream(&self, to: &Address) -> Result<Box<dyn Stream>, DialError> {
        let tcp =
            TcpStream::connect((to.host.as_str(), to.port)).await.map_err(DialError::Connect)?;
        tcp.set_nodelay(true).map_err(DialError::Connect)?;
        let Some(files) = self.tls else { return Ok(Box::new(tcp)) };
        let name = ServerName::try_from(to.host.clone())?;
        let connector = TlsConnector::from(Arc::new(files.configure(self.trust)?));
        let tls = connector.connect(name, tcp).await.map_err(DialError::Handshake)?;
        Ok(Box::new(tls))
    }

    fn greeting(&self) -> RedisConnectionInfo {
        let mut greeting = RedisConnectionInfo::default().set_db(self.db);
        if let Some(user) = &self.login.user {
            greeting = greeting.set_username(user);
        }
        if let Some(password) = &self.login.password {
            greeting = greeting.set_password(password);
        }
        greeting
    }
}

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
