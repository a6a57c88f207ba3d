//! The certificates that the provider shows: where they come from, and that they never run out.
//!
//! - [`plan()`]: what is to be done about the provider's own certificate, as a plain function.
//! - [`OwnCertificate`]: the file `<home>/<address>.pem`, and the task that does what the plan says.
//! - [`Vault`]: where that file is kept too, if the home directory may get lost.
//! - [`AuthorityFiles`]: a certificate of an authority from two files, read again when they change.
//! - [`acme`]: a certificate of an authority, asked for.
//!
//! The provider's own certificate is worth something only once it is published, so a new one is
//! kept beside the old until the chain shows it:
//!
//! ```text
//! nothing ─ Create ─▶ current ─ Publish ─▶ current, published ──▶ Keep
//!                                              │ expires soon, or revoked
//!                                              ▼
//!               current + next ◀─ Create ── (as before)
//!                     │ Publish next, wait
//!                     ▼
//!               next is published ─ Adopt ─▶ current, published ─ Revoke the old one ─▶ Keep
//! ```
//!
//! Must not know who else shows certificates, nor how messages come to the chain.

pub mod acme;
mod authority;
mod own;
mod plan;
mod ports;
mod vault;

pub use authority::{AuthorityError, AuthorityFiles};
pub use own::{OwnCertificate, OwnCertificateError};
pub use plan::{Local, OnChain, Plan, RENEW_BEFORE, Why, plan};
pub use ports::{OwnCertificates, Publisher};
pub use vault::{Step, Vault, VaultFailure, step};
