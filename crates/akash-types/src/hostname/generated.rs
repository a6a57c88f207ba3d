//! The hostname that a service gets without asking.

use crate::LeaseId;
use sha1::{Digest, Sha1};

/// Namespace of DNS names in RFC 9562, `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
const DNS: u128 = 0x6ba7_b810_9dad_11d1_80b4_00c0_4fd4_30c8;

/// Letters of a generated label: 128 bits at five each.
const LABEL: usize = 26;

/// The digits of base32hex, in lower case.
const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

fn generated_label(lease: LeaseId, service: &str) -> String {
    base32hex(uuid_v5(&format!("{lease}{service}")))
}

/// The host that `service` gets without asking, under `domain`: always the same for the same lease.
pub fn generated_host(lease: LeaseId, service: &str, domain: &str) -> String {
    format!("{}.{}", generated_label(lease, service), domain.to_lowercase())
}

/// The domain under which `host` was generated for `service`; `None` if it was not.
pub fn generated_under<'h>(lease: LeaseId, service: &str, host: &'h str) -> Option<&'h str> {
    let (label, domain) = host.split_once('.')?;
    (label == generated_label(lease, service)).then_some(domain)
}

/// Whether `host` could be generated under `domain`, for one lease or another.
///
/// The id of a lease can be known before the lease exists, so a tenant could ask for its host first.
pub fn looks_generated(host: &str, domain: &str) -> bool {
    let label = host.strip_suffix(&domain.to_lowercase()).and_then(|rest| rest.strip_suffix('.'));
    label.is_some_and(|label| {
        label.len() == LABEL && label.bytes().all(|byte| DIGITS.contains(&byte))
    })
}

/// RFC 9562, version 5: the name's SHA-1 within the namespace, with version and variant put in.
fn uuid_v5(name: &str) -> u128 {
    let hash = Sha1::new().chain_update(DNS.to_be_bytes()).chain_update(name).finalize();
    let first = hash.iter().take(16).fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    let version = first & !(0xf << 76) | 5 << 76;
    version & !(0b11 << 62) | 0b10 << 62
}

fn base32hex(bits: u128) -> String {
    // Two bits of zero fill up the last digit.
    let digit = |place: usize| match place {
        0 => bits << 2,
        _ => bits >> (5 * place - 2),
    };
    (0..LABEL)
        .rev()
        .filter_map(|place| DIGITS.get(usize::try_from(digit(place) & 31).ok()?))
        .map(|byte| char::from(*byte))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> LeaseId {
        "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/\
         akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx"
            .parse()
            .unwrap()
    }

    #[test]
    fn hosts_are_those_of_running_leases() {
        assert_eq!(uuid_v5(&format!("{}web", lease())), 0x3bd9_bb14_e747_5766_9520_84d6_f629_a085);
        assert_eq!(
            generated_host(lease(), "web", "Ingress.example.com"),
            "7fcrm5778tbmd590gjbfcad0gk.ingress.example.com"
        );
        // As a Go provider made it.
        let recorded = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/9001/1/1/\
                        akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
        assert_eq!(
            generated_host(recorded.parse().unwrap(), "web", "localhost"),
            "a4t9h2c5vd97364air4kl2d01o.localhost"
        );
    }

    #[test]
    fn generated_names_are_known_as_such() {
        let host = generated_host(lease(), "web", "ingress.example.com");
        assert!(looks_generated(&host, "Ingress.example.com"));
        assert_eq!(generated_under(lease(), "web", &host), Some("ingress.example.com"));
        assert_eq!(generated_under(lease(), "api", &host), None);
        assert_eq!(generated_under(lease(), "web", &host[..26]), None);
        for host in [
            "ingress.example.com",
            "shop.ingress.example.com",
            "7fcrm5778tbmd590gjbfcad0gk.example.com",
            "7fcrm5778tbmd590gjbfcad0gkingress.example.com",
            "x.7fcrm5778tbmd590gjbfcad0gk.ingress.example.com",
            "zfcrm5778tbmd590gjbfcad0gk.ingress.example.com",
        ] {
            assert!(!looks_generated(host, "ingress.example.com"), "{host}");
        }
    }
}
