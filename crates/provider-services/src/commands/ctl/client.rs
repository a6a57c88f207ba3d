//! One question to the provider's socket, and its answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provider_daemon::ctl::wire::{LONGEST_LINE, Request, Response};

/// Longer than the provider takes for anything else: it gives up waiting for a manifest after 150
/// seconds, and says so.
const PATIENCE: Duration = Duration::from_secs(170);
/// Longer than a probe takes: older pods go, new ones pull their image, run and connect.
const PROBE_PATIENCE: Duration = Duration::from_secs(360);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error(
        "no provider listens at {}: start it with `provider-services run`, or give its --home or \
         --socket", .0.display()
    )]
    NotRunning(PathBuf),
    #[error("{} may not be used by this user: be the one that runs the provider, or root", .0.display())]
    NotAllowed(PathBuf),
    #[error("the provider did not answer within {} seconds; try again, or look at its log", .0.as_secs())]
    Silent(Duration),
    #[error("the provider hung up; look at its log")]
    HungUp,
    #[error("the provider's answer cannot be read; is it of another version?")]
    Unreadable(#[from] serde_json::Error),
    #[error("cannot talk to the provider at {}", .path.display())]
    Talk { path: PathBuf, source: io::Error },
}

/// Asks, and waits for the answer.
pub(super) fn ask(socket: &Path, request: &Request) -> Result<Response, AskError> {
    let patience = match request {
        Request::ProbeIsolation { .. } => PROBE_PATIENCE,
        _ => PATIENCE,
    };
    let talk = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            AskError::NotRunning(socket.to_owned())
        }
        io::ErrorKind::PermissionDenied => AskError::NotAllowed(socket.to_owned()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AskError::Silent(patience),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => AskError::HungUp,
        _ => AskError::Talk { path: socket.to_owned(), source },
    };
    let mut stream = UnixStream::connect(socket).map_err(talk)?;
    stream.set_read_timeout(Some(patience)).map_err(talk)?;
    stream.set_write_timeout(Some(patience)).map_err(talk)?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    // Who is refused is told so without being listened to, so the answer is read in any case.
    let written = stream.write_all(&line);
    let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
    let mut answer = Vec::new();
    BufReader::new(stream.take(most)).read_until(b'\n', &mut answer).map_err(talk)?;
    if answer.is_empty() {
        written.map_err(talk)?;
        return Err(AskError::HungUp);
    }
    Ok(serde_json::from_slice(&answer)?)
}
