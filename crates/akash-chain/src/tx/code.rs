//! What a node says of a transaction it refuses.
//!
//! Texts are those of cosmos-sdk; where a code says the same, the code is looked at.

/// A transaction that was refused, before a block or in one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused with code {code} of {codespace}: {log}")]
pub struct Refusal {
    /// Module that refuses.
    pub codespace: String,
    /// Its number for the reason.
    pub code: u32,
    /// Its words.
    pub log: String,
}

/// Reasons that a sender can do something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The sequence is not the account's next.
    WrongSequence,
    /// The signature does not fit: wrong key, account number or chain id.
    BadSignature,
    /// The account cannot pay.
    InsufficientFunds,
    /// It needed more gas than it was given.
    OutOfGas,
    /// The fee is below what this node takes.
    InsufficientFee,
    /// The node has it already.
    InCache,
    /// The node has too many transactions waiting.
    MempoolFull,
    /// It has too many bytes.
    TooLarge,
    /// Its timeout height has passed.
    TimedOut,
    /// Whatever a module has against it.
    Other,
}

/// The sequence that was used and the one that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceMismatch {
    /// What the node waits for.
    pub expected: u64,
    /// What it got.
    pub got: u64,
}

impl Refusal {
    /// Codespace of the SDK's own reasons.
    pub const SDK: &'static str = "sdk";

    pub(super) fn sdk(code: u32, log: &str) -> Self {
        Self { codespace: Self::SDK.to_owned(), code, log: log.to_owned() }
    }

    /// What kind of reason it is.
    pub fn kind(&self) -> RefusalKind {
        if self.codespace != Self::SDK {
            return RefusalKind::Other;
        }
        match self.code {
            // 3 is what older versions say.
            3 | 32 => RefusalKind::WrongSequence,
            4 => RefusalKind::BadSignature,
            5 => RefusalKind::InsufficientFunds,
            11 => RefusalKind::OutOfGas,
            13 => RefusalKind::InsufficientFee,
            19 => RefusalKind::InCache,
            20 => RefusalKind::MempoolFull,
            21 => RefusalKind::TooLarge,
            30 => RefusalKind::TimedOut,
            _ => RefusalKind::Other,
        }
    }

    /// Which sequence was due, if that is the reason and the node says so.
    pub fn sequence_mismatch(&self) -> Option<SequenceMismatch> {
        sequence_mismatch(&self.log)
    }

    /// Which message is at fault, counted from 0, where it was one of them.
    pub fn message_index(&self) -> Option<usize> {
        message_index(&self.log)
    }
}

/// What a JSON-RPC error of a broadcast means, where it stands for a refusal.
pub(super) fn refusal_from_rpc(text: &str) -> Option<Refusal> {
    let code = if sequence_mismatch(text).is_some() {
        32
    } else if text.contains("tx already exists in cache") {
        19
    } else if text.contains("mempool is full") {
        20
    } else if text.to_ascii_lowercase().contains("tx too large") {
        21
    } else {
        return None;
    };
    Some(Refusal::sdk(code, text))
}

/// Finds `account sequence mismatch, expected 9, got 14`.
pub(super) fn sequence_mismatch(text: &str) -> Option<SequenceMismatch> {
    let (_, rest) = text.split_once("account sequence mismatch, expected ")?;
    let (expected, rest) = leading_number(rest)?;
    let (got, _) = leading_number(rest.strip_prefix(", got ")?)?;
    Some(SequenceMismatch { expected, got })
}

/// Finds `message index: 3`.
pub(super) fn message_index(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("failed to execute message; message index: ")?;
    let (index, _) = leading_number(rest)?;
    usize::try_from(index).ok()
}

/// The number that a text begins with, and what follows.
pub(super) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_that_stand_for_codes() {
        for (text, code) in [
            ("broadcast error: account sequence mismatch, expected 9, got 14: incorrect", Some(32)),
            ("account sequence mismatch, expected x, got 14", None),
            ("account sequence mismatch, expected 9", None),
            ("tx already exists in cache", Some(19)),
            ("mempool is full: number of txs 5000 (max: 5000)", Some(20)),
            ("Tx too large. Max size is 1048576, but got 2000000", Some(21)),
            ("tx too large", Some(21)),
            ("timed out waiting for tx to be included in a block", None),
            ("", None),
        ] {
            assert_eq!(refusal_from_rpc(text).map(|refusal| refusal.code), code, "{text}");
        }
    }

    #[test]
    fn logs_say_which_message_and_which_sequence() {
        let refusal = Refusal {
            codespace: "market".to_owned(),
            code: 21,
            log: "failed to execute message; message index: 12: bid exists".to_owned(),
        };
        assert_eq!((refusal.message_index(), refusal.kind()), (Some(12), RefusalKind::Other));
        let refusal = Refusal::sdk(32, "account sequence mismatch, expected 9, got 14: wrong");
        let mismatch = SequenceMismatch { expected: 9, got: 14 };
        assert_eq!(refusal.sequence_mismatch(), Some(mismatch));
        assert_eq!((refusal.message_index(), refusal.kind()), (None, RefusalKind::WrongSequence));
        let huge = "message index: 99999999999999999999999";
        assert_eq!(message_index(&format!("failed to execute message; {huge}")), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,80}", tail in ".{0,20}") {
            let _ = refusal_from_rpc(&text);
            let _ = message_index(&format!("failed to execute message; message index: {tail}"));
            let _ = sequence_mismatch(&format!("account sequence mismatch, expected {tail}"));
        }
    }
}
