//! What a connection does.

use std::time::Duration;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Bytes pass, and so does the end.
    #[default]
    Pass,
    /// Nothing passes, not even the end, and nobody is told. `None` for both directions.
    Blackhole(Option<Direction>),
    /// Bytes pass so much later.
    Delay(Duration),
    /// Bytes pass in small pieces with pauses between them, at random but the same for each seed.
    Chop {
        /// Where chance starts.
        seed: u64,
    },
    /// Open connections are reset; so are new ones.
    Reset,
    /// New connections are reset at once; open ones pass.
    Refuse,
}

impl Mode {
    /// Whether nothing may pass this way.
    pub(super) fn holds(self, direction: Direction) -> bool {
        match self {
            Self::Blackhole(held) => held.is_none_or(|held| held == direction),
            Self::Pass | Self::Delay(_) | Self::Chop { .. } | Self::Reset | Self::Refuse => false,
        }
    }
}
