//! How pods of tenants are confined, and how a lease keeps what it was created with.
//!
//! The `hardened` profile adds to what the Go provider writes: the runtime's seccomp profile, two
//! dropped capabilities, and networks that pods do not reach. A changed pod template restarts its
//! pods, so only new leases get it. What a lease got is recorded in annotations of its namespace; a
//! namespace without them was made by the Go provider, or under the profile `go`.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::str::FromStr;

use k8s_openapi::api::core::v1::{Capabilities, Namespace, SeccompProfile};
use provider_crd::labels::{POD_PROFILE, RUNTIME_CLASS};

/// Capabilities that a hardened container does not have.
const DROPPED: [&str; 2] = ["NET_RAW", "MKNOD"];
/// Networks that hardened pods do not reach: link-local, where clouds serve metadata, and
/// carrier-grade NAT.
const UNREACHABLE: [&str; 2] = [LINK_LOCAL, "100.64.0.0/10"];
/// Where a cluster's DNS cache on each node listens.
pub(crate) const LINK_LOCAL: &str = "169.254.0.0/16";
/// Where most clouds serve metadata, and some of them DNS.
pub(crate) const METADATA: &str = "169.254.169.254/32";

/// How pods of a lease are confined. The default is what the Go provider does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Isolation {
    /// Security context and reach of pods (`tenant-pod-profile`).
    pub profile: PodProfile,
    /// Runtime class of pods that need no other (`tenant-runtime-class`).
    pub runtime_class: Option<String>,
    /// Further networks that hardened pods do not reach (`tenant-egress-deny`).
    pub denied: Vec<Ipv4Network>,
}

/// Security context and reach of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, derive_more::Display)]
pub enum PodProfile {
    #[default]
    #[display("go")]
    Go,
    #[display("hardened")]
    Hardened,
}

impl FromStr for PodProfile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        match text {
            "go" => Ok(Self::Go),
            "hardened" => Ok(Self::Hardened),
            _ => Err(UnknownProfile(text.to_owned())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a pod profile")]
pub struct UnknownProfile(String);

impl Isolation {
    /// What a lease gets: what its namespace records, or this for a lease that has none yet.
    ///
    /// The denied networks are this one's in any case: a NetworkPolicy restarts nothing.
    pub fn of_lease(&self, namespace: Option<&Namespace>) -> Self {
        let Some(namespace) = namespace else { return self.clone() };
        let recorded = |key| namespace.metadata.annotations.as_ref()?.get(key);
        Self {
            profile: match recorded(POD_PROFILE) {
                // A profile of a later version is not weaker than the strictest that is known.
                Some(profile) => profile.parse().unwrap_or(PodProfile::Hardened),
                None => PodProfile::Go,
            },
            runtime_class: recorded(RUNTIME_CLASS).cloned(),
            denied: self.denied.clone(),
        }
    }

    /// The record of it on a lease's namespace; `None` if it is what the Go provider does.
    pub(crate) fn record(&self) -> Option<BTreeMap<String, String>> {
        let profile =
            self.is_hardened().then(|| (POD_PROFILE.to_owned(), self.profile.to_string()));
        let class = self.runtime_class.clone().map(|class| (RUNTIME_CLASS.to_owned(), class));
        let record: BTreeMap<_, _> = profile.into_iter().chain(class).collect();
        (!record.is_empty()).then_some(record)
    }

    pub(crate) fn is_hardened(&self) -> bool {
        self.profile == PodProfile::Hardened
    }

    pub(crate) fn seccomp(&self) -> Option<SeccompProfile> {
        let type_ = "RuntimeDefault".to_owned();
        self.is_hardened().then(|| SeccompProfile { type_, ..SeccompProfile::default() })
    }

    pub(crate) fn capabilities(&self) -> Option<Capabilities> {
        let drop = Some(DROPPED.map(str::to_owned).into());
        self.is_hardened().then(|| Capabilities { drop, ..Capabilities::default() })
    }

    /// Networks that pods do not reach beside private ones, each once.
    pub(crate) fn unreachable(&self) -> Vec<String> {
        if !self.is_hardened() {
            return Vec::new();
        }
        let mut networks: Vec<String> = UNREACHABLE.map(str::to_owned).into();
        for network in self.denied.iter().map(ToString::to_string) {
            if !networks.contains(&network) {
                networks.push(network);
            }
        }
        networks
    }
}

/// A part of the IPv4 addresses, such as `203.0.113.0/24`. Pods reach no IPv6 address outside of
/// their lease, so there is nothing to deny there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{}/{}", self.base, self.bits)]
pub struct Ipv4Network {
    base: Ipv4Addr,
    bits: u8,
}

/// Why a text is no network that can be denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    #[error("{0:?} is not an IPv4 network")]
    Form(String),
    #[error("{0:?} is every address")]
    All(String),
    #[error("{text:?} has an address inside its network: it is written as {network}")]
    Inside { text: String, network: Ipv4Network },
}

impl FromStr for Ipv4Network {
    type Err = NetworkError;

