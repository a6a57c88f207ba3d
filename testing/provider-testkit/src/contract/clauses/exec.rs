//! Commands in containers.

use provider_engine::cluster::port::{
    Exec, ExecFailure, ExecInput, ExecOutput, ExecRequest, Input, Output,
};
use tokio::time::{Instant, timeout_at};

use super::super::case::{Case, WEB};
use super::super::harness::{Harness, Program};
use super::super::report::{Breach, Verdict, holds, same};

fn request(command: &[&str]) -> ExecRequest {
    ExecRequest {
        service: WEB.to_owned(),
        replica: None,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        stdin: false,
        terminal: None,
    }
}

/// A command's output and errors come apart, and its exit code comes last.
pub async fn commands_give_output_errors_and_exit_codes<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    for (command, out, err, code) in [
        (&["sh", "-c", "echo out; echo err >&2; exit 3"][..], "out\n", "err\n", 3),
        (&["true"], "", "", 0),
        (&["false"], "", "", 1),
    ] {
        let started = case.driver.exec(case.lease, request(command)).await.map_err(failed)?;
        let (_input, mut output) = started;
        let ended = collect(&case, &mut output).await?;
        same("what it gave", &ended, &(out.to_owned(), err.to_owned(), code))?;
    }
    case.clears().await
}

/// A command reads what is sent to it, until it is told that there is no more.
pub async fn commands_read_what_is_sent_to_them<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    let with_stdin = ExecRequest { stdin: true, ..request(&["cat"]) };
    let started = case.driver.exec(case.lease, with_stdin).await.map_err(failed)?;
    let (mut input, mut output) = started;
    for piece in ["first ", "second"] {
        let taken = input.send(ExecInput::Stdin(piece.as_bytes().to_vec())).await;
        holds(taken, || "the command takes no input".to_owned())?;
    }
    input.send(ExecInput::EndOfStdin).await;
    let ended = collect(&case, &mut output).await?;
    same("what it gave", &ended, &("first second".to_owned(), String::new(), 0))?;
    // Without input, a command that reads finds the end at once.
    let started = case.driver.exec(case.lease, request(&["cat"])).await.map_err(failed)?;
    let (_input, mut output) = started;
    same("what it gave", &collect(&case, &mut output).await?.2, &0)?;
    case.clears().await
}

/// Commands and replicas that are not there are told apart.
pub async fn what_cannot_be_run_says_why<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::Serves, 1)).await?;
    let unknown = case.driver.exec(case.lease, request(&["no-such-command"])).await.err();
    same("command", &unknown, &Some(ExecFailure::NoSuchCommand("no-such-command".to_owned())))?;
    let beyond = ExecRequest { replica: Some(5), ..request(&["true"]) };
    let beyond = case.driver.exec(case.lease, beyond).await.err();
    same("replica", &beyond, &Some(ExecFailure::NoSuchReplica { asked: 5, existing: 1 }))?;
    case.clears().await
}

fn failed(why: ExecFailure) -> Breach {
    Breach(format!("exec: {why}"))
}

/// All that a command gives: output, errors, exit code.
async fn collect<H: Harness>(
    case: &Case<'_, H>,
    output: &mut impl Output,
) -> Result<(String, String, i32), Breach> {
    let deadline = Instant::now() + case.patience();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        match timeout_at(deadline, output.next()).await {
            Ok(ExecOutput::Stdout(bytes)) => out.extend(bytes),
            Ok(ExecOutput::Stderr(bytes)) => err.extend(bytes),
            Ok(ExecOutput::Exit(code)) => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return Ok((text(out), text(err), code));
            }
            other => return Err(Breach(format!("a command broke off: {other:?}"))),
        }
    }
}
