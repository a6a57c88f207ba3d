//! A certificate of an authority from two files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::sign::CertifiedKey;

use crate::tls::{CertificateFileError, ServerCertificates, certified_pem};

/// How often the files are looked at. They are small, and reading them is the one way to notice a
/// change that works on every kind of mount.
const EVERY: Duration = Duration::from_secs(10);

/// Where certificate and key are, both as PEM.
#[derive(derive_more::Debug)]
#[debug("AuthorityFiles {{ chain: {:?}, .. }}", self.chain)]
pub struct AuthorityFiles {
    chain: PathBuf,
    key: PathBuf,
    /// What was last read, used or not.
    seen: Option<(Vec<u8>, Vec<u8>)>,
}

impl AuthorityFiles {
    /// These files; not read yet.
    pub const fn new(chain: PathBuf, key: PathBuf) -> Self {
        Self { chain, key, seen: None }
    }

    /// The pair, if the files have changed since they were last read. No certificate file is no
    /// change: it may be on its way.
    pub async fn changed(&mut self) -> Result<Option<Arc<CertifiedKey>>, AuthorityError> {
        let chain = match tokio::fs::read(&self.chain).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| unread(&self.chain, source))?,
        };
        let key = tokio::fs::read(&self.key).await.map_err(|source| unread(&self.key, source))?;
        if self.seen.as_ref().is_some_and(|(old, old_key)| *old == chain && *old_key == key) {
            return Ok(None);
        }
        let pair = certified_pem(&chain, &key);
        self.seen = Some((chain, key));
        let wrong = |source| AuthorityError::Content { path: self.chain.clone(), source };
        pair.map(Some).map_err(wrong)
    }

    /// Shows what is in the files, for ever. Files that cannot be used change nothing; `told` hears
    /// of them, and of every pair that is shown.
    pub async fn keep(
        mut self,
        shown: Arc<ServerCertificates>,
        told: impl Fn(Result<(), &AuthorityError>),
    ) {
        loop {
            match self.changed().await {
                Ok(Some(pair)) => {
                    shown.set_public(Some(pair));
                    told(Ok(()));
                }
                Ok(None) => {}
                Err(error) => told(Err(&error)),
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}

fn unread(path: &Path, source: io::Error) -> AuthorityError {
    AuthorityError::Read { path: path.to_owned(), source }
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("reading {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the certificate in {} and its key", path.display())]
    Content {
        /// The certificate's file.
        path: PathBuf,
        source: CertificateFileError,
    },
}
