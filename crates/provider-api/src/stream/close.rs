//! What streams end with.

/// Why a stream of a provider ended, as the code of its close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCode {
    /// There is no more.
    Done,
    /// Something else went wrong.
    Failed,
    /// There is no such lease, or nothing of it.
    NotFound,
    /// The cluster does not answer.
    Unavailable,
    /// The lease ended while the stream went on.
    LeaseClosed,
    /// The provider stops; another try reaches the one that follows.
    Stopping,
}

impl CloseCode {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::NotFound,
        Self::Unavailable,
        Self::LeaseClosed,
        Self::Stopping,
    ];

    /// As it is sent.
    pub const fn code(self) -> u16 {
        match self {
            Self::Done => 1000,
            Self::Stopping => 1001,
            Self::Failed => 4000,
            Self::NotFound => 4001,
            Self::Unavailable => 4002,
            Self::LeaseClosed => 4003,
        }
    }

    /// What a code means, if a provider sends it.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }
}
