//! What the chain checks of a certificate.

use akash_types::Address;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{DerSignature, VerifyingKey};
use p256::pkcs8::DecodePublicKey;
use x509_cert::Certificate;
use x509_cert::der::asn1::{PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};

use super::{INVALID_CERTIFICATE, INVALID_PUBKEY};
use crate::state::address;
use crate::state::error::Outcome;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// A serial number of up to 20 bytes, most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial([u8; 20]);

impl Serial {
    pub(crate) const FIRST: Self = Self([0; 20]);
    pub(crate) const LAST: Self = Self([u8::MAX; 20]);

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let significant = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
        let bytes = bytes.get(significant..)?;
        let mut padded = [0; 20];
        padded.get_mut(20_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
        Some(Self(padded))
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn from_decimal(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let mut bytes = [0_u8; 20];
        for digit in text.chars() {
            let mut carry = digit.to_digit(10)?;
            for byte in bytes.iter_mut().rev() {
                let value = u32::from(*byte) * 10 + carry;
                // The low byte; the rest is carried.
                *byte = u8::try_from(value & 0xff).ok()?;
                carry = value >> 8;
            }
            if carry > 0 {
                return None;
            }
        }
        Some(Self(bytes))
    }

    pub(crate) fn to_decimal(self) -> String {
        let mut bytes = self.0;
        let mut digits = Vec::new();
        while bytes.iter().any(|byte| *byte != 0) {
            let mut remainder = 0_u32;
            for byte in &mut bytes {
                let value = remainder * 256 + u32::from(*byte);
                // The remainder is below 10, so the quotient fits in a byte.
                *byte = u8::try_from(value / 10).unwrap_or_default();
                remainder = value % 10;
            }
            digits.extend(char::from_digit(remainder, 10));
        }
        if digits.is_empty() { "0".to_owned() } else { digits.iter().rev().collect() }
    }
}

/// Checks a certificate of `owner` and its public key, both PEM; its serial number.
pub(super) fn certificate(owner: Address, cert: &[u8], pubkey: &[u8]) -> Outcome<Serial> {
    let (kind, der) = pem(pubkey).ok_or(INVALID_PUBKEY)?;
    if kind != "EC PUBLIC KEY" {
        return Err(INVALID_PUBKEY.detail("invalid pem block type"));
    }
    let key = VerifyingKey::from_public_key_der(&der)
        .map_err(|_| INVALID_PUBKEY.detail("invalid public key type: expected ECDSA P-256"))?;
    let (kind, der) = pem(cert).ok_or(INVALID_CERTIFICATE)?;
    if kind != "CERTIFICATE" {
        return Err(INVALID_CERTIFICATE.detail("invalid pem block type"));
    }
    let parsed = Certificate::from_der(&der).map_err(|error| INVALID_CERTIFICATE.detail(error))?;
    let tbs = parsed.tbs_certificate();
    let signed = tbs.to_der().map_err(|error| INVALID_CERTIFICATE.detail(error))?;
    let verified = DerSignature::from_bytes(parsed.signature().raw_bytes())
        .and_then(|signature| key.verify(&signed, &signature));
    if verified.is_err() {
        return Err(INVALID_CERTIFICATE.detail("unable to verify signature of certificate"));
    }
    let name = common_name(&parsed).unwrap_or_default();
    match address::account(&name) {
        Err(why) => Err(INVALID_CERTIFICATE.detail(why)),
        Ok(named) if named != owner => {
            Err(INVALID_CERTIFICATE.detail("CommonName does not match owner"))
        }
        Ok(_) => {
            let serial = Serial::from_bytes(tbs.serial_number().as_bytes());
            Ok(serial.ok_or_else(|| INVALID_CERTIFICATE.detail("serial number is too long"))?)
        }
    }
}

fn common_name(certificate: &Certificate) -> Option<String> {
    let subject = certificate.tbs_certificate().subject();
    let name = subject.iter().filter(|attribute| attribute.oid == COMMON_NAME).last()?;
    let printable = PrintableStringRef::try_from(&name.value).map(|text| text.to_string());
    let utf8 = || Utf8StringRef::try_from(&name.value).map(|text| text.to_string());
    printable.or_else(|_| utf8()).ok()
}

/// The only block of a PEM text with nothing behind it: its type and content.
fn pem(bytes: &[u8]) -> Option<(&str, Vec<u8>)> {
    let text = str::from_utf8(bytes).ok()?;
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (kind, rest) = rest.split_once("-----")?;
    let (content, rest) = rest.split_once("-----END ")?;
    let rest = rest.strip_prefix(kind)?.strip_prefix("-----")?;
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    if !rest.strip_prefix('\n').unwrap_or(rest).is_empty() {
        return None;
    }
    let content: String = content.split_ascii_whitespace().collect();
    Some((kind, BASE64_STANDARD.decode(content).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn serials_survive_their_decimal_form(bytes in any::<[u8; 20]>(), zeros in 0usize..20) {
            let mut bytes = bytes;
            bytes[..zeros].fill(0);
            let serial = Serial(bytes);
            prop_assert_eq!(Serial::from_decimal(&serial.to_decimal()), Some(serial));
            prop_assert_eq!(Serial::from_bytes(&bytes), Some(serial));
        }
    }

    #[test]
    fn decimal_forms_are_plain_numbers() {
        let serial = Serial::from_bytes(&1_794_768_798_136_881_752_u64.to_be_bytes()).unwrap();
        assert_eq!(serial.to_decimal(), "1794768798136881752");
        assert_eq!(Serial::FIRST.to_decimal(), "0");
        assert_eq!(Serial::from_decimal("256"), Serial::from_bytes(&[1, 0]));
        for text in ["", "-1", "1a", " 1", &"9".repeat(49), &"9".repeat(50)] {
            assert_eq!(Serial::from_decimal(text), None, "{text}");
        }
        assert_eq!(Serial::from_bytes(&[1; 21]), None);
    }

    #[test]
    fn a_pem_text_has_one_block_and_nothing_behind_it() {
        let block = "-----BEGIN A B-----\nAAEC\n-----END A B-----\n";
        assert_eq!(pem(block.as_bytes()), Some(("A B", vec![0, 1, 2])));
        for wrong in [
            "",
            "AAEC",
            &format!("{block}{block}"),
            &format!("{block} "),
            "-----BEGIN A-----\nAAEC\n-----END B-----\n",
            "-----BEGIN A-----\n*\n-----END A-----\n",
        ] {
            assert_eq!(pem(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
