//! `lease-shell`: a command in a container.
//!
//! ```text
//! stdin (a thread) ─┐
//! window (a signal) ┴─► frames ─► provider ─► frames ─► stdout, stderr, the result
//! ```

use std::io::{Read, stdin};
use std::process::ExitCode;

use anyhow::{Context, bail};
use bytes::Bytes;
use clap::Args;
use provider_api::client::{Shell, ShellInput, ShellOutput};
use provider_api::query::ShellParams;
use provider_api::stream::{ClientFrame, ServerFrame, ShellResult};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::args::{LeaseOf, ProviderFlags};
use super::asker::Tenant;
use super::refusal::refused;
use crate::console::Streams;
use crate::output::printable;
use crate::surroundings::Surroundings;

pub(super) const HELP: &str = "\
A command with flags of its own stands after --, service included.

Examples:
  provider-services lease-shell web ls --dseq 101 --from tenant
  provider-services lease-shell --tty --dseq 101 --from tenant web sh
  provider-services lease-shell --dseq 101 --from tenant -- web sh -c 'ls -l /tmp'
  echo hello | provider-services lease-shell --stdin --dseq 101 --from tenant web cat";

/// Arguments of `lease-shell`.
#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// The command; a single word is split at its spaces
    #[arg(value_name = "COMMAND", required = true)]
    command: Vec<String>,
    /// Pass on standard input
    #[arg(long)]
    stdin: bool,
    /// Run it on a terminal, which implies --stdin
    #[arg(long)]
    tty: bool,
    /// In which replica, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    replica_index: u32,
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
}

pub(super) async fn run(
    args: &ShellArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    if args.tty && !streams.console.is_terminal() {
        bail!("input is not a terminal, cannot setup TTY");
    }
    let command = match args.command.as_slice() {
        [single] => split(single),
        several => several.to_vec(),
    };
    if command.is_empty() {
        bail!("the command is empty; give the program to run and its arguments");
    }
    let tenant =
        Tenant::open(&args.lease.deployment, &args.provider, surroundings, streams.console)?;
    let lease = tenant.lease(&args.lease).await?;
    let client = tenant.client(lease.provider()).await?;
    let params = ShellParams {
        command,
        service: args.service.clone(),
        replica: args.replica_index,
        tty: args.tty,
        stdin: args.stdin || args.tty,
    };
    let shell = client.shell(lease, &params).await.map_err(|error| refused(error, streams))?;
    match talk(shell, &params, streams).await? {
        Ended::Signal(name) => {
            streams.tell(&format!("\nhalted by signal: {name}\n"));
            Ok(ExitCode::SUCCESS)
        }
        Ended::Result(result) => verdict(&result).map(|()| ExitCode::SUCCESS),
        Ended::Failure => bail!("lease shell failed: the provider encountered an unknown error"),
        Ended::Lost(reason) => {
            bail!("lease shell failed: the connection ended before the command did{reason}")
        }
    }
}

