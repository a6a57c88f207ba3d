//! Who is at the other end of a connection.

use std::net::SocketAddr;

use crate::auth::ClientCertificate;

/// Who is at the other end of a connection. Every request has an `Arc<Peer>` among its
/// extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate that was shown. It was good when the connection began.
    pub certificate: Option<ClientCertificate>,
}