    /// Reads a network, or one address as the network that holds only it.
    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let form = || NetworkError::Form(text.to_owned());
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let address: Ipv4Addr = address.parse().map_err(|_| form())?;
        let bits: u8 = bits.parse().map_err(|_| form())?;
        let mask = match bits {
            0 => return Err(NetworkError::All(text.to_owned())),
            1..=32 => u32::MAX << (32 - bits),
            _ => return Err(form()),
        };
        let network = Self { base: Ipv4Addr::from_bits(address.to_bits() & mask), bits };
        if network.base == address {
            Ok(network)
        } else {
            Err(NetworkError::Inside { text: text.to_owned(), network })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(annotations: &[(&str, &str)]) -> Namespace {
        let mut namespace = Namespace::default();
        let annotations = annotations.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        namespace.metadata.annotations = Some(annotations.collect());
        namespace
    }

    fn hardened() -> Isolation {
        Isolation {
            profile: PodProfile::Hardened,
            runtime_class: Some("gvisor".to_owned()),
            denied: vec!["203.0.113.0/24".parse().unwrap()],
        }
    }

    #[test]
    fn a_lease_keeps_what_its_namespace_records_whatever_is_set_now() {
        let go = Isolation::default();
        assert_eq!(hardened().of_lease(None), hardened());
        assert_eq!(go.of_lease(None), go);
        let mut created = Namespace::default();
        created.metadata.annotations = hardened().record();
        assert_eq!(go.of_lease(Some(&created)), Isolation { denied: vec![], ..hardened() });
        assert_eq!(hardened().of_lease(Some(&created)), hardened());
        // What the Go provider made, and what was made under the profile `go`.
        let denied = hardened().denied;
        for made in [Namespace::default(), namespace(&[("team", "a")])] {
            let kept = hardened().of_lease(Some(&made));
            assert_eq!(kept, Isolation { denied: denied.clone(), ..go.clone() });
            assert!(kept.unreachable().is_empty());
        }
        assert_eq!(go.record(), None);
    }

    #[test]
    fn a_profile_of_a_later_version_is_not_weakened() {
        let later = namespace(&[(POD_PROFILE, "strict")]);
        assert!(Isolation::default().of_lease(Some(&later)).is_hardened());
    }

    #[test]
    fn networks_are_written_in_one_way_and_never_all_addresses() {
        for (text, network) in
            [("203.0.113.0/24", "203.0.113.0/24"), ("203.0.113.7", "203.0.113.7/32")]
        {
            assert_eq!(text.parse::<Ipv4Network>().unwrap().to_string(), network);
        }
        let refused = |text: &str| text.parse::<Ipv4Network>().unwrap_err();
        for wrong in ["", "example.com", "1.2.3.4/33", "1.2.3/24", "fd00::/8", "1.2.3.4/-1"] {
            assert_eq!(refused(wrong), NetworkError::Form(wrong.to_owned()));
        }
        assert_eq!(refused("0.0.0.0/0"), NetworkError::All("0.0.0.0/0".to_owned()));
        let inside = refused("203.0.113.7/24").to_string();
        assert!(inside.ends_with("203.0.113.0/24"), "{inside}");
    }
}
