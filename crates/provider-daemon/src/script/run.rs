//! One run of the script.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use provider_engine::order::pricing::{ScriptFailure, ScriptRequest};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::ScriptSettings;

/// How long after its end what it wrote is waited for. Only something that left its process group
/// could still hold the pipe open.
const REST: Duration = Duration::from_millis(250);

type Printed = Result<Vec<u8>, ScriptFailure>;

/// Runs the script once; says what it printed and the end of its complaints.
pub(super) async fn run(settings: &ScriptSettings, request: ScriptRequest) -> (Printed, String) {
    let path = settings.path.display();
    let not_run = |error: std::io::Error| {
        let advice = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "; make it executable with chmod +x",
            std::io::ErrorKind::NotFound => {
                "; it must be there, and so must the interpreter that its first line names"
            }
            _ => "",
        };
        ScriptFailure::NotRun(format!("{path}: {error}{advice}"))
    };
    let mut child = match command(settings, &request).spawn() {
        Ok(child) => child,
        Err(error) => return (Err(not_run(error)), String::new()),
    };
    let Some(group) = child.id().and_then(Group::led_by) else {
        return (Err(ScriptFailure::NotRun(format!("{path} has no process"))), String::new());
    };
    let mut heard = Heard::default();
    let end = watch(settings, request, &mut child, &group, &mut heard).await;
    // Killed before its status is fetched: until then the number of the group is its own.
    drop(group);
    let status = child.wait().await;
    let stderr = String::from_utf8_lossy(&heard.stderr).trim().to_owned();
    let result = match (end, status) {
        (End::TimedOut, _) => Err(ScriptFailure::TimedOut),
        (End::TooMuch, _) => {
            let status = format!("more than {STDOUT} bytes of output");
            Err(ScriptFailure::Failed { status, stderr: stderr.clone() })
        }
        (End::Exited, Ok(status)) if status.success() => Ok(heard.stdout),
        (End::Exited, Ok(status)) => {
            let status = words(status);
            Err(ScriptFailure::Failed { status, stderr: stderr.clone() })
        }
        (End::Exited, Err(error)) => {
            let status = format!("an unknown status ({error})");
            Err(ScriptFailure::Failed { status, stderr: stderr.clone() })
        }
    };
    (result, stderr)
}

fn command(settings: &ScriptSettings, request: &ScriptRequest) -> Command {
    let mut command = Command::new(&settings.path);
    command
        .env_clear()
        .envs(settings.environment.iter().map(|(name, value)| (name, value)))
        .envs(request.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

#[derive(Default)]
struct Heard {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

enum End {
    /// It ended by itself.
    Exited,
    TimedOut,
    TooMuch,
}

/// Feeds the script and listens to it until it ends or must be ended.
async fn watch(
    settings: &ScriptSettings,
    request: ScriptRequest,
    child: &mut Child,
    group: &Group,
    heard: &mut Heard,
) -> End {
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let Heard { stdout, stderr } = heard;
    let talk = async {
        let feed = async {
            if let Some(stdin) = stdin {
                give(stdin, request.stdin.as_bytes()).await;
            }
            Ok(())
        };
        let out = async {
            match out {
                Some(out) => read_all(out, stdout).await,
                None => Ok(()),
            }
        };
        let err = async {
            if let Some(err) = err {
                read_tail(err, stderr).await;
            }
            Ok(())
        };
        tokio::try_join!(feed, out, err).map(|_| ())
    };
    tokio::pin!(talk);
    let ended = async {
        // Whoever closes its output need not have ended, and whoever ended may have left something
        // behind that holds it open: both are waited for, within limits.
        tokio::select! {
            said = &mut talk => {
                said?;
                group.leader_ended().await;
                Ok(())
            }
            () = group.leader_ended() => {
                group.kill();
                tokio::time::timeout(REST, &mut talk).await.unwrap_or(Ok(()))
            }
        }
    };
    match tokio::time::timeout(settings.time_limit, ended).await {
        Ok(Ok(())) => End::Exited,
        Ok(Err(TooMuch)) => End::TooMuch,
        Err(_) => End::TimedOut,
    }
}

fn words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The group that a process leads. Dropping it kills everything in it.
#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    /// The group of a process that was started as the leader of one.
    pub(super) fn led_by(leader: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(leader).ok()?).map(Self)
    }

    /// Waits until the leader has ended, and leaves it to somebody else to fetch its status: until
    /// then nobody else can get its number, and killing the group kills nothing else.
    pub(super) async fn leader_ended(&self) {
        let leader = self.0;
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
        };
        // A panic there would mean that nobody waited: the status is fetched all the same.
        let _ = tokio::task::spawn_blocking(wait).await;
    }

    /// Kills everything in it, at once.
    pub(super) fn kill(&self) {
        // It may be empty already.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Most bytes of standard output. A price takes twenty.
pub(super) const STDOUT: usize = 64 * 1024;

/// Bytes of standard error that are kept: the last ones say why.
pub(super) const STDERR: usize = 4 * 1024;

/// Gives the script its input. One that does not read it may know its price all the same.
pub(super) async fn give(mut to: impl AsyncWrite + Unpin, input: &[u8]) {
    let _ = to.write_all(input).await;
    let _ = to.shutdown().await;
}

/// More came than is allowed.
#[derive(Debug)]
pub(super) struct TooMuch;

/// Reads to the end into `kept`, which holds what came so far whenever this is dropped.
pub(super) async fn read_all(
    mut from: impl AsyncRead + Unpin,
    kept: &mut Vec<u8>,
) -> Result<(), TooMuch> {
    let mut piece = [0; 4096];
    while let Some(new) = read_some(&mut from, &mut piece).await {
        kept.extend_from_slice(new);
        if kept.len() > STDOUT {
            return Err(TooMuch);
        }
    }
    Ok(())
}

/// The same, keeping only the end.
pub(super) async fn read_tail(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let mut piece = [0; 4096];
    while let Some(new) = read_some(&mut from, &mut piece).await {
        kept.extend_from_slice(new);
        let excess = kept.len().saturating_sub(STDERR);
        kept.drain(..excess);
    }
}

/// Some bytes; `None` at the end, or when there is nothing more to be had.
async fn read_some<'p>(
    from: &mut (impl AsyncRead + Unpin),
    piece: &'p mut [u8],
) -> Option<&'p [u8]> {
    loop {
        return match from.read(piece).await {
            Ok(0) => None,
            Ok(count) => piece.get(..count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => None,
        };
    }
}
