//! A certificate as Go's tools make it, field for field.

use std::net::IpAddr;

use der::asn1::{Any, BitString, Ia5String, OctetString, PrintableString};
use der::oid::db::{rfc4519, rfc5280, rfc5912};
use der::oid::{AssociatedOid, ObjectIdentifier};
use der::{DateTime, Decode, Encode, Sequence};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::certificate::Version;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, NameConstraints, SubjectAltName,
};
use x509_cert::name::{RdnSequence, RelativeDistinguishedName};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::time::{Time, Validity};

use super::{CertificateError, CertificateKey, CertificateSpec};

/// Attribute that says by which rules the certificate is to be read.
const AUTH_VERSION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.23.133.2.6");
const AUTH_VERSION_VALUE: &str = "v0.0.1";

/// What is signed. The library has the same type without a way to make one.
#[derive(Sequence)]
struct Tbs {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    version: Version,
    serial_number: SerialNumber,
    signature: AlgorithmIdentifierOwned,
    issuer: RdnSequence,
    validity: Validity,
    subject: RdnSequence,
    public_key: SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT")]
    extensions: Vec<Extension>,
}

#[derive(Sequence)]
struct Signed {
    tbs: Any,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

pub(super) fn certificate(
    spec: &CertificateSpec,
    key: &CertificateKey,
) -> Result<Vec<u8>, CertificateError> {
    let validity = validity(spec).ok_or(CertificateError::Validity)?;
    let names = names(&spec.domains)?;
    signed(spec, key, validity, names).map_err(|_| CertificateError::Encode)
}

fn signed(
    spec: &CertificateSpec,
    key: &CertificateKey,
    validity: Validity,
    names: Names,
) -> der::Result<Vec<u8>> {
    let encode = |_| der::ErrorKind::Failed;
    let algorithm = AlgorithmIdentifierOwned { oid: rfc5912::ECDSA_WITH_SHA_256, parameters: None };
    let owner = spec.owner.to_string();
    let name = RdnSequence::from(vec![
        attribute(rfc4519::CN, &owner)?,
        attribute(AUTH_VERSION, AUTH_VERSION_VALUE)?,
    ]);
    let tbs = Tbs {
        version: Version::V3,
        serial_number: SerialNumber::new(&spec.serial.to_be_bytes())?,
        signature: algorithm.clone(),
        issuer: name.clone(),
        validity,
        subject: name,
        public_key: SubjectPublicKeyInfoOwned::from_der(&key.public_key_der().map_err(encode)?)?,
        extensions: extensions(names)?,
    };
    let tbs = tbs.to_der()?;
    let signature = BitString::from_bytes(&key.sign(&tbs))?;
    Signed { tbs: Any::from_der(&tbs)?, algorithm, signature }.to_der()
}

fn attribute(oid: ObjectIdentifier, value: &str) -> der::Result<RelativeDistinguishedName> {
    let value = Any::from(&PrintableString::new(value)?);
    RelativeDistinguishedName::try_from(vec![AttributeTypeAndValue { oid, value }])
}

fn validity(spec: &CertificateSpec) -> Option<Validity> {
    let not_after = spec.not_before.checked_add(spec.valid_for)?;
    let time = |time| DateTime::from_system_time(time).ok().map(Time::from);
    Some(Validity::new(time(spec.not_before)?, time(not_after)?))
}

struct Names {
    dns: Vec<GeneralName>,
    ips: Vec<GeneralName>,
}

fn names(domains: &[String]) -> Result<Names, CertificateError> {
    let mut names = Names { dns: Vec::new(), ips: Vec::new() };
    for domain in domains {
        match domain.parse::<IpAddr>() {
            // Last first, as Go does it.
            Ok(ip) => names.ips.insert(0, GeneralName::from(ip.to_canonical())),
            Err(_) => {
                let wrong = || CertificateError::Domain { domain: domain.clone() };
                let plain = !domain.is_empty() && domain.bytes().all(|b| b.is_ascii_graphic());
                let name = Ia5String::new(domain).ok().filter(|_| plain);
                names.dns.push(GeneralName::DnsName(name.ok_or_else(wrong)?));
            }
        }
    }
    Ok(names)
}

fn extensions(names: Names) -> der::Result<Vec<Extension>> {
    let Names { dns, ips } = names;
    let server = !dns.is_empty() || !ips.is_empty();
    let mut purposes = vec![rfc5280::ID_KP_CLIENT_AUTH];
    purposes.extend(server.then_some(rfc5280::ID_KP_SERVER_AUTH));
    let usage = KeyUsages::KeyEncipherment | KeyUsages::DataEncipherment;
    let mut extensions = vec![
        extension(true, &KeyUsage(usage))?,
        extension(false, &ExtendedKeyUsage(purposes))?,
        extension(true, &BasicConstraints { ca: false, path_len_constraint: None })?,
    ];
    if server {
        let all = dns.iter().cloned().chain(ips).collect();
        extensions.push(extension(false, &SubjectAltName(all))?);
    }
    if !dns.is_empty() {
        let subtree = |base| GeneralSubtree { base, minimum: 0, maximum: None };
        let permitted = dns.into_iter().map(subtree).collect();
        let constraints =
            NameConstraints { permitted_subtrees: Some(permitted), excluded_subtrees: None };
        extensions.push(extension(true, &constraints)?);
    }
    Ok(extensions)
}

fn extension<T: AssociatedOid + Encode>(critical: bool, value: &T) -> der::Result<Extension> {
    let extn_value = OctetString::new(value.to_der()?)?;
    Ok(Extension { extn_id: T::OID, critical, extn_value })
}
