//! Whether what is shown is so.

use std::net::SocketAddr;
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
