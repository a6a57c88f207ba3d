//! What happened to a lease.

use http::request::Parts;
use provider_api::json::to_line;
use provider_api::query::{Query, StreamParams};
use provider_api::stream::{CloseCode, EventFrame, EventObject};
use provider_engine::cluster::port::{Cluster, ClusterEvent, EventQuery, EventStream, ReadFailure};

use super::logs::choice;
use super::pump::{Source, ended, not_opened, pump};
use super::socket::{Happened, Socket};
use super::{Found, bad_parameter};
use crate::Gateway;
use crate::port::{Gatekeeper, LeaseRef, Provider, Request, Services};
use crate::rest::{Answer, Failure};

impl<P: Provider, C: Cluster, G: Gatekeeper> Gateway<P, C, G> {
    pub(crate) fn events(
        &self,
        principal: &G::Principal,
        lease: LeaseRef,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let params =
            StreamParams::read(&query).map_err(|error| bad_parameter(error.to_string()))?;
        let names: Vec<&str> = params.services.iter().map(String::as_str).collect();
        let found = self.find(principal, &Request::Events(lease, &names))?;
        self.open(parts, |gateway, socket| gateway.send_events(socket, found, params))
    }

    async fn send_events(self, mut socket: Socket, found: Found, params: StreamParams) {
        let Some((lease, services)) = found else {
            return socket.finish(CloseCode::NotFound, "").await;
        };
        let mut watch = self.watch(lease);
        let query = EventQuery { services: choice(params.services), follow: params.follow };
        match socket.until(&mut watch, false, self.cluster.events(lease, query)).await {
            Happened::Own(Ok(events)) => {
                pump(socket, watch, EventSource { events, services }).await;
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

struct EventSource<E> {
    events: E,
    services: Services,
}

impl<E: EventStream> Source for EventSource<E> {
    async fn next(&mut self) -> Result<Option<Vec<String>>, ReadFailure> {
        while let Some(event) = self.events.next().await? {
            // What is about the lease as a whole is for who may see all of it.
            let visible = match &event.service {
                Some(service) => self.services.include(service),
                None => self.services == Services::All,
            };
            if visible && let Ok(line) = to_line(&frame(event)) {
                return Ok(Some(vec![line]));
            }
        }
        Ok(None)
    }
}

fn frame(event: ClusterEvent) -> EventFrame {
    EventFrame {
        kind: event.kind.as_str().to_owned(),
        reporting_controller: event.controller,
        reporting_instance: event.instance,
        reason: event.reason,
        note: event.note,
        object: EventObject {
            kind: event.object.kind,
            namespace: event.object.namespace,
            name: event.object.name,
        },
    }
}
