//! What became of an intent.

/// How an intent ended. Every intent ends once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its message took effect in a block.
    Executed {
        /// Height of the block.
        height: u64,
    },
    /// The state it wanted was there; whose message did it is not known.
    AlreadyHolds,
    /// The chain does not allow it, and the wanted state does not hold.
    Refused {
        /// Module that refuses; empty where only the words are known.
        codespace: String,
        /// Its number for the reason; 0 where only the words are known.
        code: u32,
        /// Its words.
        log: String,
    },
    /// It makes no message.
    Invalid {
        /// Why not.
        reason: String,
    },
    /// Its deadline passed before it took effect.
    Expired,
    /// Its reason was gone before it took effect.
    Forgotten,
    /// It was sent, its transaction cannot be found, and there is nothing to ask the chain for.
    Unknown,
}

impl Outcome {
    /// Whether the wanted state holds.
    pub const fn holds(&self) -> bool {
        matches!(self, Self::Executed { .. } | Self::AlreadyHolds)
    }

    /// Name in texts and metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Executed { .. } => "executed",
            Self::AlreadyHolds => "already_holds",
            Self::Refused { .. } => "refused",
            Self::Invalid { .. } => "invalid",
            Self::Expired => "expired",
            Self::Forgotten => "forgotten",
            Self::Unknown => "unknown",
        }
    }
}
