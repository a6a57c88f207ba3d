//! A certificate for a tenant who wants to show one and has none.

use std::path::Path;
use std::time::{Duration, SystemTime};

use akash_chain::tx::message::cert::create_certificate;
use akash_keys::SecretKey;
use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyFile, KeyFilePassword, KeyPair};
use akash_types::CertificateState;
use anyhow::Context;

use super::outcome::Progress;
use crate::chain::Wallet;
use crate::streams::Streams;

/// How long a new one is valid, as in the Go program.
const VALID_FOR: Duration = Duration::from_hours(8760);

/// Makes a certificate unless there is one that is valid, and publishes it unless it is.
pub(super) async fn ensure(
    wallet: &Wallet<'_>,
    secret: &SecretKey,
    home: &Path,
    progress: &Progress,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    let owner = wallet.address();
    let file = KeyFile::of(home, &owner);
    let password = KeyFilePassword::of(secret);
    let now = SystemTime::now();
    let kept = match file.path().exists() {
        false => None,
        true => {
            let pair = file.read(&password)?;
            let (from, to) = (pair.certificate().not_before(), pair.certificate().not_after());
            (from..=to).contains(&now).then_some(pair)
        }
    };
    let pair = match kept {
        Some(pair) => pair,
        None => {
            let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let serial = u64::try_from(since_1970.as_nanos());
            let spec = CertificateSpec {
                owner,
                serial: serial.context("the clock is far in the future")?,
                not_before: now,
                valid_for: VALID_FOR,
                domains: Vec::new(),
            };
            let pair = KeyPair::generate(&spec, CertificateKey::generate()?)?;
            file.write(&pair, &password, true)?;
            pair
        }
    };
    let certificate = pair.certificate();
    let serial = certificate.serial();
    let query = wallet.network.query();
    if query.certificate(owner, serial, CertificateState::Valid).await?.value.is_some() {
        return Ok(());
    }
    let (pem, key) = (certificate.to_pem(), certificate.public_key_pem());
    let message = create_certificate(owner, pem.into_bytes(), key.into_bytes())?;
    wallet.send(&[message]).await.context("cannot publish the certificate")?;
    progress.done("certificate published", streams);
    Ok(())
}
