//! Files of account and certificate, laid out as the existing provider does.

use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::AcmeSettings;

/// Where things are kept.
#[derive(Clone, Debug)]
pub(super) struct Store {
    account: PathBuf,
    chain: PathBuf,
    key: PathBuf,
}

impl Store {
    pub(super) fn new(settings: &AcmeSettings) -> Self {
        let root = &settings.directory_path;
        let host = settings.directory.split("://").last().unwrap_or_default();
        let host = host.split('/').next().unwrap_or_default().replace(':', "_");
        let email = settings.email.replace(['/', '\\'], "_");
        let name = settings.domain.replace(':', "-").replace(['*', '/'], "_");
        let certificates = root.join("certificates");
        Self {
            // Beside the other program's `account.json`, which has another form.
            account: root.join("accounts").join(host).join(email).join("credentials.json"),
            chain: certificates.join(format!("{name}.crt")),
            key: certificates.join(format!("{name}.key")),
        }
    }

    pub(super) fn account(&self) -> io::Result<Option<Vec<u8>>> {
        read(&self.account)
    }

    pub(super) fn write_account(&self, credentials: &[u8]) -> io::Result<()> {
        write(&self.account, credentials)
    }

    /// Chain and key, if both are there.
    pub(super) fn certificate(&self) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        Ok(read(&self.chain)?.zip(read(&self.key)?))
    }

    pub(super) fn write_certificate(&self, chain: &[u8], key: &[u8]) -> io::Result<()> {
        write(&self.key, key)?;
        write(&self.chain, chain)
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Writes a file whole, for its owner alone.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(path);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_where_the_existing_provider_has_them_and_private() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::new(&AcmeSettings {
            directory: "https://acme.example.com:14000/dir".into(),
            email: "a@example.com".into(),
            domain: "provider.example.com".into(),
            challenges: Vec::new(),
            directory_path: root.path().to_owned(),
            external_account: None,
            root: None,
            outbound: akash_net::Outbound::default(),
        });
        assert_eq!(store.certificate().unwrap(), None);
        assert_eq!(store.account().unwrap(), None);
        store.write_certificate(b"chain", b"key").unwrap();
        store.write_account(b"{}").unwrap();
        assert_eq!(store.certificate().unwrap(), Some((b"chain".to_vec(), b"key".to_vec())));
        let key = root.path().join("certificates/provider.example.com.key");
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
        let account = "accounts/acme.example.com_14000/a@example.com/credentials.json";
        assert!(root.path().join(account).is_file());
    }
}
