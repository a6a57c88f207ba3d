//! What a tenant asks about its leases.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_grpc::akash::provider::lease::v1::lease_rpc_server::LeaseRpc;
use akash_proto::akash::market::v1 as market;
use akash_proto::akash::provider::lease::v1 as wire;
use akash_sdl::Manifest;
use akash_types::{Address, DeploymentId, LeaseId};
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{Extensions, StatusCode};
use provider_api::error::ErrorCode;
use provider_engine::cluster::port::{Cluster, LogQuery, ServiceChoice, ServiceStatus};
use provider_engine::manifest::ManifestAnswer;
use provider_engine::{Received, Reply, TenantRequest};
use tonic::{Request, Response, Status};

use super::follow::{Hints, Logs, StatusFollow};
use super::status_of;
use crate::Gateway;
use crate::auth::{self, LeaseRef, Principal, Services};
use crate::gateway::StreamPermit;
use crate::port::Provider;
use crate::rest::{Failure, manifest_failure, no_attestation, service_status};
use crate::stream::{Allowed, Ending, Lines};

/// Newest lines of each replica that one answer has.
const LINES: u64 = 10_000;
/// Most bytes of logs in one answer: a client takes four mebibytes by default.
const BYTES: usize = 3 << 20;

pub(super) struct Answers<P, C>(pub(super) Gateway<P, C>);

impl<P: Provider, C: Cluster> Answers<P, C> {
    /// The numbers of a lease, if it is of who asks and of this provider: another's looks like one
    /// that does not exist.
    fn lease_ref(
        &self,
        extensions: &Extensions,
        id: Option<&market::LeaseId>,
    ) -> Result<LeaseRef, Status> {
        let id = id.ok_or_else(|| Status::invalid_argument("lease_id is missing"))?;
        let owner = extensions.get::<Arc<Principal>>().and_then(|principal| principal.account());
        let provider = self.0.provider.identity().address;
        let is = |text: &str, address: Option<Address>| {
            text.is_empty() || text.parse().ok().is_some_and(|named| address == Some(named))
        };
        if !is(&id.owner, owner) || !is(&id.provider, Some(provider)) {
            return Err(status_of(&Failure::no_lease()));
        }
        Ok(LeaseRef { dseq: id.dseq, gseq: id.gseq, oseq: id.oseq })
    }

    fn find(
        &self,
        extensions: &Extensions,
        request: Result<auth::Request<'_>, Status>,
    ) -> Result<Allowed, Status> {
        let grant = self.0.authorizer.decide(extensions, request)?;
        let found = self.0.allowed(grant, extensions);
        found.ok_or_else(|| status_of(&Failure::no_lease()))
    }

    /// The lease, if all services that are named, or it as a whole where none is, may be read.
    fn find_services(
        &self,
        extensions: &Extensions,
        request: &wire::ServiceStatusRequest,
    ) -> Result<Allowed, Status> {
        let lease = self.lease_ref(extensions, request.lease_id.as_ref());
        for service in &request.services {
            let asked = lease.clone().map(|lease| auth::Request::ServiceStatus(lease, service));
            self.find(extensions, asked)?;
        }
        self.find(extensions, lease.map(auth::Request::LeaseStatus))
    }

    pub(super) async fn statuses(
        &self,
        lease: LeaseId,
        visible: &Services,
        named: &[String],
    ) -> Result<wire::ServiceStatusResponse, Status> {
        let status = self.0.cluster.status(lease).await.map_err(read)?;
        let wanted = |service: &&ServiceStatus| {
            visible.include(&service.name) && (named.is_empty() || named.contains(&service.name))
        };
        let public = self.0.provider.identity().public_hostname.clone();
        let services = status.services.iter().filter(wanted);
        let services = services.map(|service| service_message(service, &public)).collect();
        Ok(wire::ServiceStatusResponse { services })
    }

    async fn log_lines(
        &self,
        request: Request<wire::ServiceLogsRequest>,
        follow: bool,
    ) -> Result<Logs<C::Lines>, Status> {
        let (_, extensions, request) = request.into_parts();
        let lease = self.lease_ref(&extensions, request.lease_id.as_ref());
        let names: Vec<&str> = request.services.iter().map(String::as_str).collect();
        let asked = lease.map(|lease| auth::Request::Logs(lease, &names));
        let allowed = self.find(&extensions, asked)?;
        let services = match request.services.is_empty() {
            true => ServiceChoice::All,
            false => ServiceChoice::Named(request.services),
        };
        let tail = (!follow).then_some(LINES);
        let query = LogQuery { services, tail, follow, previous: false };
        let permit = self.permit(&allowed)?;
        let parts = self.0.cluster.logs(allowed.lease, query).await.map_err(read)?;
        let turns = self.0.log_turns(allowed.lease);
        Ok(Logs::new(parts, Lines::new(follow), allowed, turns, permit))
    }

    fn permit(&self, allowed: &Allowed) -> Result<StreamPermit, Status> {
        self.0.stream_permit(Some(allowed.lease)).map_err(|busy| status_of(&busy.into()))
    }
}

#[tonic::async_trait]
impl<P: Provider, C: Cluster> LeaseRpc for Answers<P, C> {
    type StreamServiceStatusStream =
        BoxStream<'static, Result<wire::ServiceStatusResponse, Status>>;
    type StreamServiceLogsStream = BoxStream<'static, Result<wire::ServiceLogsResponse, Status>>;

