//! How a stream of what is only read begins: logs and events alike.

use std::future::Future;

use akash_types::LeaseId;
use http::request::Parts;
use provider_api::query::{Query, StreamParams};
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{Cluster, ReadFailure, ServiceChoice};

use super::pump::{Source, ended, not_opened, pump};
use super::socket::Happened;
use super::{Allowed, bad_parameter};
use crate::Gateway;
use crate::auth::{LeaseRef, Principal, Request, Services};
use crate::port::Provider;
use crate::rest::{Answer, Failure};

/// Largest message of a client that is only to read.
const SMALL: usize = 4 << 10;

/// What is asked with a lease and the names of services.
pub(super) type Asked = for<'a> fn(LeaseRef, &'a [&'a str]) -> Request<'a>;

/// What is read, once it is allowed.
pub(super) struct Reading {
    pub(super) lease: LeaseId,
    /// Of which services something may be told.
    pub(super) services: Services,
    pub(super) params: StreamParams,
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// Answers the handshake, opens what is read and sends it. A parameter that makes no sense is
    /// told before anything else.
    pub(super) fn read<S, F>(
        &self,
        principal: &Principal,
        lease: LeaseRef,
        asked: Asked,
        parts: &mut Parts,
        open: impl FnOnce(C, Reading) -> F + Send + 'static,
    ) -> Result<Answer, Failure>
    where
        S: Source,
        F: Future<Output = Result<S, ReadFailure>> + Send,
    {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let params =
            StreamParams::read(&query).map_err(|error| bad_parameter(error.to_string()))?;
        let names: Vec<&str> = params.services.iter().map(String::as_str).collect();
        // A lease that is not there is told after the handshake.
        let found = self.allow(principal, &asked(lease, &names), &parts.extensions)?;
        let of = found.as_ref().map(|found| found.lease);
        self.open(parts, of, SMALL, async move |gateway, mut socket| {
            let Some(Allowed { lease, services, mut watch }) = found else {
                return socket.finish(CloseCode::NotFound, "").await;
            };
            let turns = gateway.turns();
            let opened = open(gateway.cluster, Reading { lease, services, params });
            match socket.until(&mut watch, false, opened).await {
                Happened::Own(Ok(source)) => pump(socket, watch, turns, source).await,
                Happened::Own(Err(failure)) => {
                    let (code, reason) = not_opened(&failure);
                    socket.finish(code, reason).await;
                }
                Happened::Ended(ending) => {
                    let (code, reason) = ended(ending);
                    socket.finish(code, &reason).await;
                }
                Happened::Received(_) | Happened::Gone => {}
            }
        })
    }
}

/// All services if none is named.
pub(super) fn choice(names: Vec<String>) -> ServiceChoice {
    if names.is_empty() { ServiceChoice::All } else { ServiceChoice::Named(names) }
}
