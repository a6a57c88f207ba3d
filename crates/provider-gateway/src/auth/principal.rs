//! Who is asking.

use akash_types::Address;

use provider_api::jwt::Claims;

/// Who is asking, as far as they proved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// Nobody in particular.
    Anonymous,
    /// An account, by its certificate: everything that the account may do.
    Owner(Address),
    /// An account, by a token: what the token says.
    Token(Claims),
}

impl Principal {
    /// The account.
    pub const fn account(&self) -> Option<Address> {
        match self {
            Self::Anonymous => None,
            Self::Owner(account) => Some(*account),
            Self::Token(claims) => Some(claims.issuer),
        }
    }
}
