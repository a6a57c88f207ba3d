//! Messages that publish and revoke certificates.

use akash_proto::akash::cert::v1 as wire;
use akash_types::Address;

use super::{Message, MessageError};

/// Publishes a certificate. Sent by its owner.
///
/// Takes one PEM block `CERTIFICATE` and one `EC PUBLIC KEY`. That the first is signed with the
/// second and names its owner is checked by whoever made it, and by the chain.
pub fn create_certificate(
    owner: Address,
    certificate: Vec<u8>,
    public_key: Vec<u8>,
) -> Result<Message, MessageError> {
    check_pem(&certificate, "CERTIFICATE")?;
    check_pem(&public_key, "EC PUBLIC KEY")?;
    let message = wire::MsgCreateCertificate {
        owner: owner.to_string(),
        cert: certificate,
        pubkey: public_key,
    };
    Ok(Message::new(owner, &message))
}

/// Revokes the certificate with this serial number (base-10 digits). Sent by its owner.
pub fn revoke_certificate(owner: Address, serial: &str) -> Result<Message, MessageError> {
    if serial.is_empty() || !serial.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MessageError::Serial { text: serial.chars().take(64).collect() });
    }
    let id = wire::Id { owner: owner.to_string(), serial: serial.to_owned() };
    Ok(Message::new(owner, &wire::MsgRevokeCertificate { id: Some(id) }))
}

fn check_pem(pem: &[u8], label: &'static str) -> Result<(), MessageError> {
    let text = std::str::from_utf8(pem).unwrap_or_default().trim();
    let inner = text
        .strip_prefix(&format!("-----BEGIN {label}-----"))
        .and_then(|rest| rest.strip_suffix(&format!("-----END {label}-----")));
    match inner {
        Some(inner) if !inner.contains("-----") && !inner.trim().is_empty() => Ok(()),
        _ => Err(MessageError::Pem { label }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    #[test]
    fn each_part_is_one_block_of_its_name() {
        let block = |label: &str| {
            format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n").into_bytes()
        };
        let owner: Address = OWNER.parse().unwrap();
        let (certificate, key) = (block("CERTIFICATE"), block("EC PUBLIC KEY"));
        let message = create_certificate(owner, certificate.clone(), key.clone()).unwrap();
        assert_eq!(message.signer(), owner);
        let twice = [certificate.clone(), certificate.clone()].concat();
        for bad in [vec![], b"x".to_vec(), vec![0xff], twice, key.clone()] {
            assert!(create_certificate(owner, bad, key.clone()).is_err());
        }
        assert!(create_certificate(owner, certificate.clone(), certificate).is_err());
        assert!(revoke_certificate(owner, "17").is_ok());
        for bad in ["", "0x1", "-1", "1 "] {
            assert!(revoke_certificate(owner, bad).is_err(), "{bad}");
        }
    }
}
