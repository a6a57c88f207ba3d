//! A command that runs, in a task of its own.

use std::time::Duration;

use provider_engine::cluster::port::{ExecInput, ExecOutput, Input, Output};
use tokio::sync::mpsc;

use super::SimDriver;
use crate::core::{Shell, ShellOutput};

/// Parts that may wait in either direction, each no longer than [`ExecInput::PART`].
const PARTS: usize = 8;
/// How often to look whether the container is still there.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct SimInputEnd(mpsc::Sender<ExecInput>);

#[derive(Debug)]
pub struct SimOutputEnd {
    parts: mpsc::Receiver<ExecOutput>,
    is_over: bool,
}

/// Lets a command run; `said` is what it has said already.
pub(super) fn run(
    driver: SimDriver,
    shell: Shell,
    said: Vec<ShellOutput>,
) -> (SimInputEnd, SimOutputEnd) {
    let (input, inputs) = mpsc::channel(PARTS);
    let (outputs, parts) = mpsc::channel(PARTS);
    tokio::spawn(drive(driver, shell, said, inputs, outputs));
    (SimInputEnd(input), SimOutputEnd { parts, is_over: false })
}

async fn drive(
    driver: SimDriver,
    mut shell: Shell,
    mut said: Vec<ShellOutput>,
    mut inputs: mpsc::Receiver<ExecInput>,
    outputs: mpsc::Sender<ExecOutput>,
) {
    let mut input_is_open = true;
    loop {
        for output in said.drain(..) {
            let output = match output {
                ShellOutput::Stdout(bytes) => ExecOutput::Stdout(bytes),
                ShellOutput::Stderr(bytes) => ExecOutput::Stderr(bytes),
                ShellOutput::Exit(code) => ExecOutput::Exit(code),
            };
            if outputs.send(output).await.is_err() {
                return;
            }
        }
        if shell.has_ended() {
            return;
        }
        tokio::select! {
            input = inputs.recv(), if input_is_open => {
                input_is_open = input.is_some();
                said = shell.feed(input.unwrap_or(ExecInput::EndOfStdin));
            }
            () = outputs.closed() => return,
            () = tokio::time::sleep(LOOK) => {
                let looked = shell.clone();
                let runs = driver.read(move |cluster| cluster.still_runs(&looked)).await;
                if !matches!(runs, Ok(true)) {
                    let broken = ExecOutput::Broken("the container has ended".to_owned());
                    let _ = outputs.send(broken).await;
                    return;
                }
            }
        }
    }
}

impl Input for SimInputEnd {
    async fn send(&mut self, input: ExecInput) -> bool {
        self.0.send(input).await.is_ok()
    }
}

impl Output for SimOutputEnd {
    async fn next(&mut self) -> ExecOutput {
        let over = |why: &str| ExecOutput::Broken(why.to_owned());
        if self.is_over {
            return over("the command has ended already");
        }
        let part = self.parts.recv().await.unwrap_or_else(|| over("the cluster has stopped"));
        self.is_over = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
        part
    }
}
