//! What a node's refusal means, whichever way it was sent.
//!
//! Over gRPC a module's error is `codespace <cs> code <n>: <text>`, a plain status its bare text.
//! Through `abci_query` the node turns the gRPC code into one of four SDK codes and appends that
//! code's text; of a plain status it also keeps the code's name. Undoing that gives the same
//! [`Failure`] for the same refusal, but for two losses: a module's own number is only seen over
//! gRPC, and an error that was never a gRPC status is `Unknown` there and 18 (invalid request) here.

use tonic::Code;

use super::failure::words;
use super::{Failure, Unavailable};

/// Codespace of the SDK's own errors.
const SDK: &str = "sdk";

// SDK codes that the node maps gRPC codes to, with the text it appends.
const UNAUTHORIZED: u32 = 4;
const UNKNOWN_REQUEST: u32 = 6;
const INVALID_REQUEST: u32 = 18;
const KEY_NOT_FOUND: u32 = 22;
/// Answered by a node that has no state yet.
const INVALID_HEIGHT: u32 = 26;

/// A refusal that came as a gRPC status.
pub(super) fn from_grpc(code: Code, message: &str) -> Failure {
    let (codespace, number, text) = match module_error(message) {
        Some((codespace, number, text)) => (codespace, Some(number), text),
        None => (SDK, None, message),
    };
    let failure_text = words(text);
    match code {
        Code::NotFound => Failure::NotFound { text: failure_text },
        Code::InvalidArgument | Code::FailedPrecondition => {
            Failure::InvalidArgument { text: failure_text }
        }
        Code::Unimplemented => Failure::Unimplemented { text: failure_text },
        // The node, or a proxy before it, failed at its own work.
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::Cancelled
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Internal
        | Code::DataLoss => Unavailable::Node { text: failure_text }.into(),
        _ if is_starting(text) => Unavailable::Node { text: failure_text }.into(),
        Code::Unauthenticated => rejected(codespace, number.unwrap_or(UNAUTHORIZED), failure_text),
        _ => rejected(codespace, number.unwrap_or(UNKNOWN_REQUEST), failure_text),
    }
}

/// A refusal that came as the response of `abci_query`.
pub(super) fn from_abci(codespace: &str, code: u32, log: &str) -> Failure {
    if codespace != SDK {
        return rejected(codespace, code, words(log));
    }
    let appended = match code {
        UNAUTHORIZED => ": unauthorized",
        UNKNOWN_REQUEST => ": unknown request",
        INVALID_REQUEST => ": invalid request",
        KEY_NOT_FOUND => ": key not found",
        _ => "",
    };
    let text = log.strip_suffix(appended).unwrap_or(log);
    if let Some((name, text)) = plain_status(text) {
        return from_grpc(name, text);
    }
    let grpc = match code {
        KEY_NOT_FOUND => Code::NotFound,
        INVALID_REQUEST => Code::InvalidArgument,
        UNAUTHORIZED => Code::Unauthenticated,
        UNKNOWN_REQUEST if text == "unknown query path" => Code::Unimplemented,
        UNKNOWN_REQUEST => Code::Unknown,
        INVALID_HEIGHT => Code::Unavailable,
        _ => return rejected(codespace, code, words(text)),
    };
    from_grpc(grpc, text)
}

fn rejected(codespace: &str, code: u32, text: String) -> Failure {
    Failure::Rejected { codespace: codespace.to_owned(), code, text }
}

/// Whether this is what a node says before its first block.
fn is_starting(text: &str) -> bool {
    text.contains("is not ready; please wait for first block")
}

/// Splits `codespace market code 15: text`.
fn module_error(message: &str) -> Option<(&str, u32, &str)> {
    let (codespace, rest) = message.strip_prefix("codespace ")?.split_once(" code ")?;
    let (code, text) = rest.split_once(": ")?;
    Some((codespace, code.parse().ok()?, text))
}

