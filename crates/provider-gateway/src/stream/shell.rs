//! A command in a container.
//!
//! ```text
//! upgrade ─► is a replica ready? ─► exec ─► frames both ways ─► result ─► farewell
//! ```
//!
//! What the client sends is cut into parts, which wait in a short queue for the command to read
//! them; while that is full nothing more is taken from the socket. What the command writes waits
//! for the client in the same way. The client's farewell ends the command.

use std::collections::VecDeque;

use http::StatusCode;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_api::query::{Query, ShellParams};
use provider_api::stream::{ClientFrame, CloseCode, ServerFrame, ShellResult};
use provider_engine::cluster::port::{
    Cluster, ExecFailure, ExecInput, ExecOutput, ExecRequest, Input, Missing, Output, ReadFailure,
    Terminal,
};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use super::Allowed;
use super::socket::{Gone, Happened, Socket};
use super::watch::{Ending, LeaseWatch};
use crate::Gateway;
use crate::auth::{LeaseRef, Request};
use crate::port::Provider;
use crate::rest::{Answer, Failure};
use crate::turns::Turns;

/// Largest message of a client.
const LARGEST: usize = 128 << 10;
/// How many parts of what a client sent may wait for the command, besides one message.
const WAITING: usize = 4;
/// The size of a terminal until the client says its own.
const TERMINAL: Terminal = Terminal { width: 80, height: 24 };

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(crate) async fn shell(
        &self,
        lease: Result<LeaseRef, Failure>,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let asked = lease.map(|lease| Request::Shell(lease, query.get("service")));
        let grant = self.authorizer.authorize(parts, asked).await?;
        let found = self.allowed(grant, &parts.extensions);
        let params = ShellParams::read(&query).ok_or_else(|| {
            let text = "cmd0, tty, service, stdin and podIndex are needed";
            Failure::empty(StatusCode::BAD_REQUEST, ErrorCode::BadParameter, text)
        })?;
        let of = found.as_ref().map(|found| found.lease);
        self.open(parts, of, LARGEST, |gateway, socket| gateway.run_shell(socket, found, params))
    }

    async fn run_shell(self, mut socket: Socket, found: Option<Allowed>, params: ShellParams) {
        let end = match found {
            None => Ok(no_lease()),
            Some(allowed) => self.command(&mut socket, allowed, params).await,
        };
        if let Ok((frame, code, reason)) = end
            && socket.send(Message::Binary(frame.encode())).await.is_ok()
        {
            socket.finish(code, &reason).await;
        }
    }

    async fn command(
        &self,
        socket: &mut Socket,
        Allowed { lease, mut watch, .. }: Allowed,
        params: ShellParams,
    ) -> Result<End, Gone> {
        let status = self.cluster.service(lease, &params.service);
        match socket.until(&mut watch, false, status).await {
            Happened::Own(Ok(service)) if service.counts.ready == 0 => {
                return Ok(no_replicas());
            }
            Happened::Own(Ok(_)) => {}
            Happened::Own(Err(failure)) => return Ok(not_read(failure)),
            Happened::Ended(ending) => return Ok(ended(ending)),
            Happened::Received(_) | Happened::Gone => return Err(Gone),
        }
        let request = ExecRequest {
            service: params.service.clone(),
            // Clients that do not choose say 0: they are led to a replica that works.
            replica: Some(params.replica).filter(|replica| *replica != 0),
            command: params.command.clone(),
            stdin: params.stdin,
            terminal: params.tty.then_some(TERMINAL),
        };
        let started = socket.until(&mut watch, false, self.cluster.exec(lease, request)).await;
        match started {
            Happened::Own(Ok((input, output))) => {
                let turns = self.shell_turns(lease);
                converse(socket, &mut watch, &turns, &params, input, output).await
            }
            Happened::Own(Err(failure)) => Ok(not_started(failure)),
            Happened::Ended(ending) => Ok(ended(ending)),
            Happened::Received(_) | Happened::Gone => Err(Gone),
        }
    }
}

/// What happens to a command that runs.
enum Step {
    Wrote(ExecOutput),
    /// The command can take one more.
    HasRoom,
    IsFed,
}

