//! Certificates: published, revoked, refused.

use akash_proto::akash::cert::v1::{
    CertificateFilter, Id, MsgCreateCertificate, MsgRevokeCertificate, QueryCertificatesRequest,
    QueryCertificatesResponse,
};

use crate::state::support::{Chain, Wallet, refusal};

/// Account of the recorded tenant, whose certificate this is.
const TENANT: &str = "14d38e1244421bdce3e3bf32ae0402578798f7294341342731674b4de37727b6";
const SERIAL: &str = "1794768798136881752";
const CERT: &str = "\
-----BEGIN CERTIFICATE-----
MIIBvzCCAWWgAwIBAgIIGOhMtnrnUlgwCgYIKoZIzj0EAwIwSjE1MDMGA1UEAxMs
YWthc2gxNmVtbHNmZ20zMjVkZTRod3FndTl3c3pnOGZ2Y20weXcwd2s4NHIxETAP
BgVngQUCBhMGdjAuMC4xMB4XDTI2MTExNTE4NTMxOFoXDTI3MTExNTE4NTMxOFow
SjE1MDMGA1UEAxMsYWthc2gxNmVtbHNmZ20zMjVkZTRod3FndTl3c3pnOGZ2Y20w
eXcwd2s4NHIxETAPBgVngQUCBhMGdjAuMC4xMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEy6njgoH0Lu3CXC/K0yCbDzHlPIEdxAxV5O4Om+C1EK8o/Gh0YfXp6fhW
RDOs/trk5/B9jVTfxx/zK/2/1qCz4KM1MDMwDgYDVR0PAQH/BAQDAgQwMBMGA1Ud
JQQMMAoGCCsGAQUFBwMCMAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSAAwRQIg
H2lW90rveIbdTJqeAgU0GyNqLQRCqbcyNPt59jI6fsoCIQChTbSj3Wbh0hL3F2Ok
6MfjczYSadUK9gpbRcCzR6pfFw==
-----END CERTIFICATE-----
";
const PUBKEY: &str = "\
-----BEGIN EC PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEy6njgoH0Lu3CXC/K0yCbDzHlPIEd
xAxV5O4Om+C1EK8o/Gh0YfXp6fhWRDOs/trk5/B9jVTfxx/zK/2/1qCz4A==
-----END EC PUBLIC KEY-----
";

fn create(owner: &Wallet, cert: &str, pubkey: &str) -> MsgCreateCertificate {
    let (cert, pubkey) = (cert.as_bytes().to_vec(), pubkey.as_bytes().to_vec());
    MsgCreateCertificate { owner: owner.text(), cert, pubkey }
}

fn found(chain: &Chain, filter: CertificateFilter) -> Vec<String> {
    let request = QueryCertificatesRequest { filter: Some(filter), pagination: None };
    let answer: QueryCertificatesResponse =
        chain.ask("/akash.cert.v1.Query/Certificates", &request);
    answer.certificates.into_iter().map(|found| found.serial).collect()
}

#[test]
fn a_certificate_is_published_and_revoked_once() {
    let tenant = Wallet::from_hex(TENANT);
    let mut chain = Chain::new(&[&tenant]);
    let revoke =
        MsgRevokeCertificate { id: Some(Id { owner: tenant.text(), serial: SERIAL.to_owned() }) };
    let text = "certificate not found";
    assert_eq!(chain.refused(&tenant, &revoke), refusal("cert", 1, text));
    let message = create(&tenant, CERT, PUBKEY);
    let result = chain.send(&tenant, &message);
    assert_eq!(result.events.len(), 8, "nothing is reported besides fee and message");
    let text = "certificate exists";
    assert_eq!(chain.refused(&tenant, &message), refusal("cert", 3, text));
    let filter = |state: &str| CertificateFilter {
        owner: tenant.text(),
        serial: SERIAL.to_owned(),
        state: state.to_owned(),
    };
    assert_eq!(found(&chain, filter("valid")), [SERIAL]);
    chain.send(&tenant, &revoke);
    assert!(found(&chain, filter("valid")).is_empty());
    assert_eq!(found(&chain, filter("revoked")), [SERIAL]);
    assert_eq!(found(&chain, filter("")), [SERIAL]);
    assert_eq!(found(&chain, CertificateFilter::default()), [SERIAL]);
    let text = "certificate already revoked";
    assert_eq!(chain.refused(&tenant, &revoke), refusal("cert", 4, text));
    assert_eq!(chain.refused(&tenant, &message).1, 3, "a serial number is used once");
}

#[test]
fn a_certificate_is_of_its_owner_and_signed_by_its_key() {
    let (tenant, other) = (Wallet::from_hex(TENANT), Wallet::numbered(1));
    let mut chain = Chain::new(&[&tenant, &other]);
    let text = "invalid certificate value: CommonName does not match owner";
    assert_eq!(chain.refused(&other, &create(&other, CERT, PUBKEY)), refusal("cert", 6, text));
    // A digit of the validity, which the signature covers.
    let damaged = CERT
        .replace("MTExNTE4NTMxOFoXDTI3MTExNTE4NTMxOFow", "MTExNTE4NTMxOFoXDTI3MTExNTE4NTMxOVow");
    let damaged = damaged.replace("NTMxOFoXDTI3MTExNTE4NTMxOFow", "NTMxOFoXDTI4MTExNTE4NTMxOFow");
    for (cert, pubkey, code) in [
        (damaged.as_str(), PUBKEY, 6),
        ("", PUBKEY, 6),
        (CERT, "", 7),
        (CERT, CERT, 7),
        (PUBKEY, PUBKEY, 6),
        (&format!("{CERT}{CERT}"), PUBKEY, 6),
        (CERT, &PUBKEY.replace("MFkw", "MFgw"), 7),
    ] {
        let (space, got, text) = chain.refused(&tenant, &create(&tenant, cert, pubkey));
        assert_eq!((space.as_str(), got), ("cert", code), "{text}");
    }
    let revoke =
        MsgRevokeCertificate { id: Some(Id { owner: tenant.text(), serial: "x".to_owned() }) };
    let text = "invalid serial number";
    assert_eq!(chain.refused(&tenant, &revoke), refusal("cert", 5, text));
}
