//! `ProviderLeasedIP`: a port of a service at an address of its own.

use serde::{Deserialize, Serialize};

use crate::manifest::LeaseRef;
use crate::object::{CustomObject, Spec, Unknown};

/// A port at a leased address.
pub type ProviderLeasedIp = CustomObject<ProviderLeasedIpSpec>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderLeasedIpSpec {
    pub lease_id: LeaseRef,
    pub service_name: String,
    pub port: u32,
    pub external_port: u32,
    /// Ports with the same key share an address.
    pub sharing_key: String,
    /// `TCP` or `UDP`.
    pub protocol: String,
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
