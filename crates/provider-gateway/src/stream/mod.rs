//! Logs, events and shells over WebSocket.
//!
//! ```text
//!  handshake ─► authorized ─► 101 ─► task: open ─► frames ⇄ pings ─► farewell
//!                                             │         │
//!                        4001, 4002, 4000 ◄───┘         ├─► 1000 no more
//!                                                       ├─► 4003 the lease is over
//!                                                       ├─► 4000 the certificate is revoked
//!                                                       └─► 1001 the provider stops, or a day is over
//! ```
//!
//! Everything that can be refused is refused before the handshake ends, over HTTP. A stream holds
//! no more than one line of each replica and what the socket has not written yet: who reads slowly
//! slows down what is read for them, and who does not read at all is left after a while.
//!
//! Must not know how a cluster gives logs or runs commands.

mod events;
mod handshake;
mod lines;
mod logs;
mod pump;
mod shell;
mod socket;
mod watch;

use std::future::Future;

use akash_types::LeaseId;
use bytes::Bytes;
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, UPGRADE};
use http::request::Parts;
use http::{Extensions, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use hyper::upgrade::OnUpgrade;
use provider_api::error::ErrorCode;
use provider_engine::cluster::port::Cluster;

use crate::Gateway;
use crate::auth::{Grant, Services};
use crate::port::Provider;
use crate::rest::{Answer, Failure};
pub(crate) use lines::Lines;
use socket::Socket;
pub(crate) use watch::{Ending, LeaseWatch};

/// A lease that somebody may read.
pub(crate) struct Allowed {
    pub(crate) lease: LeaseId,
    /// Of which services something may be told.
    pub(crate) services: Services,
    pub(crate) watch: LeaseWatch,
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// What a stream of a lease that was granted goes on with; `None` if there is no such lease.
    pub(crate) fn allowed(&self, grant: Grant, extensions: &Extensions) -> Option<Allowed> {
        let Grant { lease, is_active, services, .. } = grant;
        let lease = lease?;
        let (changes, revoked) = (self.provider.changes(), self.authorizer.revoked(extensions));
        let (stopping, lifetime) = (self.stopping(), self.settings.stream_lifetime);
        let watch = LeaseWatch::new(lease, is_active, changes, stopping, lifetime, revoked);
        Some(Allowed { lease, services, watch })
    }

    /// Answers the handshake, and lets `talk` go on in a task of its own. `limit` is the largest
    /// message that the client may send.
    fn open<F>(
        &self,
        parts: &mut Parts,
        lease: Option<LeaseId>,
        limit: usize,
        talk: impl FnOnce(Self, Socket) -> F + Send + 'static,
    ) -> Result<Answer, Failure>
    where
        F: Future<Output = ()> + Send,
    {
        let accept = handshake::accept(&parts.method, &parts.headers)?;
        let permit = self.stream_permit(lease)?;
        let upgrade = parts.extensions.remove::<OnUpgrade>().ok_or_else(|| {
            let text = "the connection cannot become a WebSocket";
            Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, text)
        })?;
        let gateway = self.clone();
        tokio::spawn(async move {
            let _permit = permit;
            // A client that left meanwhile has nothing to be told.
            if let Ok(upgraded) = upgrade.await {
                let (ping, patience) = (gateway.settings.ping, gateway.settings.write_patience);
                talk(gateway, Socket::new(upgraded, ping, patience, limit).await).await;
            }
        });
        let mut answer = Response::new(Full::<Bytes>::default());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        Ok(answer)
    }
}

fn bad_parameter(text: String) -> Failure {
    Failure::plain(StatusCode::BAD_REQUEST, ErrorCode::BadParameter, text)
}
