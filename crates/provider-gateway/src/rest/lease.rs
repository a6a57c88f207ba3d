//! How a lease is, with what a tenant needs to understand it.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::LeaseId;
use http::StatusCode;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_api::status::{
    Detail, Exit, ForwardedPort, LeaseFunds, LeaseStatus, LeasedIp, ServiceEvent, ServiceStatus,
};
use provider_engine::cluster::port::{
    self, Cluster, EventQuery, EventStream, Missing, ReadFailure, ServiceChoice,
};
use provider_engine::cluster::view::Held;

use super::failure::{Answer, Failure, json};
use crate::Gateway;
use crate::auth::{LeaseRef, Request};
use crate::port::Provider;

/// How many of the newest events of a service are shown.
const EVENTS: usize = 5;
/// How many events are looked through for them.
const LOOKED_THROUGH: usize = 2048;
/// How long a status waits for events, which it can do without.
const PATIENCE: Duration = Duration::from_millis(500);

type Events = BTreeMap<String, Vec<ServiceEvent>>;

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(super) async fn lease_status(
        &self,
        lease: Result<LeaseRef, Failure>,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let gone = || {
            let text = "no such lease, or nothing was sent for it";
            Failure::empty(StatusCode::NOT_FOUND, ErrorCode::LeaseNotFound, text)
        };
        let asked = lease.map(Request::LeaseStatus);
        let grant = self.authorizer.authorize(parts, asked).await?;
        let lease = grant.lease.ok_or_else(gone)?;
        let published = self.provider.published();
        let known = published.leases.get(lease);
        let lost = known.is_some_and(|it| it.lacks_manifest);
        let missing = |failure| match failure {
            ReadFailure::NotFound(Missing::Lease) if lost => {
                let text = "the provider lost the manifest of this lease: send it again";
                Failure::empty(StatusCode::NOT_FOUND, ErrorCode::ManifestLost, text)
            }
            ReadFailure::NotFound(Missing::Lease) => gone(),
            other => other.into(),
        };
        let all = ServiceChoice::All;
        let (held, status, events) = tokio::join!(
            self.cluster.manifest(lease),
            self.cluster.status(lease),
            self.events_of(lease, all)
        );
        let (held, mut status) = (held.map_err(missing)?, status.map_err(missing)?);
        status.services.retain(|service| grant.services.include(&service.name));
        let funds = known.and_then(|known| known.funds).map(|funds| LeaseFunds {
            dry: funds.is_dry,
            dry_at: funds.dry_at,
            blocks_left: funds.blocks_left,
            seconds_left: funds.time_left.map(|time| time.as_secs()),
        });
        json(&LeaseStatus { funds, ..self.document(&held, &status, events) })
    }

    pub(super) async fn service(
        &self,
        lease: Result<LeaseRef, Failure>,
        name: &str,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let asked = lease.map(|lease| Request::ServiceStatus(lease, name));
        let grant = self.authorizer.authorize(parts, asked).await?;
        let lease = grant.lease.ok_or_else(Failure::no_lease)?;
        let named = ServiceChoice::Named(vec![name.to_owned()]);
        let (status, mut events) =
            tokio::join!(self.cluster.service(lease, name), self.events_of(lease, named));
        json(&service_status(&status?, events.remove(name).unwrap_or_default()))
    }

    fn document(&self, held: &Held, status: &port::LeaseStatus, mut events: Events) -> LeaseStatus {
        let exposes =
            || held.group.services.iter().flat_map(|service| service.expose.iter().flatten());
        // Asked for by what was written, where 0 stands for the container's own port.
        let asks_for_ports = exposes().any(|expose| expose.global && expose.external_port != 80);
        let asks_for_ips = exposes().any(|expose| !expose.ip.is_empty());
        let public = self.provider.identity().public_hostname.clone();
        let ports = status.services.iter().filter(|service| !service.ports.is_empty());
        let ports = ports.map(|service| {
            let ports = service.ports.iter().map(|port| forwarded(&service.name, port, &public));
            (service.name.clone(), ports.collect())
        });
        let ips = status.services.iter().filter(|service| !service.ips.is_empty());
        let ips =
            ips.map(|service| (service.name.clone(), service.ips.iter().map(leased).collect()));
        let services = status.services.iter().map(|service| {
            let events = events.remove(&service.name).unwrap_or_default();
            let mut document = service_status(service, events);
            if let Some(detail) = &mut document.detail {
                let ignored = held.ignored.get(&service.name);
                detail.not_carried_out = ignored.cloned().unwrap_or_default();
            }
            (service.name.clone(), document)
        });
        LeaseStatus {
            services: services.collect(),
            forwarded_ports: asks_for_ports.then(|| ports.collect()),
            ips: asks_for_ips.then(|| ips.collect()),
            funds: None,
        }
    }

    /// The newest events of each service, as far as they can be had in time.
    async fn events_of(&self, lease: LeaseId, services: ServiceChoice) -> Events {
        let mut found = Events::new();
        let reading = async {
            let query = EventQuery { services, follow: false };
            let Ok(mut events) = self.cluster.events(lease, query).await else { return };
            for _ in 0..LOOKED_THROUGH {
                let Ok(Some(event)) = events.next().await else { return };
                let Some(service) = event.service else { continue };
                let newest = found.entry(service).or_default();
                if newest.len() == EVENTS {
                    newest.remove(0);
                }
                newest.push(ServiceEvent {
                    kind: event.kind.as_str().to_owned(),
                    reason: event.reason,
                    note: event.note,
                });
            }
        };
        // Late is as good as never: the status says the rest.
        let _ = tokio::time::timeout(PATIENCE, reading).await;
        found
    }
}

/// A service as clients know it, explained.
pub(crate) fn service_status(
    service: &port::ServiceStatus,
    events: Vec<ServiceEvent>,
) -> ServiceStatus {
    let counts = service.counts;
    let number = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    let ready = number(counts.ready);
    let exit = |exit: &port::LastExit| Exit { code: exit.code, reason: exit.reason.clone() };
    ServiceStatus {
        name: service.name.clone(),
        available: ready,
        total: number(counts.wanted),
        uris: (!service.hostnames.is_empty()).then(|| service.hostnames.clone()),
        observed_generation: counts.generation,
        replicas: number(counts.existing),
        updated_replicas: number(counts.updated),
        ready_replicas: ready,
        available_replicas: ready,
        detail: Some(Detail {
            phase: service.phase.as_str().to_owned(),
            why: service.why.clone(),
            ready: counts.ready,
            wanted: counts.wanted,
            restarts: service.restarts,
            last_exit: service.last_exit.as_ref().map(exit),
            events,
            not_carried_out: Vec::new(),
        }),
    }
}

fn forwarded(service: &str, port: &port::ForwardedPort, public: &str) -> ForwardedPort {
    ForwardedPort {
        host: port.host.clone().unwrap_or_else(|| public.to_owned()),
        port: port.port,
        external_port: port.external_port,
        proto: port.transport.as_str().to_owned(),
        name: service.to_owned(),
    }
}

fn leased(ip: &port::LeasedIp) -> LeasedIp {
    LeasedIp {
        port: ip.port.into(),
        external_port: ip.external_port.into(),
        protocol: ip.transport.as_str().to_owned(),
        ip: ip.address.to_string(),
    }
}
