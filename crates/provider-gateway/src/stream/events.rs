//! What happened to a lease.

use http::request::Parts;
use provider_api::json::to_line;
use provider_api::stream::{EventFrame, EventObject};
use provider_engine::cluster::port::{Cluster, ClusterEvent, EventQuery, EventStream, ReadFailure};

use super::pump::Source;
use super::read::{Asked, Reading, choice};
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
        let asked: Asked = |lease, services| Request::Events(lease, services);
        self.read(principal, lease, asked, parts, async |cluster, reading| {
            let Reading { lease, services, params } = reading;
            let query = EventQuery { services: choice(params.services), follow: params.follow };
            let events = cluster.events(lease, query).await?;
            Ok(EventSource { events, services })
        })
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
