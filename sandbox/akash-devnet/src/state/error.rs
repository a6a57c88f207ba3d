//! Errors of the chain's modules: codespace, code, gRPC status and text, as clients see them.

use std::fmt;

/// Status codes of gRPC that the chain's queries answer with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrpcCode {
    Unknown = 2,
    /// The request makes no sense.
    InvalidArgument = 3,
    /// What was asked for does not exist.
    NotFound = 5,
    AlreadyExists = 6,
    /// It is not allowed.
    PermissionDenied = 7,
    ResourceExhausted = 8,
    /// The state does not allow it.
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
    Unauthenticated = 16,
}

impl GrpcCode {
    /// The name as in the text of a Go status error.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::InvalidArgument => "InvalidArgument",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::PermissionDenied => "PermissionDenied",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::FailedPrecondition => "FailedPrecondition",
            Self::Unimplemented => "Unimplemented",
            Self::Internal => "Internal",
            Self::Unauthenticated => "Unauthenticated",
        }
    }

    pub const fn number(self) -> i32 {
        self as i32
    }
}

/// An error that a module of the chain has registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleError {
    pub(crate) codespace: &'static str,
    pub(crate) code: u32,
    pub(crate) grpc: GrpcCode,
    pub(crate) text: &'static str,
}

impl ModuleError {
    pub(crate) const fn new(
        codespace: &'static str,
        code: u32,
        grpc: GrpcCode,
        text: &'static str,
    ) -> Self {
        Self { codespace, code, grpc, text }
    }

    /// The error with what happened before its text (Go: `Wrap`).
    pub(crate) fn wrap(self, what: impl fmt::Display) -> TxError {
        TxError { log: format!("{what}: {}", self.text), ..TxError::from(self) }
    }

    /// The error with a detail after its text (Go: `%w: …`).
    pub(crate) fn detail(self, what: impl fmt::Display) -> TxError {
        TxError { log: format!("{}: {what}", self.text), ..TxError::from(self) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{log}")]
pub struct TxError {
    /// Module whose error it is; `sdk` for errors of the framework.
    pub codespace: &'static str,
    /// Number of the error in its codespace; never 0.
    pub code: u32,
    /// Its text, as in the log of the result.
    pub log: String,
    /// Where the real node says that it was raised; part of the text of a failed simulation.
    pub origin: &'static str,
    pub(crate) grpc: GrpcCode,
}

/// Where the framework runs messages, and so where their errors come from.
const MESSAGES: &str = "cosmos/cosmos-sdk@v0.53/baseapp/baseapp.go:1051";
const PANIC: u32 = 111_222;
const OUT_OF_GAS: u32 = 11;

impl From<ModuleError> for TxError {
    fn from(error: ModuleError) -> Self {
        Self {
            codespace: error.codespace,
            code: error.code,
            log: error.text.to_owned(),
            origin: MESSAGES,
            grpc: error.grpc,
        }
    }
}

impl TxError {
    /// What a panic of the real node becomes. The stack is not ours to imitate.
    pub(crate) fn panic(what: impl fmt::Display) -> Self {
        Self {
            codespace: "undefined",
            code: PANIC,
            log: format!("recovered: {what}\nstack:\n: panic"),
            origin: MESSAGES,
            grpc: GrpcCode::Unknown,
        }
    }

    pub(crate) fn at(self, origin: &'static str) -> Self {
        Self { origin, ..self }
    }

    /// The error as seen from further out (Go: `Wrap`).
    pub(crate) fn within(self, what: impl fmt::Display) -> Self {
        Self { log: format!("{what}: {}", self.log), ..self }
    }

    /// Whether the real node would have panicked: such errors cannot be ignored on the way out.
    pub(crate) fn unwinds(&self) -> bool {
        self.code == PANIC || (self.codespace == sdk::SPACE && self.code == OUT_OF_GAS)
    }
}

/// How a message, or a part of it, ends.
pub(crate) type Outcome<T = ()> = Result<T, TxError>;

/// Goes on after an error where the chain does, but not after one that unwinds.
pub(crate) fn ignore<T>(outcome: Outcome<T>) -> Outcome<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.unwinds() => Err(error),
        Err(_) => Ok(None),
    }
}

pub(crate) mod sdk {
    use super::{GrpcCode, ModuleError};

    pub(crate) const SPACE: &str = "sdk";

    const fn error(code: u32, text: &'static str) -> ModuleError {
        ModuleError::new(SPACE, code, GrpcCode::Unknown, text)
    }

    pub(crate) const TX_DECODE: ModuleError = error(2, "tx parse error");
    pub(crate) const UNAUTHORIZED: ModuleError = error(4, "unauthorized");
    pub(crate) const INSUFFICIENT_FUNDS: ModuleError = error(5, "insufficient funds");
    pub(crate) const UNKNOWN_REQUEST: ModuleError = error(6, "unknown request");
    pub(crate) const INVALID_ADDRESS: ModuleError = error(7, "invalid address");
    pub(crate) const INVALID_PUBKEY: ModuleError = error(8, "invalid pubkey");
    pub(crate) const UNKNOWN_ADDRESS: ModuleError = error(9, "unknown address");
    pub(crate) const INVALID_COINS: ModuleError = error(10, "invalid coins");
    pub(crate) const OUT_OF_GAS: ModuleError = error(11, "out of gas");
    pub(crate) const MEMO_TOO_LARGE: ModuleError = error(12, "memo too large");
    pub(crate) const INSUFFICIENT_FEE: ModuleError = error(13, "insufficient fee");
    pub(crate) const TOO_MANY_SIGNATURES: ModuleError =
        error(14, "maximum number of signatures exceeded");
    pub(crate) const NO_SIGNATURES: ModuleError = error(15, "no signatures supplied");
    pub(crate) const INVALID_REQUEST: ModuleError = error(18, "invalid request");
    pub(crate) const KEY_NOT_FOUND: ModuleError = error(22, "key not found");
    pub(crate) const INVALID_TYPE: ModuleError = error(29, "invalid type");
    pub(crate) const TX_TIMEOUT_HEIGHT: ModuleError = error(30, "tx timeout height");
    pub(crate) const WRONG_SEQUENCE: ModuleError = error(32, "incorrect account sequence");
    pub(crate) const CONFLICT: ModuleError = error(36, "conflict");
    pub(crate) const NOT_SUPPORTED: ModuleError = error(37, "feature not supported");
    pub(crate) const NOT_FOUND: ModuleError = error(38, "not found");
    pub(crate) const INVALID_GAS_LIMIT: ModuleError = error(41, "invalid gas limit");
}
