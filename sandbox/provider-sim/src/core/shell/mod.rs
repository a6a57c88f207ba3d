//! A command in a container that does not exist: a very small shell that answers.
//!
//! It knows `echo`, `printf`, `cat`, `true`, `false`, `exit`, `env`, `hostname`, `pwd`, `ls`, `id`,
//! `uname`, `test`-free scripts joined by `;`, `&&` and `||`, redirection of output to `/dev/null`
//! and of either stream to the other, and `sh` and `bash` with or without `-c`.
//!
//! A machine like the rest: input in, output out, no IO.

mod script;

use akash_types::LeaseId;
use provider_engine::cluster::port::{
    ExecFailure, ExecInput, ExecRequest, Missing, ReadFailure, Terminal,
};

use super::SimCluster;
use super::pod::{Pod, PodState};
use script::{Finished, Script};

/// What a shell gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellOutput {
    /// Bytes for the output.
    Stdout(Vec<u8>),
    /// Bytes for the errors.
    Stderr(Vec<u8>),
    /// It ended with this code; nothing comes after it.
    Exit(i32),
}

#[derive(Clone, Debug)]
pub struct Shell {
    lease: LeaseId,
    /// What it knows of where it runs.
    place: Surroundings,
    state: State,
    terminal: Option<Terminal>,
    stdin_ended: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) pod: String,
    pub(super) image: String,
    pub(super) env: Vec<String>,
}

#[derive(Clone, Debug)]
enum State {
    /// Reads commands, a line at a time.
    Interactive {
        line: Vec<u8>,
        last_code: i32,
    },
    Copying {
        then: Script,
    },
    Ended,
}

impl SimCluster {
    /// Starts a command in a replica. The first of the outputs are there already.
    pub fn shell(
        &self,
        id: LeaseId,
        request: &ExecRequest,
    ) -> Result<(Shell, Vec<ShellOutput>), ExecFailure> {
        let lease = self.running(id).map_err(|why| match why {
            ReadFailure::NotFound(missing) => ExecFailure::NotFound(missing),
            ReadFailure::Unavailable(why) => ExecFailure::Unavailable(why),
            ReadFailure::Refused(why) => ExecFailure::Refused(why),
        })?;
        if !lease.services.contains_key(&request.service) {
            return Err(ExecFailure::NotFound(Missing::Service(request.service.clone())));
        }
        let pods = lease.pods_of(&request.service);
        let is_ready = |pod: &Pod| pod.state == PodState::Ready;
        let pod = match request.replica {
            None => pods.iter().find(|(_, pod)| is_ready(pod)).or(pods.first()),
            Some(asked) => {
                let existing = u32::try_from(pods.len()).unwrap_or(u32::MAX);
                let found = pods.get(usize::try_from(asked).unwrap_or(usize::MAX));
                Some(found.ok_or(ExecFailure::NoSuchReplica { asked, existing })?)
            }
        };
        let none = || ExecFailure::NotRunning("it has no replicas".to_owned());
        let (_, pod) = pod.ok_or_else(none)?;
        if !is_ready(pod) {
            return Err(ExecFailure::NotRunning(pod.why().unwrap_or_default()));
        }
        let place = Surroundings {
            pod: pod.name.clone(),
            image: pod.template.image.clone(),
            env: pod.template.env.clone(),
        };
        let first = request.command.first().cloned().unwrap_or_default();
        if !script::knows(&first) {
            return Err(ExecFailure::NoSuchCommand(first));
        }
        let mut shell = Shell {
            lease: id,
            place,
            state: State::Ended,
            terminal: request.terminal,
            stdin_ended: false,
        };
        let mut outputs = Vec::new();
        shell.run(Script::of_command(request.command.clone()), &mut outputs);
        if !request.stdin {
            outputs.extend(shell.feed(ExecInput::EndOfStdin));
        }
        Ok((shell, outputs))
    }

