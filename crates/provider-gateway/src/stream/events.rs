//! What happened to a lease.

use std::vec::IntoIter;

use akash_types::LeaseId;
use http::request::Parts;
use provider_api::json::to_line;
use provider_api::stream::{EventFrame, EventObject};
use provider_engine::cluster::port::{
    Cluster, ClusterEvent, EventKind, EventQuery, EventStream, ObjectRef, ReadFailure,
};

use super::handshake::{Asked, Reading, choice};
use super::pump::Source;
use crate::Gateway;
use crate::auth::{LeaseRef, Request, Services};
use crate::port::Provider;
use crate::rest::{Answer, Failure};

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(crate) async fn events(
        &self,
        lease: Result<LeaseRef, Failure>,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let asked: Asked = |lease, services| Request::Events(lease, services);
        let open = async |cluster: C, reading| {
            let Reading { lease, services, params } = reading;
            let query = EventQuery { services: choice(params.services), follow: params.follow };
            let held = cluster.manifest(lease).await;
            let ignored = held.map(|held| held.ignored).unwrap_or_default();
            let ignored = ignored.into_iter().filter(|(name, _)| query.services.includes(name));
            let notices = ignored.flat_map(|(service, options)| {
                options.into_iter().map(move |option| not_carried_out(lease, &service, &option))
            });
            let notices = notices.collect::<Vec<_>>().into_iter();
            let events = cluster.events(lease, query).await?;
            Ok(EventSource { notices, events, services })
        };
        self.read(lease, asked, parts, open).await
    }
}

struct EventSource<E> {
    /// What is told before what happened.
    notices: IntoIter<ClusterEvent>,
    events: E,
    services: Services,
}

impl<E: EventStream> Source for EventSource<E> {
    async fn next(&mut self) -> Result<Option<String>, ReadFailure> {
        loop {
            let event = match self.notices.next() {
                Some(notice) => notice,
                None => match self.events.next().await? {
                    Some(event) => event,
                    None => return Ok(None),
                },
            };
            // What is about the lease as a whole is for who may see all of it.
            let visible = match &event.service {
                Some(service) => self.services.include(service),
                None => self.services == Services::All,
            };
            if visible && let Ok(line) = to_line(&frame(event)) {
                return Ok(Some(line));
            }
        }
    }
}

/// That an option of the manifest has no effect here.
fn not_carried_out(lease: LeaseId, service: &str, option: &str) -> ClusterEvent {
    ClusterEvent {
        kind: EventKind::Warning,
        reason: "NotCarriedOut".to_owned(),
        note: format!("this provider does not know {option} and runs the service without it"),
        controller: "provider-services".to_owned(),
        instance: String::new(),
        object: ObjectRef {
            kind: "Manifest".to_owned(),
            namespace: String::new(),
            name: lease.to_string(),
        },
        service: Some(service.to_owned()),
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
