//! TLS of a client whose files may be replaced while the program runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::{ClientConfig, RootCertStore};

use crate::trust::Trust;

/// Files that say who is trusted and what is shown, all in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the authorities that are trusted, instead of the system's.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown, with those that signed it, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Why TLS cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{} could not be read as PEM: {source}", file.display())]
    File {
        file: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    #[error("{} holds no certificate", .0.display())]
    NoCertificate(PathBuf),
    #[error("the certificates or the key cannot be used: {0}")]
    Refused(#[from] rustls::Error),
}

impl TlsFiles {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let identity = self.identity.iter().flat_map(|(cert, key)| [cert, key]);
        self.ca.iter().chain(identity).map(PathBuf::as_path)
    }

    /// What a client does by these files.
    pub fn configure(&self, trust: &Trust) -> Result<ClientConfig, TlsError> {
        let roots = match &self.ca {
            None => trust.roots(),
            Some(file) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(file)? {
                    roots.add(certificate)?;
                }
                Arc::new(roots)
            }
        };
        // The provider is named: other crates may bring a second one, and rustls does not choose.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        Ok(match &self.identity {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let secret =
                    PrivateKeyDer::from_pem_file(key).map_err(|source| unread(key, source))?;
                builder.with_client_auth_cert(certificates(cert)?, secret)?
            }
        })
    }
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

/// TLS by files, read again when one of them changes.
#[derive(derive_more::Debug)]
#[debug("Tls {{ files: {:?}, .. }}", self.files)]
pub(crate) struct Tls {
    trust: Trust,
    files: TlsFiles,
    read: Mutex<Option<Read>>,
}

struct Read {
    stamps: Vec<Option<Stamp>>,
    config: Arc<ClientConfig>,
    /// Why the newest files are not used, if they are not.
    problem: Option<String>,
}

/// By what a replaced file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
}

pub(crate) struct Current {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) problem: Option<String>,
}

impl Tls {
    pub(crate) const fn new(trust: Trust, files: TlsFiles) -> Self {
        Self { trust, files, read: Mutex::new(None) }
    }

    pub(crate) const fn trust(&self) -> &Trust {
        &self.trust
    }

    /// What the next connection is made with. Files that were replaced by something that cannot be
    /// used leave what was read before, as long as that is good: a renewal may be under way.
    pub(crate) fn current(&self) -> Result<Current, TlsError> {
        let stamps: Vec<_> = self.files.paths().map(stamp).collect();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = read.as_ref().filter(|read| read.stamps == stamps) {
            return Ok(Current { config: Arc::clone(&read.config), problem: read.problem.clone() });
        }
        let (config, problem) = match (self.files.configure(&self.trust), read.as_ref()) {
            (Ok(config), _) => (Arc::new(config), None),
            (Err(error), Some(before)) => (Arc::clone(&before.config), Some(error.to_string())),
            (Err(error), None) => return Err(error),
        };
        let current = Current { config: Arc::clone(&config), problem: problem.clone() };
        // A problem is looked at again with the next connection.
        let stamps = if problem.is_some() { Vec::new() } else { stamps };
        *read = Some(Read { stamps, config, problem });
        Ok(current)
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let found = fs::metadata(file).ok()?;
    Some(Stamp { modified: found.modified().ok()?, length: found.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str) -> TlsFiles {
        let key = rcgen::KeyPair::generate().unwrap();
        let made = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        let (cert, secret) = (folder.join("cert.pem"), folder.join("key.pem"));
        fs::write(&cert, made.self_signed(&key).unwrap().pem()).unwrap();
        fs::write(&secret, key.serialize_pem()).unwrap();
        TlsFiles { ca: Some(cert.clone()), identity: Some((cert, secret)) }
    }

    #[test]
    fn replaced_files_are_read_and_broken_ones_leave_what_was_good() {
        let folder = tempfile::tempdir().unwrap();
        let files = write(folder.path(), "one.test");
        let tls = Tls::new(Trust::default(), files);
        let first = tls.current().unwrap().config;
        assert!(Arc::ptr_eq(&first, &tls.current().unwrap().config), "nothing changed");

        fs::write(folder.path().join("key.pem"), "half").unwrap();
        let broken = tls.current().unwrap();
        assert!(Arc::ptr_eq(&first, &broken.config));
        assert!(broken.problem.unwrap().contains("key.pem"));

        write(folder.path(), "another-name.test");
        let second = tls.current().unwrap();
        assert!(!Arc::ptr_eq(&first, &second.config));
        assert_eq!(second.problem, None);
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let good = write(folder.path(), "one.test");
        let empty = folder.path().join("empty.pem");
        fs::write(&empty, "").unwrap();
        let (cert, key) = good.identity.unwrap();
        for (files, part) in [
            (TlsFiles { ca: Some(empty.clone()), identity: None }, "empty.pem holds no cert"),
            (TlsFiles { ca: Some("/no/ca".into()), identity: None }, "/no/ca could not be read"),
            (TlsFiles { ca: None, identity: Some((cert, empty)) }, "empty.pem could not be read"),
            (TlsFiles { ca: None, identity: Some((key.clone(), key)) }, "holds no certificate"),
        ] {
            let error = files.configure(&Trust::default()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
