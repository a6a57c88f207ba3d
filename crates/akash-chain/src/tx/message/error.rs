//! Why a message makes no sense.

use akash_types::{Address, AttributeError, Denom, GroupViolation, LeaseClosedReason};

/// Why a message would be refused for its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// A provider that bids on its own order.
    #[error("{account} cannot be tenant and provider of one bid or lease")]
    SelfBid {
        /// The account.
        account: Address,
    },
    /// A bid with a sequence number of its own.
    #[error("bseq is {bseq}, expected 0")]
    Bseq {
        /// The number.
        bseq: u32,
    },
    /// A bid for nothing.
    #[error("the price of a bid must be above zero")]
    ZeroPrice,
    /// A reason that only others may give.
    #[error("lease closed reason {} is not a provider's, expected 10000 to 19999", .reason.code())]
    Reason {
        /// The reason.
        reason: LeaseClosedReason,
    },
    /// A span of time that the wire cannot hold.
    #[error("a span of time is longer than a message can say")]
    Span,
    /// Groups that the chain does not take.
    #[error("the groups of the deployment break {} rules of the chain", .violations.len())]
    Groups {
        /// What is wrong with them.
        violations: Vec<GroupViolation>,
    },
    /// Attributes that the chain does not take.
    #[error("the attributes are not acceptable")]
    Attributes(#[from] AttributeError),
    /// Not where a provider can be reached.
    #[error("host URI {uri:?} {problem}; it must look like https://provider.example.com:8443")]
    HostUri {
        /// The text.
        uri: String,
        /// What is wrong with it.
        problem: HostUriProblem,
    },
    /// Not a web page.
    #[error("website {text:?} is not a URL")]
    Website {
        /// The text.
        text: String,
    },
    /// Not a PEM block.
    #[error("expected one PEM block {label}, and nothing else")]
    Pem {
        /// What the block must be called.
        label: &'static str,
    },
    /// Not a serial number.
    #[error("serial number {text:?} must be base-10 digits")]
    Serial {
        /// The text.
        text: String,
    },
    /// No coins where some are needed.
    #[error("no coins are given")]
    NoCoins,
    /// A coin of zero where money is needed.
    #[error("the amount in {denom} is zero")]
    ZeroCoin {
        /// Of which denomination.
        denom: Denom,
    },
    /// Two coins of one denomination.
    #[error("{denom} is given twice")]
    CoinTwice {
        /// Which.
        denom: Denom,
    },
    /// Something granted to oneself.
    #[error("{account} cannot grant something to itself")]
    SelfGrant {
        /// The account.
        account: Address,
    },
    /// A type URL without its slash.
    #[error("message type {text:?} must start with a slash, as in /cosmos.bank.v1beta1.MsgSend")]
    TypeUrl {
        /// The text.
        text: String,
    },
    /// Nothing to do in another's name, or no message type to allow.
    #[error("no messages are given")]
    NoMessages,
}

/// What is wrong with a host URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostUriProblem {
    /// No scheme, or unreadable.
    #[error("is not an absolute URL")]
    NotAbsolute,
    /// Another scheme.
    #[error("does not start with https://")]
    NotHttps,
    /// Nobody to talk to.
    #[error("names no host")]
    NoHost,
    /// More than a host.
    #[error("has more than a host and a port")]
    NotBare,
}
