//! TLS as the target wants it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::{ClientConfig, RootCertStore};

use super::target::{Target, TlsFiles};

/// Why TLS cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is missing or holds something else.
    #[error("{} could not be read as PEM", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    /// A file that should hold certificates has none.
    #[error("{} holds no certificate", .0.display())]
    NoCertificate(PathBuf),
    /// The TLS library refuses them.
    #[error("the TLS certificates or the key cannot be used")]
    Refused(#[from] rustls::Error),
}

impl Target {
    /// Whether the files it names can be used. They are read again at every connect, so that
    /// renewed ones are taken.
    ///
    /// # Errors
    ///
    /// When they cannot.
    pub fn check(&self) -> Result<(), TlsError> {
        self.tls.as_ref().map_or(Ok(()), |files| configure(files).map(drop))
    }
}

pub(super) fn configure(files: &TlsFiles) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    match &files.ca {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate)?;
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    // The provider is named: other crates may bring a second one, and rustls does not choose.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let config = match &files.identity {
        Some((cert, key)) => {
            let secret = PrivateKeyDer::from_pem_file(key).map_err(|source| unread(key, source))?;
            builder.with_client_auth_cert(certificates(cert)?, secret)?
        }
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|source| unread(file, source))?;
    if found.is_empty() { Err(TlsError::NoCertificate(file.to_owned())) } else { Ok(found) }
}

fn unread(file: &Path, source: pem::Error) -> TlsError {
    TlsError::File { file: file.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_missing_or_hold_something_else_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "no certificate here").unwrap();
        for (file, expected) in [
            (empty, "empty.pem holds no certificate"),
            (directory.path().join("missing.pem"), "missing.pem could not be read as PEM"),
        ] {
            let url = format!("rediss://localhost?ca={}", file.display());
            let error = url.parse::<Target>().unwrap().check().unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
        }
        "rediss://localhost".parse::<Target>().unwrap().check().unwrap();
    }
}
