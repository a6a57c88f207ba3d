//! Why there is no answer.
//!
//! The line that matters most runs between [`Failure::NotFound`] and the rest: only a node that
//! looked and found nothing may say so. Whatever cannot be told from silence is [`Unavailable`].

use std::time::Duration;

use akash_types::ConvertError;

use super::RpcError;

/// Why a request brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The node looked, and there is no such thing.
    #[error("not found: {text}")]
    NotFound {
        /// What the node says is missing.
        text: String,
    },
    /// Nobody answered, or whoever answered could not say.
    #[error("no answer")]
    Unavailable(#[from] Unavailable),
    /// The node refuses the request as it stands.
    #[error("invalid request: {text}")]
    InvalidArgument {
        /// What the node finds wrong.
        text: String,
    },
    /// The node does not have this method, or not by this transport.
    #[error("the node does not offer this: {text}")]
    Unimplemented {
        /// What the node says.
        text: String,
    },
    /// The node answered something that has no meaning here.
    #[error("unreadable answer")]
    Malformed(#[from] Malformed),
    /// The node refuses for another reason.
    #[error("refused by the node with code {code} of {codespace}: {text}")]
    Rejected {
        /// Module that refuses; `sdk` where only that is known. `abci_query` never says more.
        codespace: String,
        /// Its number for the reason.
        code: u32,
        /// Its words.
        text: String,
    },
}

impl Failure {
    /// Whether the same request may succeed later, or at another node.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(unavailable) => unavailable.is_transient(),
            Self::NotFound { .. }
            | Self::InvalidArgument { .. }
            | Self::Unimplemented { .. }
            | Self::Malformed(_)
            | Self::Rejected { .. } => false,
        }
    }

    /// The node's own words, where it said something.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::NotFound { text }
            | Self::InvalidArgument { text }
            | Self::Unimplemented { text }
            | Self::Rejected { text, .. }
            | Self::Unavailable(Unavailable::Node { text }) => Some(text),
            Self::Unavailable(_) | Self::Malformed(_) => None,
        }
    }
}

/// A request without an answer, and what the node was looking at when it said why.
///
/// A refusal says how things are as much as an answer does, so its height matters as much: behind
/// one address there may be several nodes, and the next one asked may know fewer blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// Why.
    pub failure: Failure,
    /// Height of the state that the node looked at, where it says so.
    pub height: Option<u64>,
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for NoAnswer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self { failure, height: None }
    }
}

impl From<Unavailable> for NoAnswer {
    fn from(unavailable: Unavailable) -> Self {
        Failure::from(unavailable).into()
    }
}

impl From<Malformed> for NoAnswer {
    fn from(malformed: Malformed) -> Self {
        Failure::from(malformed).into()
    }
}

impl From<RpcError> for NoAnswer {
    fn from(error: RpcError) -> Self {
        Failure::from(error).into()
    }
}

impl From<NoAnswer> for Failure {
    fn from(none: NoAnswer) -> Self {
        none.failure
    }
}

/// Why nothing can be said: neither that the thing exists nor that it does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No connection could be made.
    #[error("cannot connect to {endpoint}: {reason}")]
    Connect {
        /// Whom.
        endpoint: String,
        /// Why not.
        reason: String,
    },
    /// The answer took too long.
    #[error("no answer from {endpoint} within {after:?}")]
    Timeout {
        /// Whose.
        endpoint: String,
        /// How long was waited.
        after: Duration,
    },
    /// The connection ended before the answer was complete.
    #[error("connection to {endpoint} broke: {reason}")]
    Broken {
        /// To whom.
        endpoint: String,
        /// How.
        reason: String,
    },
    /// An HTTP error that is not the node's: of a proxy, or because the path is wrong.
    #[error("{endpoint} answered HTTP {status}")]
    HttpStatus {
        /// Who answered.
        endpoint: String,
        /// The status.
        status: u16,
    },
    /// Something answered that is no CometBFT node.
    #[error("{endpoint} does not speak CometBFT JSON-RPC: {reason}")]
    NotANode {
        /// Who answered.
        endpoint: String,
        /// What gave it away.
        reason: String,
    },
    /// The node itself says that it cannot answer now.
    #[error("the node cannot answer: {text}")]
    Node {
        /// Its words.
        text: String,
    },
}

impl Unavailable {
    /// Whether the same request may succeed later, or at another node.
    pub const fn is_transient(&self) -> bool {
        match self {
            // Redirects, credentials and wrong paths stay what they are; 408 and 429 ask for time.
            Self::HttpStatus { status, .. } => matches!(status, 408 | 429 | 500..),
            Self::Connect { .. }
            | Self::Timeout { .. }
            | Self::Broken { .. }
            | Self::NotANode { .. }
            | Self::Node { .. } => true,
        }
    }
}

/// What is wrong with an answer that arrived whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// More bytes than we are ready to hold.
    #[error("more than {limit} bytes")]
    TooLarge {
        /// How many we take.
        limit: usize,
    },
    /// JSON of another shape.
    #[error("{what} has another shape: {reason}")]
    Json {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Not the protobuf message it should be.
    #[error("not a {message}")]
    Protobuf {
        /// Full name of the message.
        message: String,
        /// What is wrong with the bytes.
        source: prost::DecodeError,
    },
    /// A part is missing that must be there.
    #[error("{part} is missing")]
    Missing {
        /// Which part.
        part: &'static str,
    },
    /// A part has no meaning.
    #[error("{part} has no meaning")]
    Part {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        source: Box<ConvertError>,
    },
    /// A part is not what it should be.
    #[error("{part} is {found:?}, expected {expected}")]
    Unexpected {
        /// Which part.
        part: &'static str,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The node gave a page key that it had given before: the list has no end.
    #[error("page {page} leads back to a page already read")]
    EndlessPages {
        /// Number of the page, from 1.
        page: usize,
    },
    /// The list has more pages than any list can have.
    #[error("more than {limit} pages")]
    TooManyPages {
        /// How many we read.
        limit: usize,
    },
}

impl Malformed {
    pub(crate) fn part(part: &'static str, source: impl Into<ConvertError>) -> Self {
        Self::Part { part, source: Box::new(source.into()) }
    }
}

/// Longest text of a node that is kept: some carry a stack trace.
const LONGEST_TEXT: usize = 4096;

/// The node's words, cut where they get long.
pub(crate) fn words(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// An error and its sources on one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    words(&akash_types::with_causes(error))
}
