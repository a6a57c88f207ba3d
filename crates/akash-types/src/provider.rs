//! Providers, as the chain holds them.

use crate::{Address, Attribute, AuditedAttributes};

/// A registered provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its account.
    pub owner: Address,
    /// Where tenants reach it.
    pub host_uri: String,
    /// What it says of itself.
    pub attributes: Vec<Attribute>,
    /// How to write to its operator; may be empty.
    pub email: String,
    /// Where its operator presents it; may be empty.
    pub website: String,
}

/// What an auditor signed of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedProvider {
    /// Account of the provider.
    pub owner: Address,
    /// Who signed what.
    pub audited: AuditedAttributes,
}
