//! An HTTP proxy that makes tunnels and counts them.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// The longest head of a request that is read.
const LONGEST_HEAD: usize = 8 * 1024;

/// An HTTP proxy for `CONNECT` to targets by names (`host:port`) that it alone knows. Everything
/// else gets 403. Dropping it ends its tunnels.
#[derive(Debug)]
pub struct Tunnels {
    address: SocketAddr,
    counts: Counts,
    task: JoinHandle<()>,
}

type Counts = Arc<Mutex<BTreeMap<String, usize>>>;

impl Tunnels {
    /// Starts one that leads to these targets.
    pub async fn start(targets: BTreeMap<String, SocketAddr>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let counts = Counts::default();
        let counted = Arc::clone(&counts);
        let task = tokio::spawn(async move {
            let mut tunnels = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                tunnels.spawn(tunnel(stream, targets.clone(), Arc::clone(&counted)));
                while tunnels.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, counts, task })
    }

    /// Its address, as a variable of the environment names it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many tunnels to a target were made.
    pub fn count(&self, target: &str) -> usize {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(target).copied().unwrap_or_default()
    }
}

impl Drop for Tunnels {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn tunnel(
    mut stream: TcpStream,
    targets: BTreeMap<String, SocketAddr>,
    counts: Counts,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next());
    let known = target.and_then(|name| Some((name, targets.get(name)?)));
    let Some((name, to)) = known else {
        return stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    };
    let mut server = TcpStream::connect(to).await?;
    {
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    tokio::io::copy_bidirectional(&mut stream, &mut server).await.map(drop)
}
