//! Starting and stopping.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::{session, web};
use crate::core::{ClusterSpec, Settings, SimCluster};
use crate::driver::{Clock, SimDriver};
use crate::store::{Store, StoreError};

/// Wait after a failed accept: it is a lack of file descriptors, and does not go away at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub state: PathBuf,
    /// Where its driver connects to; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where its workloads seem to answer; port 0 takes a free one.
    pub http: SocketAddr,
    pub spec: ClusterSpec,
    pub settings: Settings,
    pub seed: u64,
}

/// Why it does not start, or has stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(
        "{0} is not a loopback address: whoever reaches it controls the cluster; use 127.0.0.1"
    )]
    NotLoopback(SocketAddr),
    #[error("listening on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the simulated cluster has stopped")]
    Stopped,
}

/// A running cluster. Dropping it stops it as a crash would; nothing that was promised is lost.
#[derive(Debug)]
pub struct Server {
    listen: SocketAddr,
    http: SocketAddr,
    leases: usize,
    driver: SimDriver,
    task: JoinHandle<Result<(), ServerError>>,
}

impl Server {
    /// Starts a cluster, with all that its file says was there.
    ///
    /// When a port is taken, an address is not loopback, or the file cannot be used.
    pub async fn start(config: ServerConfig) -> Result<Self, ServerError> {
        for address in [config.listen, config.http] {
            if !address.ip().is_loopback() {
                return Err(ServerError::NotLoopback(address));
            }
        }
        let (store, kept) = Store::open(&config.state)?;
        let leases = kept.leases.len();
        let (listener, listen) = bind(config.listen).await?;
        let (http_listener, http) = bind(config.http).await?;
        let clock = Clock::of_day();
        let cluster = SimCluster::restore(
            config.spec,
            Settings { uid: kept.uid.map(Into::into), ..config.settings },
            config.seed,
            clock.now(),
            kept.maintenance,
            kept.leases,
        );
        let (driver, owner) = SimDriver::start_kept(cluster, clock, Some(store));
        let sessions = accept(listener, {
            let driver = driver.clone();
            move |stream| session::serve(stream, driver.clone())
        });
        let pages = accept(http_listener, {
            let driver = driver.clone();
            move |stream| web::serve(stream, driver.clone())
        });
        let task = tokio::spawn(async move {
            tokio::select! {
                ended = owner => match ended {
                    Ok(result) => result.map_err(ServerError::Store),
                    Err(_) => Err(ServerError::Stopped),
                },
                () = sessions => Err(ServerError::Stopped),
                () = pages => Err(ServerError::Stopped),
            }
        });
        Ok(Self { listen, http, leases, driver, task })
    }

    /// Where its driver connects to.
    pub const fn address(&self) -> SocketAddr {
        self.listen
    }

    /// Where its workloads seem to answer.
    pub const fn http_address(&self) -> SocketAddr {
        self.http
    }

    /// How many leases its file brought back.
    pub const fn leases_restored(&self) -> usize {
        self.leases
    }

    /// The cluster itself, for who is in the same process.
    pub fn driver(&self) -> SimDriver {
        self.driver.clone()
    }

    /// Waits until it stops by itself, which it does only when something is wrong.
    pub async fn ended(&mut self) -> Result<(), ServerError> {
        (&mut self.task).await.unwrap_or(Err(ServerError::Stopped))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServerError> {
    let failed = |source| ServerError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Serves each connection in a task of its own, until it is dropped, which ends them all.
async fn accept<F>(listener: TcpListener, serve: impl Fn(tokio::net::TcpStream) -> F + Send)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(serve(stream))),
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}
