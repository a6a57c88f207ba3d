//! Which authorities are trusted: those of the system, or those that the environment names.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

/// The authorities that are trusted. Read when first needed, and once; clones share them.
#[derive(Clone, Default)]
pub struct Trust {
    roots: Arc<OnceLock<Arc<RootCertStore>>>,
}

/// What `SSL_CERT_FILE` or `SSL_CERT_DIR` names cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} names {}, which {wrong}: give certificates of authorities in PEM", path.display())]
pub struct TrustError {
    /// `SSL_CERT_FILE` or `SSL_CERT_DIR`.
    pub variable: &'static str,
    pub path: PathBuf,
    pub wrong: String,
}

impl Trust {
    /// The authorities in `SSL_CERT_FILE` and in the directories of `SSL_CERT_DIR`, with colons
    /// between; where neither is set those of the system, and where it has none those of browsers.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self, TrustError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (file, folders) = (set("SSL_CERT_FILE"), set("SSL_CERT_DIR"));
        if file.is_none() && folders.is_none() {
            return Ok(Self::default());
        }
        let mut found = Vec::new();
        if let Some(file) = &file {
            found.extend(load("SSL_CERT_FILE", Path::new(file))?);
        }
        let folders = folders.unwrap_or_default();
        for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
            found.extend(load("SSL_CERT_DIR", Path::new(folder))?);
        }
        Ok(Self::only(found))
    }

    pub fn only(certificates: Vec<CertificateDer<'static>>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        Self { roots: Arc::new(OnceLock::from(Arc::new(roots))) }
    }

    pub fn roots(&self) -> Arc<RootCertStore> {
        Arc::clone(self.roots.get_or_init(|| Arc::new(of_system())))
    }
}

fn of_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

fn load(variable: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let (file, folder) = match variable {
        "SSL_CERT_FILE" => (Some(path), None),
        _ => (None, Some(path)),
    };
    let loaded = rustls_native_certs::load_certs_from_paths(file, folder);
    if loaded.certs.is_empty() {
        let wrong = loaded.errors.first().map(ToString::to_string);
        let wrong = match wrong {
            Some(error) => format!("cannot be read ({error})"),
            None => "has no certificate".to_owned(),
        };
        return Err(TrustError { variable, path: path.to_owned(), wrong });
    }
    Ok(loaded.certs)
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.roots.get().map(|roots| roots.len());
        f.debug_struct("Trust").field("read", &count).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_the_authorities_and_what_has_none_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let made = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        let pem = made.self_signed(&key).unwrap().pem();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, pem).unwrap();
        let at = |path: &Path| Some(path.to_str().unwrap().to_owned());
        let by_file = Trust::new(|name| (name == "SSL_CERT_FILE").then(|| at(&file)).flatten());
        assert_eq!(by_file.unwrap().roots().len(), 1);
        let by_folder =
            Trust::new(|name| (name == "SSL_CERT_DIR").then(|| at(folder.path())).flatten());
        assert_eq!(by_folder.unwrap().roots().len(), 1);
        std::fs::write(&file, "nothing").unwrap();
        for path in [file, folder.path().join("missing.pem")] {
            let error = Trust::new(|name| (name == "SSL_CERT_FILE").then(|| at(&path)).flatten());
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("SSL_CERT_FILE names "), "{error}");
        }
        assert!(!Trust::default().roots().is_empty());
    }
}
