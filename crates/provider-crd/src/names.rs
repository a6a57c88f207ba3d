//! What things of a lease are called.
//!
//! Names are computed, never stored: whoever knows the lease finds its objects.

use akash_types::{Address, LeaseId};
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
