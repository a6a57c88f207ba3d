//! A TCP proxy with faults that tests switch on and off.
//!
//! ```text
//! client ◄──► Proxy ◄──► server
//!               │
//!             Mode: pass, blackhole, delay, chop, reset, refuse
//! ```
//!
//! A blackhole forwards nothing and closes nothing: each side keeps an open connection on which
//! nothing happens, as after a firewall forgot it or a host lost its power. What was sent into it
//! arrives once the connection passes again, as it would by retransmission.

mod link;
mod mode;
mod seeded;
mod tunnels;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub use mode::{Direction, Mode};
pub use tunnels::Tunnels;

/// How long the proxy tries to reach the server.
const DIAL: Duration = Duration::from_secs(5);

/// A running proxy. Dropping it resets its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    task: JoinHandle<()>,
}

/// What the handle and the listener share.
#[derive(Debug)]
struct Shared {
    target: SocketAddr,
    /// For connections to come.
    mode: Mode,
    /// One for each connection that was made; closed ones are forgotten as new ones come.
    links: Vec<watch::Sender<Mode>>,
    /// How many there were.
    accepted: u64,
}

impl Proxy {
    /// Listens on a free port of this machine and forwards to `target`.
    pub async fn start(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Shared { target, mode: Mode::Pass, links: Vec::new(), accepted: 0 };
        let shared = Arc::new(Mutex::new(shared));
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    /// Where clients connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets what happens on every connection, open ones and new ones.
    pub fn set(&self, mode: Mode) {
        let mut shared = lock(&self.shared);
        shared.mode = mode;
        for link in &shared.links {
            link.send_replace(mode);
        }
    }

    /// Sets what happens on the connections that are open now; new ones are not affected.
    pub fn set_open(&self, mode: Mode) {
        for link in &lock(&self.shared).links {
            link.send_replace(mode);
        }
    }

    /// Forwards new connections to another server.
    pub fn retarget(&self, target: SocketAddr) {
        lock(&self.shared).target = target;
    }

    /// How many connections there were so far.
    pub fn accepted(&self) -> u64 {
        lock(&self.shared).accepted
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Mutex<Shared>>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((client, _)) = listener.accept().await else { continue };
        let (mode, target, number) = {
            let mut shared = lock(&shared);
            shared.accepted += 1;
            shared.links.retain(|link| link.receiver_count() > 0);
            let (link, mode) = watch::channel(shared.mode);
            shared.links.push(link);
            (mode, shared.target, shared.accepted)
        };
        connections.spawn(async move {
            if matches!(*mode.borrow(), Mode::Refuse | Mode::Reset) {
                return link::reset(&client);
            }
            let dialed = tokio::time::timeout(DIAL, TcpStream::connect(target)).await;
            match dialed {
                Ok(Ok(server)) => link::forward(client, server, mode, number).await,
                _ => link::reset(&client),
            }
        });
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
