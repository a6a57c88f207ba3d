//! Why a lease was closed.
//!
//! The chain accepts any number within a range, also one that has no name yet, so a reason is its
//! number; names are only known for some.

use std::fmt;

/// Why a lease was closed: a number that says who closed it, and perhaps what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseClosedReason(i32);

/// Who closed a lease: the range that its reason lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonKind {
    /// The tenant: 1 to 9999.
    Owner,
    /// The provider: 10000 to 19999.
    Provider,
    /// The chain itself: 20000 to 29999.
    Network,
}

impl LeaseClosedReason {
    /// The tenant closed it.
    pub const OWNER: Self = Self(1);
    /// The provider closed it because the workload stayed unhealthy.
    pub const UNSTABLE: Self = Self(10_000);
    /// The provider closed it because the hardware goes away.
    pub const DECOMMISSION: Self = Self(10_001);
    /// The provider closed it and gives no reason.
    pub const UNSPECIFIED: Self = Self(10_002);
    /// The provider closed it because no manifest came in time.
    pub const MANIFEST_TIMEOUT: Self = Self(10_003);
    /// The chain closed it because the deployment's account ran dry.
    pub const INSUFFICIENT_FUNDS: Self = Self(20_000);

    /// The reason with this number.
    pub const fn from_code(code: i32) -> Result<Self, ReasonError> {
        match code {
            1..=29_999 => Ok(Self(code)),
            _ => Err(ReasonError::OutOfRange { code }),
        }
    }

    /// A reason that a provider may give.
    pub const fn provider(code: i32) -> Result<Self, ReasonError> {
        match code {
            10_000..=19_999 => Ok(Self(code)),
            _ => Err(ReasonError::NotProvider { code }),
        }
    }

    /// Number on the wire.
    pub const fn code(self) -> i32 {
        self.0
    }

    /// Who closed the lease.
    pub const fn kind(self) -> ReasonKind {
        match self.0 {
            ..10_000 => ReasonKind::Owner,
            10_000..20_000 => ReasonKind::Provider,
            20_000.. => ReasonKind::Network,
        }
    }

    /// Name in the protocol, if the number has one.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::OWNER => Some("lease_closed_owner"),
            Self::UNSTABLE => Some("lease_closed_reason_unstable"),
            Self::DECOMMISSION => Some("lease_closed_reason_decommission"),
            Self::UNSPECIFIED => Some("lease_closed_reason_unspecified"),
            Self::MANIFEST_TIMEOUT => Some("lease_closed_reason_manifest_timeout"),
            Self::INSUFFICIENT_FUNDS => Some("lease_closed_reason_insufficient_funds"),
            _ => None,
        }
    }
}

impl fmt::Display for LeaseClosedReason {
    /// The name, or the number where there is none: the form of events and JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

/// Why a number is not an acceptable reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReasonError {
    /// In no range at all.
    #[error("lease closed reason {code} is in no known range, expected 1 to 29999")]
    OutOfRange {
        /// The number.
        code: i32,
    },
    /// Not one that a provider may give.
    #[error("lease closed reason {code} is not a provider's, expected 10000 to 19999")]
    NotProvider {
        /// The number.
        code: i32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_say_who_closed() {
        for (code, kind) in [
            (1, ReasonKind::Owner),
            (9_999, ReasonKind::Owner),
            (10_000, ReasonKind::Provider),
            (19_999, ReasonKind::Provider),
            (20_000, ReasonKind::Network),
            (29_999, ReasonKind::Network),
        ] {
            let reason = LeaseClosedReason::from_code(code).unwrap();
            assert_eq!((reason.code(), reason.kind()), (code, kind));
            let as_provider = LeaseClosedReason::provider(code);
            assert_eq!(as_provider.is_ok(), kind == ReasonKind::Provider, "{code}");
        }
        for code in [i32::MIN, -1, 0, 30_000, i32::MAX] {
            assert_eq!(LeaseClosedReason::from_code(code), Err(ReasonError::OutOfRange { code }));
            assert_eq!(LeaseClosedReason::provider(code), Err(ReasonError::NotProvider { code }));
        }
    }

    #[test]
    fn names_are_those_of_the_protocol() {
        for (reason, code, name) in [
            (LeaseClosedReason::OWNER, 1, "lease_closed_owner"),
            (LeaseClosedReason::UNSTABLE, 10_000, "lease_closed_reason_unstable"),
            (LeaseClosedReason::DECOMMISSION, 10_001, "lease_closed_reason_decommission"),
            (LeaseClosedReason::UNSPECIFIED, 10_002, "lease_closed_reason_unspecified"),
            (LeaseClosedReason::MANIFEST_TIMEOUT, 10_003, "lease_closed_reason_manifest_timeout"),
            (
                LeaseClosedReason::INSUFFICIENT_FUNDS,
                20_000,
                "lease_closed_reason_insufficient_funds",
            ),
        ] {
            assert_eq!((reason.code(), reason.name()), (code, Some(name)));
            assert_eq!(reason.to_string(), name);
        }
        let unnamed = LeaseClosedReason::provider(10_777).unwrap();
        assert_eq!((unnamed.name(), unnamed.to_string().as_str()), (None, "10777"));
    }
}