    /// Whether the container in which a command runs is still there.
    pub fn still_runs(&self, shell: &Shell) -> bool {
        let pods = self.leases.get(&shell.lease).map(|lease| lease.pods.values());
        let is_it = |pod: &Pod| pod.name == shell.place.pod && pod.state == PodState::Ready;
        pods.is_some_and(|mut pods| pods.any(is_it))
    }
}

impl Shell {
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Sends something to the command.
    pub fn feed(&mut self, input: ExecInput) -> Vec<ShellOutput> {
        let mut outputs = Vec::new();
        match input {
            ExecInput::Resize(terminal) => {
                if self.terminal.is_some() {
                    self.terminal = Some(terminal);
                }
            }
            ExecInput::Stdin(bytes) if !self.stdin_ended => self.read(&bytes, &mut outputs),
            ExecInput::Stdin(_) => {}
            ExecInput::EndOfStdin => {
                self.stdin_ended = true;
                self.end_of_input(&mut outputs);
            }
        }
        outputs
    }

    fn read(&mut self, bytes: &[u8], outputs: &mut Vec<ShellOutput>) {
        // What a terminal sends for the end of input.
        let (bytes, end) = match bytes.iter().position(|byte| *byte == 4) {
            Some(at) if self.terminal.is_some() => (bytes.get(..at).unwrap_or_default(), true),
            _ => (bytes, false),
        };
        if self.terminal.is_some() && !bytes.is_empty() {
            let echoed = String::from_utf8_lossy(bytes).replace('\r', "\r\n");
            outputs.push(ShellOutput::Stdout(echoed.into_bytes()));
        }
        match &mut self.state {
            State::Ended => {}
            State::Copying { .. } if self.terminal.is_none() => {
                outputs.push(ShellOutput::Stdout(bytes.to_vec()));
            }
            State::Copying { .. } => {}
            State::Interactive { line, .. } => {
                line.extend_from_slice(bytes);
                self.read_lines(outputs);
            }
        }
        if end {
            self.end_of_input(outputs);
        }
    }

    fn read_lines(&mut self, outputs: &mut Vec<ShellOutput>) {
        while let State::Interactive { line, .. } = &mut self.state {
            let Some(at) = line.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return;
            };
            let rest = line.split_off(at.saturating_add(1));
            line.pop();
            let command = String::from_utf8_lossy(line).into_owned();
            *line = rest;
            let kept = std::mem::replace(&mut self.state, State::Ended);
            let script = Script::parse(&command).inside_a_shell();
            match script.run(&self.place, self.terminal, outputs) {
                Finished::Exits(code) => outputs.push(ShellOutput::Exit(code)),
                Finished::Reads(then) => self.state = State::Copying { then },
                // A shell in a shell is the same shell.
                Finished::Interactive | Finished::Code(_) => {
                    self.state = kept;
                    self.prompt(outputs);
                }
            }
        }
    }

    fn end_of_input(&mut self, outputs: &mut Vec<ShellOutput>) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Ended => {}
            State::Copying { then } => self.run(then, outputs),
            State::Interactive { last_code, .. } => outputs.push(ShellOutput::Exit(last_code)),
        }
    }

    fn run(&mut self, script: Script, outputs: &mut Vec<ShellOutput>) {
        match script.run(&self.place, self.terminal, outputs) {
            Finished::Code(code) | Finished::Exits(code) => outputs.push(ShellOutput::Exit(code)),
            Finished::Reads(then) if self.stdin_ended => self.run(then, outputs),
            Finished::Reads(then) => self.state = State::Copying { then },
            Finished::Interactive => {
                self.state = State::Interactive { line: Vec::new(), last_code: 0 };
                let note = format!(
                    "SIMULATED shell in {}, which pretends to run {}. Try: echo, env, exit\r\n",
                    self.place.pod, self.place.image
                );
                if self.terminal.is_some() {
                    outputs.push(ShellOutput::Stdout(note.into_bytes()));
                }
                self.prompt(outputs);
            }
        }
    }

    fn prompt(&self, outputs: &mut Vec<ShellOutput>) {
        if self.terminal.is_some() {
            outputs.push(ShellOutput::Stdout(b"simulated# ".to_vec()));
        }
    }
}
