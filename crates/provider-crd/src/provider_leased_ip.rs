//! `ProviderLeasedIP`: a port of a service at an address of its own.

use serde::{Deserialize, Serialize};

use crate::manifest::LeaseRef;
use crate::object::{CustomObject, Spec, Unknown};

/// A port at a leased address.
pub type ProviderLeasedIp = CustomObject<ProviderLeasedIpSpec>;

/// Which port of which service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderLeasedIpSpec {
    /// The lease.
    pub lease_id: LeaseRef,
    /// The service.
    pub service_name: String,
    /// The container's port.
    pub port: u32,
    /// The port at the address.
    pub external_port: u32,
    /// Ports with the same key share an address.
    pub sharing_key: String,
    /// `TCP` or `UDP`.
    pub protocol: String,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Spec for ProviderLeasedIpSpec {
    const KIND: &'static str = "ProviderLeasedIP";
    const LIST_KIND: &'static str = "ProviderLeasedIPList";
    const PLURAL: &'static str = "providerleasedips";
    const SINGULAR: &'static str = "providerleasedip";
    const SHORT_NAME: &'static str = "plip";
}
