//! The states that things on chain are in.
//!
//! State 0 ("invalid") is in every enum of the protocol and in nothing that exists, so reading it
//! is an error here. Which state follows which is the engine's knowledge, not ours.

use crate::causes::shortened;

/// Why something is not a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} state {got:?} is unknown, expected one of: {}", .expected.join(", "))]
pub struct UnknownState {
    /// Whose state was read.
    pub what: &'static str,
    /// The name or number that was found.
    pub got: String,
    /// The names that exist.
    pub expected: &'static [&'static str],
}

macro_rules! states {
    (
        $(#[$doc:meta])*
        $name:ident ($what:literal) { $($(#[$state_doc:meta])* $state:ident = $code:literal $text:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$state_doc])* $state = $code,)+ }

        impl $name {
            /// Every state, in wire order.
            pub const ALL: &'static [Self] = &[$(Self::$state),+];

            const NAMES: &'static [&'static str] = &[$($text),+];

            /// Name in query filters and JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$state => $text,)+ }
            }

            /// Number on the wire.
            pub const fn code(self) -> i32 {
                self as i32
            }

            /// The state with this number on the wire.
            pub fn from_code(code: i32) -> Result<Self, UnknownState> {
                match code {
                    $($code => Ok(Self::$state),)+
                    _ => Err(Self::unknown(code.to_string())),
                }
            }

            fn unknown(got: String) -> UnknownState {
                UnknownState { what: $what, got, expected: Self::NAMES }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownState;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$state),)+
                    _ => Err(Self::unknown(shortened(text))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

states! {
    /// State of a deployment: active → closed.
    DeploymentState ("deployment") {
        /// Accepted, its groups may be ordered.
        Active = 1 "active",
        /// Over.
        Closed = 2 "closed",
    }
}

states! {
    /// State of a group: open ↔ paused → closed or out of funds.
    GroupState ("group") {
        /// Ordered or leased.
        Open = 1 "open",
        /// Not ordered until the tenant starts it again.
        Paused = 2 "paused",
        /// Over, because the deployment's account ran dry.
        InsufficientFunds = 3 "insufficient_funds",
        /// Over.
        Closed = 4 "closed",
    }
}

states! {
    /// State of an order: open → active → closed.
    OrderState ("order") {
        /// Takes bids.
        Open = 1 "open",
        /// Leased.
        Active = 2 "active",
        /// Over.
        Closed = 3 "closed",
    }
}

states! {
    /// State of a bid: open → active, lost or closed; active → closed.
    BidState ("bid") {
        /// Waits for the tenant.
        Open = 1 "open",
        /// Won.
        Active = 2 "active",
        /// Another provider's bid won, and the deposit was returned.
        Lost = 3 "lost",
        /// Over.
        Closed = 4 "closed",
    }
}

states! {
    /// State of a lease: active → reclaiming → closed or out of funds.
    LeaseState ("lease") {
        /// Runs and is paid.
        Active = 1 "active",
        /// Over, because the deployment's account ran dry.
        InsufficientFunds = 2 "insufficient_funds",
        /// Over.
        Closed = 3 "closed",
        /// Runs and is paid, until the provider may close it.
        Reclaiming = 4 "reclaiming",
    }
}

states! {
    /// State of an escrow account or payment: open → closed or overdrawn.
    EscrowState ("escrow") {
        /// Money flows.
        Open = 1 "open",
        /// Settled for good.
        Closed = 2 "closed",
        /// Owes more than it holds.
        Overdrawn = 3 "overdrawn",
    }
}

states! {
    /// State of a certificate on chain: valid → revoked.
    CertificateState ("certificate") {
        /// May be used, within its dates.
        Valid = 1 "valid",
        /// Withdrawn by its owner.
        Revoked = 2 "revoked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! check {
        ($state:ident: $($name:literal),+) => {
            for (code, name) in (1..).zip([$($name),+]) {
                let state = $state::from_code(code).unwrap();
                assert_eq!((state.as_str(), state.code()), (name, code));
                assert_eq!(name.parse(), Ok(state));
                assert_eq!(state.to_string(), name);
            }
            let names = [$($name),+];
            assert_eq!($state::ALL.len(), names.len());
            for code in [-1, 0, 1 + i32::try_from(names.len()).unwrap(), i32::MAX, i32::MIN] {
                assert_eq!($state::from_code(code).unwrap_err().got, code.to_string());
            }
            for text in ["", "invalid", "Open", "open "] {
                assert!(text.parse::<$state>().is_err());
            }
        };
    }

    #[test]
    fn names_and_numbers_are_those_of_the_chain() {
        check!(DeploymentState: "active", "closed");
        check!(GroupState: "open", "paused", "insufficient_funds", "closed");
        check!(OrderState: "open", "active", "closed");
        check!(BidState: "open", "active", "lost", "closed");
        check!(LeaseState: "active", "insufficient_funds", "closed", "reclaiming");
        check!(EscrowState: "open", "closed", "overdrawn");
        check!(CertificateState: "valid", "revoked");
    }

    #[test]
    fn the_error_lists_what_exists() {
        let error = "gone".parse::<OrderState>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "order state \"gone\" is unknown, expected one of: open, active, closed"
        );
    }
}
