//! `ProviderHost`: a hostname and the service that it leads to.

use serde::{Deserialize, Serialize};

use crate::manifest::LeaseRef;
use crate::names::{CustomObject, Spec, Unknown};

/// A hostname of a lease. Its name is the hostname.
pub type ProviderHost = CustomObject<ProviderHostSpec>;

/// Where a hostname leads to. Unlike in a `Manifest`, dseq is a number here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderHostSpec {
    pub owner: String,
    pub provider: String,
    pub hostname: String,
    pub dseq: u64,
    pub gseq: u32,
    pub oseq: u32,
    pub service_name: String,
    /// The service's port as seen from outside.
    pub external_port: u32,
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Spec for ProviderHostSpec {
    const KIND: &'static str = "ProviderHost";
    const LIST_KIND: &'static str = "ProviderHostList";
    const PLURAL: &'static str = "providerhosts";
    const SINGULAR: &'static str = "providerhost";
    const SHORT_NAME: &'static str = "ph";
}

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
