//! A connection, TLS or not, within a bounded time.

use std::io;
use std::sync::Arc;

use akash_net::{TlsError, TlsFiles, Trust};
use akash_types::with_causes;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, RedisConnectionInfo, RedisError};
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Timing;
use super::target::{Address, Login};

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
