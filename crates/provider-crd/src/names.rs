//! What things of a lease are called.
//!
//! Names are computed, never stored: whoever knows the lease finds its objects.

use akash_types::{Address, LeaseId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ListableResource, Metadata, NamespaceResourceScope, Resource};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha224, Sha256};

/// The policy that all pods of a lease are under.
pub const RESTRICTIONS_POLICY: &str = "akash-deployment-restrictions";

/// The namespace of a lease, and the name of its `Manifest`.
pub fn lease_namespace(lease: &LeaseId) -> String {
    base32hex(&Sha224::digest(lease.to_string()))
}

/// What ports of one tenant's endpoint share an address by. It names the owner and not the
/// deployment, so that an address can move between leases.
pub fn sharing_key(owner: &Address, endpoint: &str) -> String {
    let is_usable = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if !endpoint.is_empty() && endpoint.bytes().all(is_usable) {
        return format!("{owner}-ip-{endpoint}");
    }
    let hash = Sha256::digest(endpoint);
    let (start, _) = hash.split_at(15);
    format!("{owner}-ip-{}", base32hex(start))
}

/// The `ProviderLeasedIP` of a port.
pub fn leased_ip(sharing_key: &str, protocol: &str, external_port: u32) -> String {
    format!("{sharing_key}-{protocol}-{external_port}").to_lowercase()
}

/// The Service through which a service is reached on ports of the nodes.
pub fn node_port_service(service: &str) -> String {
    format!("{service}-np")
}

/// The Secret that holds a service's login to an image registry.
pub fn pull_secret(service: &str) -> String {
    format!("docker-creds-{service}")
}

/// The policy that opens a service's ports on the nodes.
pub fn node_port_policy(service: &str) -> String {
    format!("akash-{service}-np")
}

/// The policy that opens a service's ports at leased addresses.
pub fn leased_ip_policy(service: &str) -> String {
    format!("akash-{service}-ip")
}

/// The policy that lets a service reach the API server.
pub fn api_server_policy(service: &str) -> String {
    format!("akash-apiserver-{service}")
}

pub fn volume(service: &str, volume: &str) -> String {
    format!("{service}-{volume}")
}

/// RFC 4648 base32 with the extended hex alphabet, lower case, without padding.
fn base32hex(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut held, mut bits) = (0_u32, 0_u32);
    let mut put = |value: u32| {
        // Five bits: always below 32.
        text.extend(ALPHABET.get(usize::try_from(value & 31).unwrap_or(0)).map(|c| char::from(*c)));
    };
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            put(held >> bits);
        }
        held &= (1 << bits) - 1;
    }
    if bits > 0 {
        put(held << (5 - bits));
    }
    text
}

pub const GROUP: &str = "akash.network";
pub const VERSION: &str = "v2beta2";
/// Both, as objects carry them.
pub const API_VERSION: &str = "akash.network/v2beta2";

/// Keys that are not known here. They are written back as they were read.
pub type Unknown = Map<String, Value>;

/// What sets one kind apart from another.
pub trait Spec {
    const KIND: &'static str;
    const LIST_KIND: &'static str;
    const PLURAL: &'static str;
    /// The singular, for command lines.
    const SINGULAR: &'static str;
    /// What command lines accept for short.
    const SHORT_NAME: &'static str;
}

/// An object: who it is and what it says.
///
/// None of our kinds has a status, and none is ever written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct CustomObject<S> {
    /// Name, labels and what the API server keeps of it.
    #[serde(default)]
    pub metadata: ObjectMeta,
    pub spec: S,
}

impl<S: Spec> Resource for CustomObject<S> {
    const API_VERSION: &'static str = API_VERSION;
    const GROUP: &'static str = GROUP;
    const KIND: &'static str = S::KIND;
    const VERSION: &'static str = VERSION;
    const URL_PATH_SEGMENT: &'static str = S::PLURAL;
    type Scope = NamespaceResourceScope;
}

impl<S: Spec> ListableResource for CustomObject<S> {
    const LIST_KIND: &'static str = S::LIST_KIND;
}

impl<S: Spec> Metadata for CustomObject<S> {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<S: Spec + Serialize> Serialize for CustomObject<S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut object = serializer.serialize_struct(S::KIND, 4)?;
        object.serialize_field("apiVersion", API_VERSION)?;
        object.serialize_field("kind", S::KIND)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &self.spec)?;
        object.end()
    }
}

/// Reads `null` as if the key were absent, as Go does.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

pub(crate) fn is_zero<N: Copy + Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> LeaseId {
        "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx"
            .parse()
            .unwrap()
    }

    #[test]
    fn a_lease_has_the_namespace_that_a_live_cluster_shows() {
        assert_eq!(lease_namespace(&lease()), "h644k9qp92e0qeakjsjkk8f3piivkuhgc6baon9tccuqo");
    }

    #[test]
    fn an_endpoint_name_that_no_object_may_have_is_hashed() {
        let owner = lease().owner();
        for (endpoint, suffix) in
            [("myip", "myip"), ("my-1", "my-1"), ("meYOU", "ps9pn7rkocct7m9ivtovuktb")]
        {
            assert_eq!(sharing_key(&owner, endpoint), format!("{owner}-ip-{suffix}"));
        }
        assert_ne!(sharing_key(&owner, "my_ip"), format!("{owner}-ip-my_ip"));
    }

    #[test]
    fn a_leased_ip_is_named_in_lower_case() {
        assert_eq!(leased_ip("akash1x-ip-myip", "TCP", 80), "akash1x-ip-myip-tcp-80");
    }

    #[test]
    fn base32hex_follows_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "co"),
            ("fo", "cpng"),
            ("foo", "cpnmu"),
            ("foob", "cpnmuog"),
            ("fooba", "cpnmuoj1"),
            ("foobar", "cpnmuoj1e8"),
        ] {
            assert_eq!(base32hex(bytes.as_bytes()), text);
        }
    }
}