async fn converse(
    socket: &mut Socket,
    watch: &mut LeaseWatch,
    turns: &Turns,
    params: &ShellParams,
    input: impl Input,
    mut output: impl Output,
) -> Result<End, Gone> {
    let (queue, waiting) = mpsc::channel(WAITING);
    let mut feeding = std::pin::pin!(feed(input, waiting));
    let mut is_fed = false;
    // What is left of the message that was received last.
    let mut unqueued = VecDeque::new();
    loop {
        while let Some(next) = unqueued.pop_front() {
            match queue.try_send(next) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(next)) => {
                    unqueued.push_front(next);
                    break;
                }
                // The command takes nothing any more.
                Err(mpsc::error::TrySendError::Closed(_)) => unqueued.clear(),
            }
        }
        let has_room = unqueued.is_empty();
        let step = async {
            tokio::select! {
                part = output.next() => Step::Wrote(part),
                () = &mut feeding, if !is_fed => Step::IsFed,
                _ = queue.reserve(), if !has_room => Step::HasRoom,
            }
        };
        match socket.until(watch, has_room, step).await {
            Happened::Own(Step::Wrote(part)) => match written(part) {
                Ok(frame) => {
                    let frame = frame.encode();
                    let bytes = frame.len();
                    socket.send(Message::Binary(frame)).await?;
                    turns.next(bytes).await;
                }
                Err(end) => return Ok(end),
            },
            Happened::Own(Step::IsFed) => is_fed = true,
            Happened::Own(Step::HasRoom) => {}
            Happened::Received(message) => {
                let bytes = message.len();
                unqueued.extend(for_command(message, params));
                turns.next(bytes).await;
            }
            Happened::Ended(ending) => return Ok(ended(ending)),
            Happened::Gone => return Err(Gone),
        }
    }
}

/// Gives the command what waits for it, for as long as it takes any.
async fn feed(mut input: impl Input, mut waiting: mpsc::Receiver<ExecInput>) {
    while let Some(next) = waiting.recv().await {
        if !input.send(next).await {
            return;
        }
    }
}

