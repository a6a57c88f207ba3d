//! What a certificate says.

use std::time::SystemTime;

use akash_types::{Address, AddressError};
use der::{Decode, Encode};
use zeroize::Zeroizing;

use super::CertificateError;
use crate::pem::{self, Block};

pub(super) const LABEL: &str = "CERTIFICATE";
/// What the chain calls the block of a public key.
const PUBLIC_KEY_LABEL: &str = "EC PUBLIC KEY";

#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Certificate({} of {})", self.serial, self.common_name)]
pub struct Certificate {
    der: Vec<u8>,
    public_key_der: Vec<u8>,
    serial: String,
    common_name: String,
    not_before: SystemTime,
    not_after: SystemTime,
}

impl Certificate {
    pub fn from_der(der: Vec<u8>) -> Result<Self, CertificateError> {
        let wrong = |_| CertificateError::Certificate;
        let parsed = x509_cert::Certificate::from_der(&der).map_err(wrong)?;
        let tbs = parsed.tbs_certificate();
        let common_name = tbs.subject().common_name().map_err(wrong)?;
        Ok(Self {
            public_key_der: tbs.subject_public_key_info().to_der().map_err(wrong)?,
            serial: decimal(tbs.serial_number().as_bytes()),
            common_name: common_name.ok_or(CertificateError::Certificate)?.value().into_owned(),
            not_before: tbs.validity().not_before.to_system_time(),
            not_after: tbs.validity().not_after.to_system_time(),
            der,
        })
    }

    /// Reads the first certificate of a PEM text.
    pub fn from_pem(text: &str) -> Result<Self, CertificateError> {
        let blocks = pem::parse(text).map_err(CertificateError::Pem)?;
        let block = blocks.into_iter().find(|block| block.label == LABEL);
        Self::from_der(block.ok_or(CertificateError::NoCertificate)?.data.to_vec())
    }

    /// The bytes.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// As PEM: `cert` of `MsgCreateCertificate`.
    pub fn to_pem(&self) -> String {
        block_text(LABEL, &self.der)
    }

    /// Its public key as PEM: `pubkey` of `MsgCreateCertificate`.
    pub fn public_key_pem(&self) -> String {
        block_text(PUBLIC_KEY_LABEL, &self.public_key_der)
    }

    /// Its public key (SubjectPublicKeyInfo).
    pub fn public_key_der(&self) -> &[u8] {
        &self.public_key_der
    }

    /// Its number in decimal, as the chain writes it.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    pub fn common_name(&self) -> &str {
        &self.common_name
    }

    pub fn owner(&self) -> Result<Address, AddressError> {
        self.common_name.parse()
    }

    pub const fn not_before(&self) -> SystemTime {
        self.not_before
    }

    /// Until when it is valid.
    pub const fn not_after(&self) -> SystemTime {
        self.not_after
    }
}

fn block_text(label: &str, der: &[u8]) -> String {
    Block::new(label, Zeroizing::new(der.to_vec())).to_text().as_str().to_owned()
}

/// A number of any size, most significant byte first, in decimal.
fn decimal(bytes: &[u8]) -> String {
    // Decimal digits, least significant first.
    let mut digits: Vec<u8> = vec![0];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = u8::try_from(value % 10).unwrap_or_default();
            carry = value / 10;
        }
        while carry > 0 {
            digits.push(u8::try_from(carry % 10).unwrap_or_default());
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn serials_are_decimal(number in any::<u128>()) {
            prop_assert_eq!(decimal(&number.to_be_bytes()), number.to_string());
        }

        #[test]
        fn no_bytes_panic(der in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Certificate::from_der(der);
        }
    }

    #[test]
    fn a_serial_of_twenty_bytes_is_whole() {
        assert_eq!(decimal(&[0xff; 20]), "1461501637330902918203684832716283019655932542975");
        assert_eq!(decimal(&[]), "0");
    }
}
