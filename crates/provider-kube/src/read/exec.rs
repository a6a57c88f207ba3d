//! A command in a container.

use std::time::Duration;

use akash_types::LeaseId;
use futures_util::SinkExt;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::Client;
use kube::api::{Api, AttachParams, AttachedProcess, TerminalSize};
use kube_access::Failure;
use provider_engine::cluster::port::{
    ExecFailure, ExecInput, ExecOutput, ExecRequest, Input, Missing, Output, ReadFailure, Terminal,
};
use provider_engine::cluster::view::Condition;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::Look;
use crate::observe::condition;
use crate::watch::Shared;

/// Parts that may wait in either direction.
const WAITING: usize = 8;
/// Bytes in one part.
const PART: usize = ExecInput::PART;
/// How long to wait for the first that is heard of a command, which may be that it does not exist:
/// nobody says that one was started. Longer where nothing can be sent to it meanwhile.
const START: (Duration, Duration) = (Duration::from_millis(700), Duration::from_secs(3));

#[derive(Debug)]
pub struct KubeInput(mpsc::Sender<ExecInput>);

impl Input for KubeInput {
    async fn send(&mut self, input: ExecInput) -> bool {
        self.0.send(input).await.is_ok()
    }
}

#[derive(Debug)]
pub struct KubeOutput {
    first: Option<ExecOutput>,
    parts: mpsc::Receiver<ExecOutput>,
    is_over: bool,
}

impl Output for KubeOutput {
    async fn next(&mut self) -> ExecOutput {
        let over = |why: &str| ExecOutput::Broken(why.to_owned());
        if self.is_over {
            return over("the command has ended already");
        }
        let part = match self.first.take() {
            Some(first) => first,
            None => {
                let part = self.parts.recv().await;
                part.unwrap_or_else(|| over("the connection to the container was lost"))
            }
        };
        self.is_over = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
        part
    }
}

pub(crate) async fn exec(
    streams: &Client,
    shared: &Shared,
    id: LeaseId,
    request: ExecRequest,
) -> Result<(KubeInput, KubeOutput), ExecFailure> {
    let look = Look::at(shared, id).and_then(Look::deployed).map_err(unread)?;
    let pod = choose(&look, &request)?;
    let api: Api<Pod> = Api::namespaced(streams.clone(), &look.lease.namespace);
    let how = AttachParams {
        container: Some(request.service.clone()),
        stdin: request.stdin,
        stdout: true,
        stderr: request.terminal.is_none(),
        tty: request.terminal.is_some(),
        max_stdin_buf_size: Some(PART),
        max_stdout_buf_size: Some(PART),
        max_stderr_buf_size: Some(PART),
    };
    let process = api.exec(&pod, request.command.clone(), &how).await.map_err(|error| {
        let failure = Failure::from(error);
        shared.doubts(&failure);
        match failure {
            Failure::NotFound(why) => ExecFailure::NotRunning(why),
            Failure::Refused(why) => ExecFailure::Refused(why),
            Failure::Conflict(why) | Failure::Unavailable { why, .. } => {
                ExecFailure::Unavailable(why)
            }
        }
    })?;
    let (input, inputs) = mpsc::channel(WAITING);
    let (outputs, parts) = mpsc::channel(WAITING);
    tokio::spawn(run(process, request.terminal, inputs, outputs));
    let mut output = KubeOutput { first: None, parts, is_over: false };
    let is_sent_to = request.stdin || request.terminal.is_some();
    let wait = if is_sent_to { START.0 } else { START.1 };
    output.first = tokio::time::timeout(wait, output.parts.recv()).await.ok().flatten();
    match &output.first {
        Some(ExecOutput::Broken(why)) if is_no_such_command(why) => {
            let command = request.command.first().cloned().unwrap_or_default();
            Err(ExecFailure::NoSuchCommand(command))
        }
        _ => Ok((KubeInput(input), output)),
    }
}

/// The pod that is meant.
fn choose(look: &Look, request: &ExecRequest) -> Result<String, ExecFailure> {
    let service = request.service.as_str();
    if !look.lease.services.iter().any(|known| known.name() == service) {
        return Err(ExecFailure::NotFound(Missing::Service(service.to_owned())));
    }
    let pods: Vec<&Pod> = look.pods(service).collect();
    let is_ready = |pod: &&&Pod| condition(pod) == Condition::Ready;
    let chosen = match request.replica {
        None => pods.iter().find(is_ready).or(pods.first()),
        Some(asked) => {
            let existing = u32::try_from(pods.len()).unwrap_or(u32::MAX);
            let index = usize::try_from(asked).unwrap_or(usize::MAX);
            let missing = ExecFailure::NoSuchReplica { asked, existing };
            Some(pods.get(index).ok_or(missing)?)
        }
    };
    let none = || ExecFailure::NotRunning("the cluster has not made its pods yet".to_owned());
    let pod = chosen.ok_or_else(none)?;
    match condition(pod) {
        Condition::Ready => Ok(pod.metadata.name.clone().unwrap_or_default()),
        Condition::Starting => Err(ExecFailure::NotRunning("its container is starting".to_owned())),
        Condition::Ending => Err(ExecFailure::NotRunning("it was told to end".to_owned())),
        Condition::Unschedulable(why) | Condition::Failing(why) => {
            Err(ExecFailure::NotRunning(why))
        }
    }
}

