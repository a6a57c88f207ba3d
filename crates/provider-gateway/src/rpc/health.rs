//! Whether the provider is fit to work.

use futures_util::stream::{self, BoxStream, StreamExt};
use provider_api::status::Readiness;
use provider_engine::cluster::port::Cluster;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::status_of;
use crate::Gateway;
use crate::port::Provider;

/// Names that can be asked about; the empty one is the provider as a whole.
const KNOWN: [&str; 3] = ["", "akash.provider.v1.ProviderRPC", "akash.provider.lease.v1.LeaseRPC"];

pub(super) struct Answers<P, C>(pub(super) Gateway<P, C>);

/// It serves while nothing is missing for its work: a fresh chain, a fresh cluster, an engine that
/// acts.
fn health(readiness: &Readiness) -> HealthCheckResponse {
    let status = if readiness.ready { ServingStatus::Serving } else { ServingStatus::NotServing };
    HealthCheckResponse { status: status.into() }
}

fn known(request: &Request<HealthCheckRequest>) -> Result<(), Status> {
    let name = request.get_ref().service.as_str();
    let unknown = || Status::not_found(format!("no service {name:?}"));
    KNOWN.contains(&name).then_some(()).ok_or_else(unknown)
}

#[tonic::async_trait]
impl<P: Provider, C: Cluster> Health for Answers<P, C> {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        known(&request)?;
        Ok(Response::new(health(&self.0.provider.readiness().borrow())))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        known(&request)?;
        let place = self.0.public_stream(request.extensions());
        let place = place.map_err(|busy| status_of(&busy.into()))?;
        let (changes, told) = (self.0.provider.readiness(), None::<i32>);
        let (stopping, end) = (self.0.stopping(), self.0.stream_end());
        let stream = stream::unfold((changes, told, stopping, end, place), async |state| {
            let (mut changes, told, mut stopping, end, place) = state;
            loop {
                let now = health(&changes.borrow_and_update());
                if Some(now.status) != told {
                    return Some((Ok(now), (changes, Some(now.status), stopping, end, place)));
                }
                tokio::select! {
                    changed = changes.changed() => changed.ok()?,
                    _ = stopping.wait_for(|stopping| *stopping) => return None,
                    () = tokio::time::sleep_until(end) => return None,
                }
            }
        });
        Ok(Response::new(stream.boxed()))
    }
}
