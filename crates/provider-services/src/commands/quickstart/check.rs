//! Whether what is shown is so.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::guide::Try;

/// How long a page or a command may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most of a page that is read.
const LARGEST: u64 = 1 << 20;

/// The page of a hostname, from wherever names lead to.
pub(super) async fn page(web: SocketAddr, host: &str) -> anyhow::Result<String> {
    let fetch = async {
        let mut stream = TcpStream::connect(web).await?;
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(LARGEST).read_to_string(&mut answer).await?;
        anyhow::Ok(answer)
    };
    let answer = tokio::time::timeout(PATIENCE, fetch).await.context("it does not answer")??;
    let (head, body) = answer.split_once("\r\n\r\n").context("it does not speak HTTP")?;
    let status = head.lines().next().unwrap_or_default();
    ensure!(status.contains(" 200 "), "it answers {status}");
    Ok(body.to_owned())
}

/// Whether there is a curl that knows that names below localhost are this machine, as it does since
/// 7.85; the simulated cluster answers to nothing else.
pub(super) async fn has_curl() -> bool {
    let output = Command::new("curl").arg("--version").stdin(Stdio::null()).output().await;
    let output = output.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let version = text.strip_prefix("curl ").and_then(|rest| rest.split_whitespace().next());
    let mut parts = version.unwrap_or_default().split('.').map_while(|part| part.parse().ok());
    (parts.next(), parts.next()) >= (Some(7_u32), Some(85_u32))
}

/// Runs a line in a new shell, as somebody would who copied it.
pub(super) async fn line(prepare: &str, tried: &Try) -> anyhow::Result<()> {
    let script = format!("{prepare}\n{}", tried.line);
    let mut command = Command::new("sh");
    command.args(["-c", &script]).stdin(Stdio::null()).kill_on_drop(true);
    let ran = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = ran.with_context(|| format!("`{}` does not end", tried.line))??;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` {}: {}", tried.line, output.status, said.trim_end());
    }
    ensure!(
        !output.stdout.is_empty() || !output.stderr.is_empty(),
        "`{}` says nothing",
        tried.line
    );
    Ok(())
}

/// A port that something would usually have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) port: u16,
    /// Who would have it.
    pub(super) whose: &'static str,
}

pub(super) const CHAIN: Usual = Usual { port: 26657, whose: "the chain" };
pub(super) const CHAIN_GRPC: Usual = Usual { port: 9090, whose: "the chain's gRPC" };
pub(super) const CHAIN_API: Usual = Usual { port: 1317, whose: "the chain's REST API" };
pub(super) const GATEWAY: Usual = Usual { port: 8443, whose: "the provider" };
pub(super) const GATEWAY_GRPC: Usual = Usual { port: 8444, whose: "the provider's gRPC" };
pub(super) const WEB: Usual = Usual { port: 8880, whose: "the simulated cluster" };

/// How often somebody else may be faster.
const TRIES: usize = 5;

impl Usual {
    /// The usual address if it is free now, and otherwise one that is.
    fn choose(self) -> std::io::Result<SocketAddr> {
        bind(self.port).or_else(|_| bind(0))
    }

    /// What to say of an address that was chosen, if it is not the usual one.
    pub(super) fn note(self, chosen: SocketAddr) -> Option<String> {
        let Self { port, whose } = self;
        let other = chosen.port();
        (other != port).then(|| format!("port {port} is in use: {whose} takes {other} instead"))
    }
}

/// Starts something on ports that are free. Between choosing one and taking it somebody else may
/// take it: then others are chosen.
pub(super) async fn start<T, const N: usize>(
    usual: [Usual; N],
    mut start: impl AsyncFnMut([SocketAddr; N]) -> anyhow::Result<T>,
) -> anyhow::Result<(T, [SocketAddr; N])> {
    let mut tries = 0;
    loop {
        let mut chosen = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
        for (address, usual) in chosen.iter_mut().zip(usual) {
            *address = usual.choose()?;
        }
        tries += 1;
        match start(chosen).await {
            Err(error) if is_taken(&error) && tries < TRIES => {}
            started => return started.map(|started| (started, chosen)),
        }
    }
}

/// Whether somebody else was faster.
fn is_taken(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::AddrInUse)
}

fn bind(port: u16) -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.local_addr()
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[tokio::test]
    async fn a_port_that_is_taken_is_avoided_and_named() {
        let mine = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let usual = Usual { port: mine.local_addr().unwrap().port(), whose: "a test" };
        let chosen = usual.choose().unwrap();
        assert_ne!(chosen.port(), usual.port);
        let note = usual.note(chosen).unwrap();
        assert!(note.starts_with(&format!("port {} is in use: a test takes ", usual.port)));
        drop(mine);
        assert_eq!(usual.note(usual.choose().unwrap()), None);
    }

    #[tokio::test]
    async fn who_was_not_fast_enough_tries_another() {
        let mut others = Vec::new();
        let (listener, [address]) = start([WEB], async |[address]| {
            if others.len() < 2 {
                // Somebody takes it at the last moment.
                others.push(TcpListener::bind(address));
            }
            TcpListener::bind(address).context("cannot listen")
        })
        .await
        .unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        let refused = start([WEB], async |_| anyhow::bail!("no")).await;
        assert_eq!(refused.map(|(never, _): ((), _)| never).unwrap_err().to_string(), "no");
    }
}
