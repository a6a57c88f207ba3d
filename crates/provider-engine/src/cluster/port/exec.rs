//! A command in a container.

use std::future::Future;

use akash_types::LeaseId;

use super::Missing;

/// Runs commands in containers.
pub trait Exec: Send + Sync {
    /// What goes to the command.
    type Input: Input + 'static;
    /// What comes from it.
    type Output: Output + 'static;

    /// Starts a command in a replica of a service. Dropping the output ends it; dropping the
    /// input is the end of what it reads.
    fn exec(
        &self,
        lease: LeaseId,
        request: ExecRequest,
    ) -> impl Future<Output = Result<(Self::Input, Self::Output), ExecFailure>> + Send;
}

/// What to run where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecRequest {
    /// In which service.
    pub service: String,
    /// In which of its replicas, counted from 0 in the order of names; the first that is ready if
    /// nobody says.
    pub replica: Option<u32>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether anything will be sent to it. If not, it reads an end at once.
    pub stdin: bool,
    /// The terminal it runs on, if it is to have one; then errors come with the output.
    pub terminal: Option<Terminal>,
}

/// Size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns.
    pub width: u16,
    /// Lines.
    pub height: u16,
}

/// What can be sent to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecInput {
    /// Bytes for it to read.
    Stdin(Vec<u8>),
    /// There will be no more to read.
    EndOfStdin,
    /// Its terminal has another size.
    Resize(Terminal),
}

impl ExecInput {
    /// Largest number of bytes to send as one [`Stdin`](Self::Stdin): drivers queue parts, and
    /// are to hold few bytes for a command that does not read.
    pub const PART: usize = 16 * 1024;
}

/// What goes to a command.
pub trait Input: Send {
    /// Sends something; waits while the command does not read. `false` if the command has ended.
    fn send(&mut self, input: ExecInput) -> impl Future<Output = bool> + Send;
}

/// What comes from a command.
pub trait Output: Send {
    /// The next part. After [`ExecOutput::Exit`] and [`ExecOutput::Broken`] nothing comes.
    fn next(&mut self) -> impl Future<Output = ExecOutput> + Send;
}

/// What a command gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecOutput {
    /// Bytes it wrote.
    Stdout(Vec<u8>),
    /// Bytes it wrote as errors; never with a terminal.
    Stderr(Vec<u8>),
    /// It ended by itself, with this code.
    Exit(i32),
    /// Nobody knows how it ended, and why not.
    Broken(String),
}

/// Why a command was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecFailure {
    /// The cluster answered: it is not there.
    #[error("{0}")]
    NotFound(Missing),
    /// No such replica runs, and why.
    #[error("the service is not running: {0}")]
    NotRunning(String),
    /// There are fewer replicas.
    #[error("replica {asked} does not exist: the service has {existing}, counted from 0")]
    NoSuchReplica {
        /// Which was asked for.
        asked: u32,
        /// How many there are.
        existing: u32,
    },
    /// The container has no such program.
    #[error("command {0:?} does not exist in the container")]
    NoSuchCommand(String),
    /// The cluster did not answer; nothing follows from that.
    #[error("the cluster does not answer: {0}")]
    Unavailable(String),
    /// The cluster would refuse it again.
    #[error("the cluster refuses: {0}")]
    Refused(String),
}
