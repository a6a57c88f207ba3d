//! What a token may be limited to.

use std::fmt;

/// A kind of thing to do with a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Send a manifest.
    SendManifest,
    /// Read the manifest back.
    GetManifest,
    /// Read logs.
    Logs,
    /// Run commands in containers.
    Shell,
    /// Read events of the cluster.
    Events,
    /// Read the status of lease and services.
    Status,
    /// Restart services. No route asks for it yet.
    Restart,
    /// Move hostnames from one deployment to another.
    HostnameMigrate,
    /// Move leased addresses from one deployment to another.
    IpMigrate,
    /// Ask for proof of the hardware. No route asks for it yet.
    Attestation,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 10] = [
        Self::SendManifest,
        Self::GetManifest,
        Self::Logs,
        Self::Shell,
        Self::Events,
        Self::Status,
        Self::Restart,
        Self::HostnameMigrate,
        Self::IpMigrate,
        Self::Attestation,
    ];

    /// As tokens name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendManifest => "send-manifest",
            Self::GetManifest => "get-manifest",
            Self::Logs => "logs",
            Self::Shell => "shell",
            Self::Events => "events",
            Self::Status => "status",
            Self::Restart => "restart",
            Self::HostnameMigrate => "hostname-migrate",
            Self::IpMigrate => "ip-migrate",
            Self::Attestation => "attestation",
        }
    }

    /// The scope of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
