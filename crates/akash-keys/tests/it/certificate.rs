//! Certificates and their files as this program makes them.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::SecretKey;
use akash_keys::certificate::{
    Certificate, CertificateError, CertificateKey, CertificateSpec, KeyFile, KeyFileError,
    KeyFilePassword, KeyPair,
};

fn account(byte: u8) -> SecretKey {
    SecretKey::from_bytes(&[byte; 32]).unwrap()
}

fn spec() -> CertificateSpec {
    CertificateSpec {
        owner: account(1).public_key().address(),
        serial: 1_790_000_000_000_000_000,
        not_before: UNIX_EPOCH + Duration::from_secs(1_790_000_000),
        valid_for: CertificateSpec::VALID_FOR,
        domains: vec!["provider.example.com".to_owned()],
    }
}

fn pair() -> KeyPair {
    KeyPair::generate(&spec(), CertificateKey::generate().unwrap()).unwrap()
}

#[test]
fn a_file_is_not_overwritten_by_accident_and_reads_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().join("new");
    let file = KeyFile::of(&home, &spec().owner);
    let (password, first, second) = (KeyFilePassword::of(&account(1)), pair(), pair());
    let missing = file.read(&password).unwrap_err();
    assert!(matches!(missing, KeyFileError::Read { .. }), "{missing}");
    file.write(&first, &password, false).unwrap();
    let exists = file.write(&second, &password, false).unwrap_err();
    assert!(exists.to_string().starts_with("certificate error: cannot overwrite certificate"));
    file.write(&second, &password, true).unwrap();
    assert_eq!(file.read(&password).unwrap(), second);
    private(file.path());
}

#[cfg(unix)]
fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(not(unix))]
fn private(_: &Path) {}

#[test]
fn a_file_that_is_none_is_told() {
    let home = tempfile::tempdir().unwrap();
    let file = KeyFile::of(home.path(), &spec().owner);
    let password = KeyFilePassword::of(&account(1));
    let certificate = pair().certificate().to_pem();
    for (content, expected) in [
        ("", "the text has no block \"CERTIFICATE\""),
        ("-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n", "not an X.509"),
        (certificate.as_str(), "no private key after the certificate"),
        (
            &format!("{certificate}-----BEGIN X-----\nAQID\n-----END X-----\n"),
            "no private key after the certificate",
        ),
        (
            &format!(
                "{certificate}-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
                 DEK-Info: DES-CBC,00\n\nAQID\n-----END EC PRIVATE KEY-----\n"
            ),
            "encrypted in an unknown way",
        ),
        (
            &format!("{certificate}-----BEGIN PRIVATE KEY-----\nAQID\n-----END PRIVATE KEY-----\n"),
            "not an ECDSA P-256 private key",
        ),
    ] {
        fs::write(file.path(), content).unwrap();
        let error = file.read(&password).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_key_that_is_not_encrypted_is_read_too() {
    let home = tempfile::tempdir().unwrap();
    let file = KeyFile::of(home.path(), &spec().owner);
    let pair = pair();
    let key = pair.key().to_pkcs8_der().unwrap();
    let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, key);
    let certificate = pair.certificate().to_pem();
    fs::write(
        file.path(),
        format!("{certificate}-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n"),
    )
    .unwrap();
    assert_eq!(file.read(&KeyFilePassword::of(&account(2))).unwrap(), pair);
}

#[test]
fn what_cannot_be_certified_is_refused() {
    let key = || CertificateKey::from_bytes(&[1; 32]).unwrap();
    for domain in ["", "ü.example", "a b", "a\n"] {
        let spec = CertificateSpec { domains: vec![domain.to_owned()], ..spec() };
        let refused = KeyPair::generate(&spec, key()).unwrap_err();
        assert_eq!(refused, CertificateError::Domain { domain: domain.to_owned() });
    }
    for (not_before, valid_for) in [
        (UNIX_EPOCH - Duration::from_secs(1), Duration::ZERO),
        (UNIX_EPOCH, Duration::from_secs(300_000_000_000)),
        (UNIX_EPOCH, Duration::MAX),
    ] {
        let spec = CertificateSpec { not_before, valid_for, ..spec() };
        assert_eq!(KeyPair::generate(&spec, key()), Err(CertificateError::Validity));
    }
    for bytes in [&[][..], &[0; 32], &[0xff; 32], &[1; 31], &[1; 33]] {
        assert_eq!(CertificateKey::from_bytes(bytes), Err(CertificateError::Key));
    }
}

#[test]
fn a_certificate_tells_what_is_in_it() {
    let pair = pair();
    let certificate = pair.certificate();
    assert_eq!(certificate.serial(), "1790000000000000000");
    assert_eq!(certificate.common_name(), spec().owner.to_string());
    let year = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(year(certificate.not_before()), 1_790_000_000);
    assert_eq!(year(certificate.not_after()), 1_790_000_000 + 8760 * 3600);
    assert!(certificate.public_key_pem().starts_with("-----BEGIN EC PUBLIC KEY-----\n"));
    assert_eq!(Certificate::from_der(certificate.der().to_vec()).as_ref(), Ok(certificate));
    assert_eq!(format!("{:?}", pair.key()), "CertificateKey(…)");
}
