//! What went wrong.
//!
//! Existing clients look for texts, so a failure's body is the text they know, byte for byte. Beside
//! it, in the header [`CODE_HEADER`], stands a code that does not change when words do. Who would
//! rather have both in a body asks for it with `Accept: application/vnd.akash.error+json` and gets
//! an [`ErrorBody`].

use serde::{Deserialize, Serialize};

/// The header that carries the code of a failure; the metadata of that name on gRPC.
pub const CODE_HEADER: &str = "akash-error-code";
/// What to accept to be given failures as [`ErrorBody`].
pub const ERROR_JSON: &str = "application/vnd.akash.error+json";

/// A failure as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// For programs.
    pub code: ErrorCode,
    /// For people; what the plain body would have said.
    pub message: String,
    /// What would help, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A failed authentication, as existing clients know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedBody {
    /// For people.
    pub message: String,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What kind of failure it is, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display)]
#[display("{}", self.as_str())]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $name,)+
        }

        impl ErrorCode {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// As it is sent.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

codes! {
    /// No such path.
    UnknownRoute = "unknown-route",
    /// The path is there, for other methods.
    MethodNotAllowed = "method-not-allowed",
    /// `Authorization` is not `Bearer` and one token.
    InvalidAuthorization = "invalid-authorization",
    /// A client certificate and a token at once.
    AmbiguousAuthentication = "ambiguous-authentication",
    /// The token is signed well and says something it may not, or at the wrong time.
    TokenClaims = "token-claims",
    /// It is no token, or not signed by who it says.
    TokenInvalid = "token-invalid",
    /// Nobody said who is asking, or they may not do this.
    Unauthorized = "unauthorized",
    /// Who is asking could not be found out.
    AuthenticationFailed = "authentication-failed",
    /// A number in the path is none, or too large.
    BadId = "bad-id",
    /// A parameter of the query is missing or wrong.
    BadParameter = "bad-parameter",
    /// The body cannot be read as what it should be.
    BadBody = "bad-body",
    /// The body is larger than is read.
    BodyTooLarge = "body-too-large",
    /// The body did not come in time.
    BodyTooSlow = "body-too-slow",
    /// The request is no WebSocket handshake.
    NoHandshake = "no-websocket-handshake",
    /// The page that connects is of another host.
    ForeignOrigin = "foreign-origin",
    /// No such lease here, or nothing was sent for it.
    LeaseNotFound = "lease-not-found",
    /// The provider lost the manifest of the lease; sending it again deploys it.
    ManifestLost = "manifest-lost",
    /// The lease is there, and its workloads are not yet.
    NotDeployed = "not-deployed",
    /// The lease has no such service.
    ServiceNotFound = "service-not-found",
    /// The lease has ended.
    LeaseClosed = "lease-closed",
    /// The cluster does not answer; trying again may help.
    ClusterUnavailable = "cluster-unavailable",
    /// The cluster refuses, and would again.
    ClusterRefused = "cluster-refused",
    /// The chain does not answer; trying again may help.
    ChainUnavailable = "chain-unavailable",
    /// The chain knows no such deployment.
    DeploymentNotFound = "deployment-not-found",
    /// No lease of the deployment is with this provider.
    NoLease = "no-lease",
    /// The manifest makes no sense by itself.
    ManifestInvalid = "manifest-invalid",
    /// The chain has the hash of another manifest.
    ManifestHash = "manifest-hash",
    /// The manifest is not what the deployment pays for.
    ManifestMismatch = "manifest-mismatch",
    /// A hostname is needed and none is listed.
    HostnameMissing = "hostname-missing",
    /// The operator does not allow the hostname.
    HostnameBlocked = "hostname-blocked",
    /// Another tenant has the hostname.
    HostnameInUse = "hostname-in-use",
    /// The hostname cannot be one of a tenant.
    HostnameInvalid = "hostname-invalid",
    /// The provider gives no proof of the hardware that a lease runs on.
    NoAttestation = "no-attestation",
    /// Nothing was named that could be moved.
    NothingToMigrate = "nothing-to-migrate",
    /// There is no lease with a manifest to move names to.
    DestinationNotFound = "destination-not-found",
    /// The destination does not list the name.
    NameNotUsed = "name-not-used",
    /// The provider cannot move leased addresses between leases.
    EndpointsCannotMove = "endpoints-cannot-move",
    /// The name was not moved, or not as far as is known.
    MigrationFailed = "migration-failed",
    /// It took too long; it may have been done all the same.
    TimedOut = "timed-out",
    /// Too much is asked at once.
    Busy = "busy",
    /// The provider is not ready yet.
    NotReady = "not-ready",
    /// Something is wrong with the provider itself.
    Internal = "internal",
}

impl ErrorCode {
    /// The code of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own_that_leads_back() {
        let names: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::named(code.as_str()), Some(*code));
            assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{code}\""));
        }
    }
}
