//! Why a query has no answer, in the two forms that clients see.

use tonic::Code;

use crate::state::{GrpcCode, QueryError};

const UNKNOWN_REQUEST: (u32, &str) = (6, "unknown request");
const INVALID_REQUEST: (u32, &str) = (18, "invalid request");
const INVALID_HEIGHT: (u32, &str) = (26, "invalid height");

/// A refusal over gRPC and through `abci_query`; its codespace there is always `sdk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) grpc_code: Code,
    pub(crate) grpc_text: String,
    pub(crate) abci_code: u32,
    pub(crate) abci_log: String,
    /// Height of the state that was looked at; 0 where none was.
    pub(crate) height: u64,
}

impl Refusal {
    pub(crate) fn unknown_request(text: &str) -> Self {
        Self::sdk(UNKNOWN_REQUEST, text)
    }

    pub(super) fn invalid_request(text: impl AsRef<str>) -> Self {
        Self::sdk(INVALID_REQUEST, text.as_ref())
    }

    pub(super) fn invalid_height(text: &str) -> Self {
        Self::sdk(INVALID_HEIGHT, text)
    }

    /// An error that the framework itself has registered.
    fn sdk((code, name): (u32, &str), text: &str) -> Self {
        let text = format!("{text}: {name}");
        let (grpc_text, abci_log) = (text.clone(), text);
        Self { grpc_code: Code::Unknown, grpc_text, abci_code: code, abci_log, height: 0 }
    }

    /// The same of a state at a height. Whether a method exists is found out before that.
    pub(super) fn at(self, height: u64) -> Self {
        let height = if self.is_unknown_path() { 0 } else { height };
        Self { height, ..self }
    }

    /// Whether there is no such method.
    pub(crate) fn is_unknown_path(&self) -> bool {
        self.grpc_code == Code::Unimplemented
    }
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        Self {
            grpc_code: Code::from_i32(error.grpc_code().number()),
            grpc_text: error.grpc_text(),
            abci_code: error.abci_code(),
            abci_log: error.abci_log(),
            height: 0,
        }
    }
}

pub(super) fn status(code: GrpcCode, text: impl Into<String>) -> Refusal {
    QueryError::status(code, text).into()
}