/// How a command ended, as far as this side knows.
enum Ended {
    Result(ShellResult),
    Failure,
    /// The connection did; why, to stand at the end of a line.
    Lost(String),
    /// Somebody here had enough.
    Signal(&'static str),
}

fn verdict(result: &ShellResult) -> anyhow::Result<()> {
    match (result.message.as_str(), result.exit_code) {
        ("", 0) => Ok(()),
        ("", code) => bail!("lease shell failed: remote process exited with code {code}"),
        (message, _) => bail!("lease shell failed: {}", printable(message)),
    }
}

async fn talk(
    shell: Shell,
    params: &ShellParams,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Ended> {
    let Shell { mut input, output } = shell;
    // Given back when this ends, however it does.
    let _raw = if params.tty { Some(Raw::enter()?) } else { None };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let ended = tokio::select! {
        ended = read(output, streams) => return ended,
        never = write(&mut input, params) => match never? {},
        _ = interrupt.recv() => Ended::Signal("interrupt"),
        _ = terminate.recv() => Ended::Signal("terminated"),
    };
    input.close().await;
    Ok(ended)
}

/// Prints what the command writes, until it ends.
async fn read(mut output: ShellOutput, streams: &mut Streams<'_>) -> anyhow::Result<Ended> {
    loop {
        match output.next().await? {
            Ok(ServerFrame::Stdout(bytes)) => {
                streams.stdout.write_all(&bytes)?;
                streams.stdout.flush()?;
            }
            Ok(ServerFrame::Stderr(bytes)) => {
                streams.stderr.write_all(&bytes)?;
                streams.stderr.flush()?;
            }
            Ok(ServerFrame::Result(result)) => return Ok(Ended::Result(result)),
            Ok(ServerFrame::Failure) => return Ok(Ended::Failure),
            Err(end) => {
                let reason = printable(&end.reason);
                let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
                return Ok(Ended::Lost(reason));
            }
        }
    }
}

/// Sends what is typed and how large the window is; never ends by itself.
async fn write(
    input: &mut ShellInput,
    params: &ShellParams,
) -> anyhow::Result<std::convert::Infallible> {
    let mut typed = params.stdin.then(typed);
    let mut resized = signal(SignalKind::window_change())?;
    if params.tty {
        resize(input).await?;
    }
    loop {
        let frame = tokio::select! {
            Some(()) = resized.recv(), if params.tty => {
                resize(input).await?;
                continue;
            }
            bytes = next(&mut typed) => bytes,
        };
        match frame {
            Some(bytes) => input.send(&ClientFrame::Stdin(bytes)).await?,
            None => {
                typed = None;
                input.send(&ClientFrame::EndOfStdin).await?;
            }
        }
    }
}

/// What is typed next; nothing ever comes where nothing is passed on.
async fn next(typed: &mut Option<Typed>) -> Option<bytes::Bytes> {
    match typed {
        Some(typed) => typed.recv().await,
        None => std::future::pending().await,
    }
}

async fn resize(input: &mut ShellInput) -> anyhow::Result<()> {
    if let Some((width, height)) = size() {
        input.send(&ClientFrame::Resize { width, height }).await?;
    }
    Ok(())
}

/// Largest piece that is sent at once, as in the Go program.
const PIECE: usize = 4096;
/// How many pieces may wait.
const WAITING: usize = 16;

/// Pieces as they are typed; `None` at the end of input.
type Typed = mpsc::Receiver<Bytes>;

/// Reads standard input on a thread of its own, which nobody waits for: a read cannot be ended.
fn typed() -> Typed {
    let (to, typed) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut piece = vec![0; PIECE];
        loop {
            let count = match stdin.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            let bytes = Bytes::copy_from_slice(piece.get(..count).unwrap_or_default());
            if to.blocking_send(bytes).is_err() {
                return;
            }
        }
    });
    typed
}

/// A terminal that passes on what is typed as it is; dropped, it is as it was.
struct Raw {
    before: Termios,
}

impl Raw {
    fn enter() -> anyhow::Result<Self> {
        let before = tcgetattr(stdin()).context("input is not a terminal, cannot setup TTY")?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw).context("cannot change the terminal")?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to give back.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdin()).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// Splits at spaces, except between double quotes, as the Go program does.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_as_the_go_program_does() {
        let result = |exit_code, message: &str| {
            verdict(&ShellResult { exit_code, message: message.to_owned() })
                .map_err(|error| error.to_string())
        };
        assert_eq!(result(0, ""), Ok(()));
        let code = "lease shell failed: remote process exited with code 3";
        assert_eq!(result(3, ""), Err(code.to_owned()));
        let message = "lease shell failed: kube: no service for that lease";
        assert_eq!(result(0, "kube: no service for that lease"), Err(message.to_owned()));
    }

    #[test]
    fn spaces_split_unless_quoted() {
        for (command, wanted) in [
            ("ls", &["ls"][..]),
            ("ls  -l /tmp", &["ls", "-l", "/tmp"]),
            (r#"sh -c "echo a b""#, &["sh", "-c", "echo a b"]),
            (r#"echo "" x"#, &["echo", "", "x"]),
            ("", &[]),
        ] {
            assert_eq!(split(command), wanted, "{command}");
        }
    }
}
