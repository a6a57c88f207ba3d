//! Who is at the other end of a connection.

use std::net::SocketAddr;
use std::sync::Arc;

use super::idle::Presence;
use crate::auth::ClientCertificate;

/// Who is at the other end of a connection. Every request has an `Arc<Peer>` among its
/// extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate that was shown. It was good when the connection began.
    pub certificate: Option<ClientCertificate>,
}

/// The connection of a request, among its extensions. It is taken for a stranger's until its client
/// shows who it is.
#[derive(Clone, Debug)]
pub struct OfStranger(pub(super) Arc<Presence>);

impl OfStranger {
    /// Its client has shown who it is.
    pub fn is_known_now(&self) {
        self.0.exempt();
    }
}