/// Splits `rpc error: code = NotFound desc = text`.
fn plain_status(text: &str) -> Option<(Code, &str)> {
    let (name, text) = text.strip_prefix("rpc error: code = ")?.split_once(" desc = ")?;
    let code = match name {
        "Canceled" => Code::Cancelled,
        "InvalidArgument" => Code::InvalidArgument,
        "DeadlineExceeded" => Code::DeadlineExceeded,
        "NotFound" => Code::NotFound,
        "AlreadyExists" => Code::AlreadyExists,
        "PermissionDenied" => Code::PermissionDenied,
        "ResourceExhausted" => Code::ResourceExhausted,
        "FailedPrecondition" => Code::FailedPrecondition,
        "Aborted" => Code::Aborted,
        "OutOfRange" => Code::OutOfRange,
        "Unimplemented" => Code::Unimplemented,
        "Internal" => Code::Internal,
        "Unavailable" => Code::Unavailable,
        "DataLoss" => Code::DataLoss,
        "Unauthenticated" => Code::Unauthenticated,
        _ => Code::Unknown,
    };
    Some((code, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn one_refusal_means_the_same_by_both_ways() {
        let not_found = Failure::NotFound { text: text("invalid bid: bid not found") };
        let no_account = Failure::NotFound { text: text("account akash1x not found") };
        let bad_state = Failure::InvalidArgument { text: text("invalid state value") };
        let anonymous = rejected("sdk", 4, text("who are you"));
        let odd = rejected("sdk", 6, text("recovered: boom"));
        let broken = Failure::Unavailable(Unavailable::Node { text: text("oops") });
        let starting = "akash is not ready; please wait for first block";
        let early = Failure::Unavailable(Unavailable::Node { text: text(starting) });
        let nothing = |words: &str| Failure::Unimplemented { text: text(words) };
        let plain = |name: &str, words: &str, end: &str| {
            format!("rpc error: code = {name} desc = {words}: {end}")
        };
        for (failure, grpc, message, abci, log) in [
            (
                &not_found,
                Code::NotFound,
                "codespace market code 18: invalid bid: bid not found",
                22,
                text("invalid bid: bid not found: key not found"),
            ),
            (
                &no_account,
                Code::NotFound,
                "account akash1x not found",
                22,
                plain("NotFound", "account akash1x not found", "key not found"),
            ),
            (
                &bad_state,
                Code::InvalidArgument,
                "invalid state value",
                18,
                plain("InvalidArgument", "invalid state value", "invalid request"),
            ),
            (
                &bad_state,
                Code::FailedPrecondition,
                "codespace market code 3: invalid state value",
                18,
                text("invalid state value: invalid request"),
            ),
            (
                &anonymous,
                Code::Unauthenticated,
                "who are you",
                4,
                plain("Unauthenticated", "who are you", "unauthorized"),
            ),
            (
                &odd,
                Code::Unknown,
                "recovered: boom",
                6,
                plain("Unknown", "recovered: boom", "unknown request"),
            ),
            (&broken, Code::Internal, "oops", 6, plain("Internal", "oops", "unknown request")),
            (
                &broken,
                Code::Unavailable,
                "oops",
                6,
                plain("Unavailable", "oops", "unknown request"),
            ),
            (&early, Code::Unknown, starting, 26, text(starting)),
            (
                &nothing("unknown query path"),
                Code::Unimplemented,
                "unknown query path",
                6,
                text("unknown query path: unknown request"),
            ),
        ] {
            assert_eq!(&from_grpc(grpc, message), failure, "{message}");
            assert_eq!(&from_abci("sdk", abci, &log), failure, "{log}");
        }
    }

    #[test]
    fn a_module_is_named_where_the_node_names_it() {
        let failure = from_grpc(Code::Unknown, "codespace market code 4: price above max");
        assert_eq!(failure, rejected("market", 4, text("price above max")));
        let failure = from_abci("market", 4, "price above max");
        assert_eq!(failure, rejected("market", 4, text("price above max")));
        for odd in ["codespace x", "codespace x code y: z", "codespace a code 5"] {
            assert_eq!(from_grpc(Code::Unknown, odd), rejected("sdk", 6, text(odd)));
        }
    }

    #[test]
    fn an_error_that_was_never_a_status_differs() {
        let words = "decoding bech32 failed";
        assert_eq!(from_grpc(Code::Unknown, words), rejected("sdk", 6, text(words)));
        let failure = from_abci("sdk", 18, "decoding bech32 failed: invalid request");
        assert_eq!(failure, Failure::InvalidArgument { text: text(words) });
    }

    #[test]
    fn only_not_found_is_not_found() {
        for code in (0..=16).map(Code::from_i32).filter(|&code| code != Code::NotFound) {
            let failure = from_grpc(code, "bid not found");
            assert!(!matches!(failure, Failure::NotFound { .. }), "{code:?}");
        }
        for code in (1..50).filter(|&code| code != KEY_NOT_FOUND) {
            let failure = from_abci("sdk", code, "bid not found: key not found");
            assert!(!matches!(failure, Failure::NotFound { .. }), "{code}");
        }
        assert!(!matches!(from_abci("x", 22, "key not found"), Failure::NotFound { .. }));
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "ä".repeat(10_000);
        let Failure::Rejected { text, .. } = from_abci("sdk", 1, &long) else { panic!() };
        assert_eq!(text.chars().count(), 4097);
    }
}
