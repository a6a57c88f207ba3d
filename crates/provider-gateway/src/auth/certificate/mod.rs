//! Certificates of clients: an account proves itself with a certificate that it published.
//!
//! ```text
//! chain of the handshake ─ ClientCertificate::presented ─▶ ClientCertificate   (says whose it is)
//!                                      │                          │
//!                                   Refusal ◀──── agrees ─────────┤  what the chain holds under its
//!                                                                 ▼  owner and serial number, and now
//!                                                           owner: Address
//! ```
//!
//! The decisions are in `presented.rs`, without lookup or clock. [`CertificateCheck`] looks up and
//! remembers, for a minute: a certificate that is revoked is refused from then on, also within a
//! connection. Whether the client has the key of its certificate is proved by the TLS handshake
//! and not known here.

mod check;
mod presented;

pub use check::CertificateCheck;
pub use presented::{ClientCertificate, Refusal};

#[cfg(test)]
mod tests;