/// What a frame of the client says to the command, in parts that a driver takes; nothing, if it
/// makes no sense or the command was to be sent nothing.
fn for_command(message: Message, params: &ShellParams) -> Vec<ExecInput> {
    let Message::Binary(bytes) = message else { return Vec::new() };
    match ClientFrame::decode(&bytes) {
        Ok(ClientFrame::Stdin(bytes)) if params.stdin => {
            bytes.chunks(ExecInput::PART).map(|part| ExecInput::Stdin(part.to_vec())).collect()
        }
        // On a terminal the end of input is a character like any other.
        Ok(ClientFrame::EndOfStdin) if params.stdin && !params.tty => vec![ExecInput::EndOfStdin],
        Ok(ClientFrame::Resize { width, height }) if params.tty => {
            vec![ExecInput::Resize(Terminal { width, height })]
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// What the command wrote as a frame, or how it ended.
fn written(part: ExecOutput) -> Result<ServerFrame, End> {
    match part {
        ExecOutput::Stdout(bytes) => Ok(ServerFrame::Stdout(bytes.into())),
        ExecOutput::Stderr(bytes) => Ok(ServerFrame::Stderr(bytes.into())),
        ExecOutput::Exit(code) => Err(exited(code)),
        ExecOutput::Broken(why) => Err(broken(why)),
    }
}

/// What shells say of a program that is not there.
const NO_SUCH_PROGRAM: i32 = 127;

pub(super) type End = (ServerFrame, CloseCode, String);

/// The command ended by itself.
pub(super) fn exited(code: i32) -> End {
    result(code, "")
}

/// Nobody knows how it ended.
pub(super) fn broken(why: String) -> End {
    (ServerFrame::Failure, CloseCode::Failed, why)
}

pub(super) fn no_replicas() -> End {
    // The spelling is what clients know.
    result(0, "no active replicase for service")
}

/// The lease is not here.
pub(super) fn no_lease() -> End {
    result(1, "kube: lease not found")
}

/// How the service is could not be found out.
pub(super) fn not_read(failure: ReadFailure) -> End {
    match failure {
        ReadFailure::NotFound(Missing::Lease) => no_lease(),
        ReadFailure::NotFound(Missing::Workloads) => result(1, "kube: no deployments for lease"),
        ReadFailure::NotFound(Missing::Service(_)) => result(0, "kube: no service for that lease"),
        ReadFailure::Unavailable(why) => result(1, &format!("the cluster does not answer: {why}")),
        ReadFailure::Refused(why) => broken(why),
    }
}

/// The command was not started.
pub(super) fn not_started(failure: ExecFailure) -> End {
    let failed = |code, text: &str| result(code, &format!("remote command execute error: {text}"));
    match failure {
        ExecFailure::NotFound(Missing::Lease) => no_lease(),
        ExecFailure::NotFound(Missing::Workloads) => failed(0, "deployment is not yet active"),
        ExecFailure::NotFound(Missing::Service(_)) => {
            failed(0, "no such service exists with that name")
        }
        ExecFailure::NotRunning(why) if why.is_empty() => {
            failed(0, "service with that name is not running")
        }
        ExecFailure::NotRunning(why) => {
            failed(0, &format!("service with that name is not running: {why}"))
        }
        ExecFailure::NoSuchReplica { existing, .. } => failed(
            0,
            &format!("pod index out of range: valid range is [0, {}]", existing.saturating_sub(1)),
        ),
        ExecFailure::NoSuchCommand(_) => {
            failed(NO_SUCH_PROGRAM, "command could not be executed because it does not exist")
        }
        ExecFailure::Refused(_) => failed(1, "command execution failed"),
        ExecFailure::Unavailable(why) => broken(why),
    }
}

/// It was not left to end by itself.
pub(super) fn ended(ending: Ending) -> End {
    let text = match ending {
        Ending::LeaseClosed => "the lease is closed",
        Ending::Stopping => "the provider stops",
        Ending::Revoked => "the certificate is revoked",
        Ending::TooOld => "the shell has been open for too long",
    };
    let (frame, _, _) = result(1, text);
    let (code, reason) = super::pump::ended(ending);
    (frame, code, reason)
}

fn result(exit_code: i32, message: &str) -> End {
    let result = ShellResult { exit_code, message: message.to_owned() };
    (ServerFrame::Result(result), CloseCode::Done, String::new())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use akash_types::Address;
    use tokio::io::AsyncWriteExt;

    use super::super::socket::piped;
    use super::*;
    use crate::turns::Streams;

    /// A command that writes what it reads, a part at a time.
    struct Cat(mpsc::Sender<ExecInput>);

    impl Input for Cat {
        async fn send(&mut self, input: ExecInput) -> bool {
            self.0.send(input).await.is_ok()
        }
    }

    struct Copied(mpsc::Receiver<ExecInput>);

    impl Output for Copied {
        async fn next(&mut self) -> ExecOutput {
            match self.0.recv().await {
                Some(ExecInput::Stdin(bytes)) => ExecOutput::Stdout(bytes),
                _ => ExecOutput::Exit(0),
            }
        }
    }

    /// A masked binary frame with input.
    fn input(bytes: usize) -> Vec<u8> {
        let length = u64::try_from(bytes + 1).unwrap().to_be_bytes();
        let mut frame = [&[0x82, 0x80 | 127][..], &length, &[0; 4], &[104]].concat();
        frame.resize(frame.len() + bytes, b'x');
        frame
    }

    #[tokio::test(start_paused = true)]
    async fn a_shell_holds_little_for_a_client_that_reads_nothing_and_leaves_it() {
        let (mut socket, mut client) = piped(LARGEST).await;
        let (input_end, output_end) = mpsc::channel(1);
        let talking = tokio::spawn(async move {
            let turns = Streams::default().turns(Address::from_bytes(&[1; 20]).unwrap(), 1 << 20);
            let (query, mut watch) =
                ("cmd0=cat&tty=0&service=web&stdin=1&podIndex=0", LeaseWatch::endless());
            let params = ShellParams::read(&Query::parse(query)).unwrap();
            let (input, output) = (Cat(input_end), Copied(output_end));
            converse(&mut socket, &mut watch, &turns, &params, input, output).await
        });
        // Until nothing more is taken: a message, the short queue, and what is written of the
        // first part.
        let (message, mut taken) = (input(100 << 10), 0);
        'sending: loop {
            for piece in message.chunks(1 << 10) {
                let sending = tokio::time::timeout(Duration::from_secs(5), client.write_all(piece));
                match sending.await {
                    Ok(sent) => sent.unwrap(),
                    Err(_) => break 'sending,
                }
                taken += piece.len();
            }
            assert!(taken < 4 << 20, "everything is taken");
        }
        let most = LARGEST + (WAITING + 4) * ExecInput::PART;
        assert!((100 << 10..=most).contains(&taken), "{taken} bytes");
        let ended = tokio::time::timeout(Duration::from_mins(2), talking).await;
        assert_eq!(ended.expect("it is left").unwrap(), Err(Gone));
    }

    fn said(end: End) -> String {
        String::from_utf8(end.0.encode().to_vec()).unwrap()
    }

    #[test]
    fn failures_are_told_as_recorded() {
        let table = [
            (exited(3), "f{\"exit_code\":3}\n"),
            (no_replicas(), "f{\"exit_code\":0,\"message\":\"no active replicase for service\"}\n"),
            (
                not_read(ReadFailure::NotFound(Missing::Service("nope".to_owned()))),
                "f{\"exit_code\":0,\"message\":\"kube: no service for that lease\"}\n",
            ),
            (
                not_started(ExecFailure::NoSuchReplica { asked: 9, existing: 1 }),
                "f{\"exit_code\":0,\"message\":\"remote command execute error: \
                 pod index out of range: valid range is [0, 0]\"}\n",
            ),
            (broken("it went away".to_owned()), "g"),
        ];
        for (end, frame) in table {
            assert_eq!(said(end), frame);
        }
    }

    #[test]
    fn no_lease_and_no_program_are_failures() {
        assert_eq!(said(no_lease()), "f{\"exit_code\":1,\"message\":\"kube: lease not found\"}\n");
        let missing = not_started(ExecFailure::NoSuchCommand("nope".to_owned()));
        assert_eq!(
            said(missing),
            "f{\"exit_code\":127,\"message\":\"remote command execute error: \
             command could not be executed because it does not exist\"}\n"
        );
    }
}
