//! How the provider is, and whether it would bid.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_grpc::akash::provider::v1::provider_rpc_server::ProviderRpc;
use akash_proto::akash::provider::v1::{BidScreeningRequest, BidScreeningResponse, Status};
use futures_util::stream::{self, BoxStream, StreamExt};
use provider_api::screening::ScreeningRequest;
use provider_engine::cluster::port::Cluster;
use provider_engine::engine::Published;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::{Request, Response};

use super::{status_message, status_of};
use crate::Gateway;
use crate::places::Place;
use crate::port::{Provider, Screening};
use crate::rest::Failure;

/// Shortest time between two messages of a stream: what changes faster is told together.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest time between two: who listens knows that somebody is there.
const SILENCE: Duration = Duration::from_secs(30);

pub(super) struct Answers<P, C>(pub(super) Gateway<P, C>);

impl<P: Provider, C: Cluster> Answers<P, C> {
    fn status(&self, published: &Published) -> Status {
        status_message(published, &self.0.provider.identity(), SystemTime::now())
    }

    async fn screening(
        &self,
        request: BidScreeningRequest,
    ) -> Result<Response<BidScreeningResponse>, tonic::Status> {
        let spec = request.group_spec;
        let spec = spec.ok_or_else(|| tonic::Status::invalid_argument("group_spec is missing"))?;
        let group = spec.try_into();
        let group = group.map_err(|error: akash_types::ConvertError| {
            tonic::Status::invalid_argument(error.to_string())
        })?;
        let request = ScreeningRequest { group, hostnames: request.hostnames };
        let screening = self.0.provider.screen(request).await;
        Ok(Response::new(match screening.map_err(|busy| status_of(&busy.into()))? {
            Screening::Passed { offers, price } => BidScreeningResponse {
                passed: true,
                reasons: Vec::new(),
                resource_offers: offers.into_iter().map(Into::into).collect(),
                price: Some(price.into()),
            },
            Screening::Declined(reasons) => {
                BidScreeningResponse { passed: false, reasons, ..BidScreeningResponse::default() }
            }
            Screening::NotReady(why) => return Err(status_of(&Failure::not_ready(why))),
        }))
    }
}

/// What a stream of statuses goes on with.
struct Follow<P, C> {
    answers: Answers<P, C>,
    changes: watch::Receiver<Arc<Published>>,
    stopping: watch::Receiver<bool>,
    begun: bool,
    end: Instant,
    _place: Place<IpAddr>,
}

impl<P: Provider, C: Cluster> Follow<P, C> {
    async fn next(mut self) -> Option<(Result<Status, tonic::Status>, Self)> {
        if self.begun {
            let wait = async {
                tokio::time::sleep(PAUSE).await;
                match tokio::time::timeout(SILENCE, self.changes.changed()).await {
                    Ok(changed) => changed.is_ok(),
                    Err(_) => true,
                }
            };
            tokio::select! {
                goes_on = wait => if !goes_on { return None },
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                () = tokio::time::sleep_until(self.end) => return None,
            }
        }
        self.begun = true;
        let published = self.changes.borrow_and_update().clone();
        Some((Ok(self.answers.status(&published)), self))
    }
}

#[tonic::async_trait]
impl<P: Provider, C: Cluster> ProviderRpc for Answers<P, C> {
    type StreamStatusStream = BoxStream<'static, Result<Status, tonic::Status>>;

    async fn get_status(&self, _: Request<()>) -> Result<Response<Status>, tonic::Status> {
        let published = self.0.provider.published();
        if published.inventory.is_none() {
            return Err(tonic::Status::unknown("inventory status not available yet"));
        }
        Ok(Response::new(self.status(&published)))
    }

    async fn stream_status(
        &self,
        request: Request<()>,
    ) -> Result<Response<Self::StreamStatusStream>, tonic::Status> {
        let place = self.0.public_stream(request.extensions());
        let follow = Follow {
            _place: place.map_err(|busy| status_of(&busy.into()))?,
            end: self.0.stream_end(),
            answers: Self(self.0.clone()),
            changes: self.0.provider.changes(),
            stopping: self.0.stopping(),
            begun: false,
        };
        Ok(Response::new(stream::unfold(follow, Follow::next).boxed()))
    }

    async fn bid_screening(
        &self,
        request: Request<BidScreeningRequest>,
    ) -> Result<Response<BidScreeningResponse>, tonic::Status> {
        self.screening(request.into_inner()).await
    }

    async fn validate_group_spec(
        &self,
        request: Request<BidScreeningRequest>,
    ) -> Result<Response<BidScreeningResponse>, tonic::Status> {
        self.screening(request.into_inner()).await
    }
}
