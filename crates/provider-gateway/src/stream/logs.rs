//! What containers wrote.

use http::request::Parts;
use provider_api::json::to_line;
use provider_api::query::{Query, StreamParams};
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{
    Cluster, LogLines, LogPart, LogQuery, ReadFailure, ServiceChoice,
};

use super::lines::Lines;
use super::pump::{Source, ended, not_opened, pump};
use super::socket::{Happened, Socket};
use super::{Found, bad_parameter};
use crate::Gateway;
use crate::port::{Gatekeeper, LeaseRef, Provider, Request, Services};
use crate::rest::{Answer, Failure};

impl<P: Provider, C: Cluster, G: Gatekeeper> Gateway<P, C, G> {
    pub(crate) fn logs(
        &self,
        principal: &G::Principal,
        lease: LeaseRef,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let params =
            StreamParams::read(&query).map_err(|error| bad_parameter(error.to_string()))?;
        let names: Vec<&str> = params.services.iter().map(String::as_str).collect();
        let found = self.find(principal, &Request::Logs(lease, &names))?;
        self.open(parts, |gateway, socket| gateway.send_logs(socket, found, params))
    }

    async fn send_logs(self, mut socket: Socket, found: Found, params: StreamParams) {
        let Some((lease, services)) = found else {
            return socket.finish(CloseCode::NotFound, "").await;
        };
        let mut watch = self.watch(lease);
        let query = LogQuery {
            services: choice(params.services),
            tail: params.tail,
            follow: params.follow,
            previous: false,
        };
        match socket.until(&mut watch, false, self.cluster.logs(lease, query)).await {
            Happened::Own(Ok(parts)) => {
                let lines = Lines::new(params.follow);
                pump(socket, watch, LogSource { parts, lines, services, is_over: false }).await;
            }
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
    }
}

/// All services if none is named.
pub(super) fn choice(names: Vec<String>) -> ServiceChoice {
    if names.is_empty() { ServiceChoice::All } else { ServiceChoice::Named(names) }
}

struct LogSource<L> {
    parts: L,
    lines: Lines,
    services: Services,
    is_over: bool,
}

impl<L: LogLines> LogSource<L> {
    fn may_see(&self, part: &LogPart) -> bool {
        let (LogPart::Text { service, .. } | LogPart::Break { service, .. }) = part;
        self.services.include(service)
    }
}

impl<L: LogLines> Source for LogSource<L> {
    async fn next(&mut self) -> Result<Option<Vec<String>>, ReadFailure> {
        while !self.is_over {
            let frames = match self.parts.next().await {
                Ok(Some(part)) if self.may_see(&part) => self.lines.push(part),
                Ok(Some(_)) => Vec::new(),
                Ok(None) => {
                    self.is_over = true;
                    self.lines.finish()
                }
                Err(failure) => return Err(failure),
            };
            if !frames.is_empty() {
                let lines = frames.iter().filter_map(|frame| to_line(frame).ok());
                return Ok(Some(lines.collect()));
            }
        }
        Ok(None)
    }
}
