//! Tokens by which an account acts at a provider: JWTs signed with the account's own key.
//!
//! ```text
//! text ─ Token::parse ─▶ Token ─ issuer() ─▶ (key of the issuer, from the chain)
//!                          │                          │
//!                          └────── verify(key, now) ◀─┘
//!                                        ├─ signature wrong        ─▶ VerifyError::Signature
//!                                        ├─ claims break a rule    ─▶ VerifyError::Claims
//!                                        └─ Claims: rules hold, times are right
//! ```
//!
//! The signature is looked at before the claims, so a token that is both forged and expired is
//! forged. No clock and no lookup here: time and key are given. What a token
//! allows is decided elsewhere.

mod rules;
mod token;

pub use rules::{ClaimsError, Scope, ScopeError};
pub use token::{
    Access, Algorithm, Claims, DeploymentGrant, IssueError, Malformed, Permission, ProviderAccess,
    Token, VerifyError, issue,
};

#[cfg(test)]
mod tests;
