//! Asks a server on this machine over plain HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What a server says to a GET: the body.
pub(crate) async fn get(address: impl Into<SocketAddr>, path: &str) -> Result<String> {
    let ask = async {
        let mut stream = TcpStream::connect(address.into()).await?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(5), ask).await??;
    let (head, body) = answer.split_once("\r\n\r\n").context("not an answer")?;
    let is_good = head.split(' ').nth(1).is_some_and(|code| code.starts_with('2'));
    ensure!(is_good, "{path}: {head}");
    Ok(body.to_owned())
}
