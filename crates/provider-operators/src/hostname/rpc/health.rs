//! The health service.

use futures_util::stream::{self, BoxStream, StreamExt};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::hostname::operator::HostnameOperator;
use crate::hostname::reconcile::{HostIndex, State};

/// The operator's work, as a name that can be asked about.
const WORK: &str = "hostname";

pub(super) struct Answers(pub(super) HostnameOperator);

/// How what has this name is; `None` if nothing has it.
fn status(name: &str, index: &HostIndex, leads: bool) -> Option<ServingStatus> {
    let of = |serves| if serves { ServingStatus::Serving } else { ServingStatus::NotServing };
    match name.strip_prefix(WORK) {
        _ if name.is_empty() => Some(ServingStatus::Serving),
        Some("") => Some(of(leads && index.is_known())),
        Some(rest) => index.state(rest.strip_prefix('/')?).map(|state| of(state == State::Routed)),
        None => None,
    }
}

impl Answers {
    fn status(&self, name: &str) -> Option<ServingStatus> {
        status(name, &self.0.index(), self.0.leads())
    }
}

fn answer(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl Health for Answers {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let name = request.into_inner().service;
        let unknown = || Status::not_found(format!("nobody wants {name:?}"));
        let status = self.status(&name).ok_or_else(unknown)?;
        Ok(Response::new(answer(status)))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let name = request.into_inner().service;
        let answers = Self(self.0.clone());
        let turns = self.0.turns();
        let stream = stream::unfold((turns, None), move |(mut turns, told)| {
            let (name, answers) = (name.clone(), Self(answers.0.clone()));
            async move {
                loop {
                    turns.mark_unchanged();
                    let now = answers.status(&name).unwrap_or(ServingStatus::ServiceUnknown);
                    if told != Some(now) {
                        return Some((Ok(answer(now)), (turns, Some(now))));
                    }
                    turns.changed().await.ok()?;
                }
            }
        });
        Ok(Response::new(stream.boxed()))
    }
}
