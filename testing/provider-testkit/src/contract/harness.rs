//! What a driver's test provides.

use std::future::Future;
use std::time::Duration;

use provider_engine::cluster::port::Cluster;

/// A cluster to try a driver on.
pub trait Harness: Sync {
    type Driver: Cluster;

    /// A driver on the cluster.
    fn driver(&self) -> Self::Driver;

    /// What can be tried on this cluster.
    fn capabilities(&self) -> Capabilities;

    /// The image and the command of a program.
    fn program(&self, program: Program) -> (String, Option<Vec<String>>);

    /// How long to wait for something that has to happen.
    fn patience(&self) -> Duration;

    /// Ends the driver in the hardest way there is, with whatever belongs to it, and starts it
    /// again on the same cluster. Drivers that were handed out before need not work any more.
    fn restart(&self) -> impl Future<Output = Self::Driver> + Send;

    /// The cluster does not answer any more.
    fn break_api(&self) -> impl Future<Output = ()> + Send;

    /// It answers again.
    fn restore_api(&self) -> impl Future<Output = ()> + Send;

    /// A node does not answer any more. Called only if it can be done.
    fn lose_node(&self, name: &str) -> impl Future<Output = ()> + Send;

    /// It answers again.
    fn return_node(&self, name: &str) -> impl Future<Output = ()> + Send;
}

/// What can be tried on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Containers really start, or seem to.
    pub runs: bool,
    pub logs: bool,
    /// Commands can be run in containers.
    pub exec: bool,
    pub hostnames: bool,
    pub ips: bool,
    /// Nodes can be lost and come back.
    pub node_loss: bool,
}

impl Capabilities {
    /// Everything.
    pub const ALL: Self =
        Self { runs: true, logs: true, exec: true, hostnames: true, ips: true, node_loss: true };
}

/// What a service of the suite does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Runs until it is told to end and writes a line at least every second.
    Serves,
    /// The same from another image or with another command.
    ServesOther,
    Missing,
    /// Writes a line and exits with code 1, soon after every start.
    Crashes,
    /// Writes one line of at least a mebibyte, then does as [`Program::Serves`].
    WritesLongLine,
}
