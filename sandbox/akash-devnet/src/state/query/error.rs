//! Errors of queries, in the two forms that clients see.

use crate::state::error::{GrpcCode, ModuleError, TxError, sdk};

/// Why a query has no answer.
///
/// The real node shows one error in two ways: over gRPC, and through `abci_query`, where the gRPC
/// code becomes a code of codespace `sdk` whose text is appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.grpc_text())]
pub struct QueryError {
    kind: Kind,
    grpc: GrpcCode,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Module {
        codespace: &'static str,
        code: u32,
    },
    Status,
    /// An error without a status.
    Plain,
    UnknownPath,
}

impl QueryError {
    pub(crate) fn unknown_path(path: &str) -> Self {
        let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        Self {
            kind: Kind::UnknownPath,
            grpc: GrpcCode::Unimplemented,
            text: format!("unknown method {method} for service {service}"),
        }
    }

    pub(crate) fn status(grpc: GrpcCode, text: impl Into<String>) -> Self {
        Self { kind: Kind::Status, grpc, text: text.into() }
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::status(GrpcCode::InvalidArgument, text)
    }

    /// An error that carries no status.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { kind: Kind::Plain, grpc: GrpcCode::Unknown, text: text.into() }
    }

    pub const fn grpc_code(&self) -> GrpcCode {
        self.grpc
    }

    pub fn grpc_text(&self) -> String {
        match self.kind {
            Kind::Module { codespace, code } => {
                format!("codespace {codespace} code {code}: {}", self.text)
            }
            Kind::Status | Kind::Plain | Kind::UnknownPath => self.text.clone(),
        }
    }

    /// The code through `abci_query`, always of codespace `sdk`.
    pub const fn abci_code(&self) -> u32 {
        self.abci_error().code
    }

    /// The log through `abci_query`.
    pub fn abci_log(&self) -> String {
        let sdk = self.abci_error().text;
        match self.kind {
            Kind::UnknownPath => format!("unknown query path: {sdk}"),
            Kind::Status => {
                format!("rpc error: code = {} desc = {}: {sdk}", self.grpc.name(), self.text)
            }
            Kind::Module { .. } | Kind::Plain => format!("{}: {sdk}", self.text),
        }
    }

    const fn abci_error(&self) -> ModuleError {
        match (&self.kind, self.grpc) {
            (Kind::Plain, _) => sdk::INVALID_REQUEST,
            (_, GrpcCode::NotFound) => sdk::KEY_NOT_FOUND,
            (_, GrpcCode::InvalidArgument | GrpcCode::FailedPrecondition) => sdk::INVALID_REQUEST,
            (_, GrpcCode::Unauthenticated) => sdk::UNAUTHORIZED,
            _ => sdk::UNKNOWN_REQUEST,
        }
    }
}

impl From<ModuleError> for QueryError {
    fn from(error: ModuleError) -> Self {
        TxError::from(error).into()
    }
}

impl From<TxError> for QueryError {
    fn from(error: TxError) -> Self {
        let kind = Kind::Module { codespace: error.codespace, code: error.code };
        Self { kind, grpc: error.grpc, text: error.log }
    }
}