    async fn send_manifest(
        &self,
        request: Request<wire::SendManifestRequest>,
    ) -> Result<Response<wire::SendManifestResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let dseq = self.lease_ref(&extensions, request.lease_id.as_ref()).map(|lease| lease.dseq);
        let asked = dseq.clone().map(|dseq| auth::Request::SendManifest { dseq });
        let owner = self.0.authorizer.decide(&extensions, asked)?.owner()?;
        let dseq = dseq?;
        let deployment = DeploymentId::new(owner, dseq);
        let deployment = deployment.map_err(|error| Status::not_found(error.to_string()))?;
        let manifest = Manifest::from_proto(request.manifest);
        let manifest = manifest.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let wanted = TenantRequest::Manifest {
            deployment,
            manifest: Arc::new(manifest),
            received: Received::default(),
        };
        let reply = self.0.provider.tenant(wanted).await;
        match reply.map_err(|busy| status_of(&busy.into()))? {
            Reply::Manifest(ManifestAnswer::Accepted { .. }) => {
                Ok(Response::new(wire::SendManifestResponse {}))
            }
            Reply::Manifest(ManifestAnswer::Refused(refusal)) => {
                Err(status_of(&manifest_failure(&refusal)))
            }
            _ => Err(Status::internal("the answer does not belong to the question")),
        }
    }

    async fn service_status(
        &self,
        request: Request<wire::ServiceStatusRequest>,
    ) -> Result<Response<wire::ServiceStatusResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let allowed = self.find_services(&extensions, &request)?;
        Ok(Response::new(self.statuses(allowed.lease, &allowed.services, &request.services).await?))
    }

    async fn stream_service_status(
        &self,
        request: Request<wire::ServiceStatusRequest>,
    ) -> Result<Response<Self::StreamServiceStatusStream>, Status> {
        let (_, extensions, request) = request.into_parts();
        let allowed = self.find_services(&extensions, &request)?;
        let permit = self.permit(&allowed)?;
        // Hints are waited for before the first look, so that none is missed between.
        let hints = Hints::of(allowed.lease, self.0.provider.changes(), &self.0.cluster).await;
        let first = self.statuses(allowed.lease, &allowed.services, &request.services).await?;
        let follow = StatusFollow {
            answers: Self(self.0.clone()),
            allowed,
            named: request.services,
            hints,
            pause: StatusFollow::<P, C>::FIRST,
            told: first.clone(),
            _permit: permit,
        };
        let rest = stream::unfold(Some(follow), StatusFollow::next);
        let first = stream::once(async move { Ok(first) });
        Ok(Response::new(first.chain(rest).boxed()))
    }

    async fn service_logs(
        &self,
        request: Request<wire::ServiceLogsRequest>,
    ) -> Result<Response<wire::ServiceLogsResponse>, Status> {
        let mut logs = self.log_lines(request, false).await?;
        let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut bytes = 0_usize;
        while let Some((service, line)) = logs.next().await? {
            bytes = bytes.saturating_add(line.len());
            if bytes > BYTES {
                break;
            }
            found.entry(service).or_default().extend_from_slice(&line);
        }
        let services = found.into_iter().map(|(name, logs)| wire::ServiceLogs { name, logs });
        Ok(Response::new(wire::ServiceLogsResponse { services: services.collect() }))
    }

    async fn stream_service_logs(
        &self,
        request: Request<wire::ServiceLogsRequest>,
    ) -> Result<Response<Self::StreamServiceLogsStream>, Status> {
        let logs = self.log_lines(request, true).await?;
        let stream = stream::try_unfold(logs, async |mut logs| {
            let next = logs.next().await?;
            Ok(next.map(|(name, line)| {
                let services = vec![wire::ServiceLogs { name, logs: line }];
                (wire::ServiceLogsResponse { services }, logs)
            }))
        });
        Ok(Response::new(stream.boxed()))
    }

    async fn attestation_quote(
        &self,
        _: Request<wire::AttestationQuoteRequest>,
    ) -> Result<Response<wire::AttestationQuoteResponse>, Status> {
        Err(status_of(&no_attestation()))
    }
}

fn service_message(service: &ServiceStatus, public: &str) -> wire::ServiceStatus {
    let shown = service_status(service, Vec::new());
    let ports = service.ports.iter().map(|port| wire::ForwarderPortStatus {
        host: port.host.clone().unwrap_or_else(|| public.to_owned()),
        port: port.port.into(),
        external_port: port.external_port.into(),
        proto: port.transport.as_str().to_owned(),
        name: service.name.clone(),
    });
    let ips = service.ips.iter().map(|ip| wire::LeaseIpStatus {
        port: ip.port.into(),
        external_port: ip.external_port.into(),
        protocol: ip.transport.as_str().to_owned(),
        ip: ip.address.to_string(),
    });
    wire::ServiceStatus {
        name: service.name.clone(),
        status: Some(wire::LeaseServiceStatus {
            available: shown.available,
            total: shown.total,
            uris: shown.uris.unwrap_or_default(),
            observed_generation: shown.observed_generation,
            replicas: shown.replicas,
            updated_replicas: shown.updated_replicas,
            ready_replicas: shown.ready_replicas,
            available_replicas: shown.available_replicas,
        }),
        ports: ports.collect(),
        ips: ips.collect(),
    }
}

pub(super) fn read(failure: provider_engine::cluster::port::ReadFailure) -> Status {
    status_of(&failure.into())
}

pub(super) fn ended(ending: Ending) -> Status {
    let (status, code, text) = match ending {
        Ending::LeaseClosed => {
            (StatusCode::NOT_FOUND, ErrorCode::LeaseClosed, "the lease is closed")
        }
        Ending::Stopping => {
            (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady, "the provider stops")
        }
        Ending::TooOld => {
            let text = "the stream has lasted as long as one may: open another";
            (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady, text)
        }
        Ending::Revoked => {
            (StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, "the certificate is revoked")
        }
    };
    status_of(&Failure::plain(status, code, text))
}
