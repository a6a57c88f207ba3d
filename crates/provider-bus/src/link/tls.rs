//! TLS as the target wants it.

use akash_net::{TlsError, Trust};

use super::target::Target;

impl Target {
    /// Whether the files it names can be used. They are read again at every connect, so that
    /// renewed ones are taken.
    pub fn check(&self) -> Result<(), TlsError> {
        self.tls.as_ref().map_or(Ok(()), |files| files.configure(&Trust::default()).map(drop))
    }
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
            assert!(error.to_string().contains(expected), "{error}");
        }
        "rediss://localhost".parse::<Target>().unwrap().check().unwrap();
    }
}
