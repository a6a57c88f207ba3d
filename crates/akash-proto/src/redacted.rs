//! `Debug` for messages that hold secrets, without the secrets.
//!
//! The generated `Debug` prints every field, and a message that is logged with `{:?}` anywhere
//! above would print them too. Must not know where messages are logged.

use std::fmt;

use crate::akash::manifest::v2beta3::ImageCredentials;
use crate::cosmos::crypto::keyring::v1::record::Local;
use crate::cosmos::crypto::secp256k1::PrivKey;

impl fmt::Debug for ImageCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageCredentials")
            .field("host", &self.host)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

impl fmt::Debug for PrivKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::akash::manifest::v2beta3::Service;
    use crate::cosmos::crypto::keyring::v1::{Record, record::Item};
    use crate::to_any;

    #[test]
    fn a_manifest_service_does_not_show_its_password() {
        let credentials = ImageCredentials {
            host: "ghcr.io".into(),
            password: "hunter2".into(),
            ..ImageCredentials::default()
        };
        let service = Service { credentials: Some(credentials), ..Service::default() };
        let shown = format!("{service:?}");
        assert!(shown.contains("ghcr.io") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn keys_do_not_show_their_bytes() {
        let key = PrivKey { key: vec![222; 32] };
        let local = Local { priv_key: Some(to_any(&key)) };
        let record = Record { item: Some(Item::Local(local)), ..Record::default() };
        let shown = format!("{key:?} {record:?}");
        assert!(!shown.contains("222"), "{shown}");
    }
}