fn unread(failure: ReadFailure) -> ExecFailure {
    match failure {
        ReadFailure::NotFound(missing) => ExecFailure::NotFound(missing),
        ReadFailure::Unavailable(why) => ExecFailure::Unavailable(why),
        ReadFailure::Refused(why) => ExecFailure::Refused(why),
    }
}

/// Moves what goes in and what comes out, until the command has ended or nobody reads it.
async fn run(
    mut process: AttachedProcess,
    terminal: Option<Terminal>,
    inputs: mpsc::Receiver<ExecInput>,
    outputs: mpsc::Sender<ExecOutput>,
) {
    let (stdin, sizes) = (process.stdin(), process.terminal_size());
    let (stdout, stderr) = (process.stdout(), process.stderr());
    let status = process.take_status();
    let output = async {
        tokio::join!(
            copy(stdout, &outputs, ExecOutput::Stdout),
            copy(stderr, &outputs, ExecOutput::Stderr)
        );
        let status = match status {
            Some(status) => status.await,
            None => None,
        };
        let _ = outputs.send(end(status.as_ref())).await;
    };
    // Dropping the process ends it.
    tokio::select! {
        () = output => {}
        () = outputs.closed() => {}
        () = feed(stdin, sizes, terminal, inputs) => {}
    }
}

async fn copy(
    from: Option<impl AsyncRead + Unpin>,
    to: &mpsc::Sender<ExecOutput>,
    part: fn(Vec<u8>) -> ExecOutput,
) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; PART];
    while let Ok(read) = from.read(&mut buffer).await {
        let bytes = buffer.get(..read).unwrap_or_default().to_vec();
        if bytes.is_empty() || to.send(part(bytes)).await.is_err() {
            return;
        }
    }
}

/// Passes on what is sent. Never ends: a command goes on when nothing is sent any more.
async fn feed(
    mut stdin: Option<impl tokio::io::AsyncWrite + Unpin>,
    mut sizes: Option<impl futures_util::Sink<TerminalSize> + Unpin>,
    terminal: Option<Terminal>,
    mut inputs: mpsc::Receiver<ExecInput>,
) {
    let size = |size: Terminal| TerminalSize { width: size.width, height: size.height };
    if let (Some(terminal), Some(sizes)) = (terminal, &mut sizes) {
        let _ = sizes.send(size(terminal)).await;
    }
    loop {
        match inputs.recv().await {
            Some(ExecInput::Stdin(bytes)) => {
                if let Some(stdin) = &mut stdin {
                    let _ = stdin.write_all(&bytes).await;
                }
            }
            Some(ExecInput::Resize(terminal)) => {
                if let Some(sizes) = &mut sizes {
                    let _ = sizes.send(size(terminal)).await;
                }
            }
            Some(ExecInput::EndOfStdin) | None => {
                if let Some(mut stdin) = stdin.take() {
                    let _ = stdin.shutdown().await;
                }
                if inputs.is_closed() && inputs.is_empty() {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

fn end(status: Option<&Status>) -> ExecOutput {
    let Some(status) = status else {
        return ExecOutput::Broken("the connection to the container was lost".to_owned());
    };
    if status.status.as_deref() == Some("Success") {
        return ExecOutput::Exit(0);
    }
    let details = status.details.as_ref();
    let causes = details.and_then(|details| details.causes.as_ref()).into_iter().flatten();
    let code = causes.filter(|cause| cause.reason.as_deref() == Some("ExitCode"));
    let code = code.filter_map(|cause| cause.message.as_ref()?.parse().ok()).next();
    match code {
        Some(code) => ExecOutput::Exit(code),
        None => ExecOutput::Broken(status.message.clone().unwrap_or_default()),
    }
}

/// Whether container runtimes mean by it that there is no such program.
fn is_no_such_command(why: &str) -> bool {
    why.contains("executable file not found")
        || (why.contains("exec") && why.contains("no such file or directory"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_command_ends_as_the_api_server_says() {
        let ended = |status: Value| end(Some(&serde_json::from_value(status).unwrap()));
        assert_eq!(ended(json!({"status": "Success"})), ExecOutput::Exit(0));
        assert_eq!(
            ended(json!({"status": "Failure", "reason": "NonZeroExitCode",
                "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}})),
            ExecOutput::Exit(3)
        );
        let broken = ended(json!({"status": "Failure", "message": "no room"}));
        assert_eq!(broken, ExecOutput::Broken("no room".to_owned()));
        assert!(matches!(end(None), ExecOutput::Broken(_)));
    }

    #[test]
    fn a_missing_program_is_told_from_other_failures() {
        for (why, is_missing) in [
            (
                "error executing command in container: failed to exec in container: failed to \
                 start exec \"1\": OCI runtime exec failed: exec failed: unable to start container \
                 process: exec: \"nope\": executable file not found in $PATH",
                true,
            ),
            ("exec: \"/bin/nope\": stat /bin/nope: no such file or directory", true),
            ("the node does not answer", false),
        ] {
            assert_eq!(is_no_such_command(why), is_missing, "{why}");
        }
    }
}
