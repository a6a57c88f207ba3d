//! Where the hash that other programs compute is not known.

use thiserror::Error;

use super::model::Manifest;

/// Why the hash of a manifest is not known. A hash that is guessed is worse than none: a lease
/// would be paid for whose manifest every other provider refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HashDoubt {
    /// Some members of `proxy` are set and others are not.
    #[error(
        "the hash of this manifest is not known: service {service:?} sets some members of \
         http_options.proxy, and whether tools write the others as zero into the manifest is not \
         published; set all six, or none"
    )]
    Proxy {
        /// The service.
        service: String,
    },
    /// A key broker is named.
    #[error(
        "the hash of this manifest is not known: service {service:?} has params.kbs, and how \
         tools write it into the manifest is not published"
    )]
    Kbs {
        /// The service.
        service: String,
    },
}

impl Manifest {
    /// What makes the hash of a manifest that was built here differ from that of other programs,
    /// possibly. A manifest that was received has none: it is hashed as it was sent.
    pub fn hash_doubts(&self) -> Vec<HashDoubt> {
        let mut doubts = Vec::new();
        for service in self.groups.iter().flat_map(|group| &group.services) {
            let mut proxies =
                service.expose.iter().flatten().filter_map(|it| it.http_options.proxy.as_ref());
            if !proxies.all(super::ProxyOptions::is_fully_set) {
                doubts.push(HashDoubt::Proxy { service: service.name.clone() });
            }
            let tee = service.params.as_ref().and_then(|params| params.tee.as_ref());
            if tee.is_some_and(|tee| tee.kbs.is_some()) {
                doubts.push(HashDoubt::Kbs { service: service.name.clone() });
            }
        }
        doubts
    }
}
