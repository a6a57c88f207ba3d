//! Moving names from one lease to another.

use akash_types::Address;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use provider_api::error::ErrorCode;
use provider_api::migrate::{MigrateEndpoints, MigrateHostnames, Transferred};
use provider_engine::cluster::command::CommandFailure;
use provider_engine::cluster::port::Cluster;
use provider_engine::manifest::{MigrationAnswer, MigrationRefusal};
use provider_engine::{Reply, TenantRequest};
use serde::de::DeserializeOwned;

use super::Readable;
use super::body::Kind;
use super::failure::{Answer, Failure, encode, of_type};
use crate::Gateway;
use crate::auth::Request;
use crate::port::Provider;

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(super) async fn migrate_hostnames<B: Readable>(
        &self,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let ask = |destination| Request::MigrateHostnames { destination };
        self.migrate(parts, body, ask, |owner, sent: MigrateHostnames| {
            let (dseq, gseq) = (sent.destination_dseq, sent.destination_gseq);
            let hostnames = sent.hostnames_to_migrate;
            ((dseq, gseq), TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq })
        })
        .await
    }

    pub(super) async fn migrate_endpoints<B: Readable>(
        &self,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let ask = |destination| Request::MigrateEndpoints { destination };
        self.migrate(parts, body, ask, |owner, sent: MigrateEndpoints| {
            let (dseq, gseq) = (sent.destination_dseq, sent.destination_gseq);
            let endpoints = sent.endpoints_to_migrate;
            ((dseq, gseq), TenantRequest::MigrateEndpoints { endpoints, owner, dseq, gseq })
        })
        .await
    }

    /// Asks once before the body is read, and once for the destination that it names.
    async fn migrate<B: Readable, T: DeserializeOwned + Send + 'static>(
        &self,
        parts: &mut Parts,
        body: B,
        ask: fn(Option<(u64, u32)>) -> Request<'static>,
        request: fn(Address, T) -> ((u64, u32), TenantRequest),
    ) -> Result<Answer, Failure> {
        let owner = self.authorizer.authorize::<Failure>(parts, Ok(ask(None))).await?.owner()?;
        let body = (body, Kind::Json, self.settings.largest_body);
        let (sent, _) = self.read_body(Some(owner), parts, body, read_json).await?;
        let (destination, request) = request(owner, sent);
        self.authorizer.decide::<Failure>(&parts.extensions, Ok(ask(Some(destination))))?;
        match self.provider.tenant(request).await? {
            Reply::Migration(MigrationAnswer::Transferred(transferred)) => {
                let body: Bytes = encode(&Transferred { transferred })?;
                Ok(of_type(HeaderValue::from_static("application/json"), body))
            }
            Reply::Migration(MigrationAnswer::Refused(refusal)) => Err(failure(&refusal)),
            _ => Err(super::manifest::wrong_reply()),
        }
    }
}

fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    match serde_json::Deserializer::from_slice(body).into_iter::<T>().next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(unreadable(error.to_string())),
        None => Err(unreadable("the body is empty".to_owned())),
    }
}

fn unreadable(why: String) -> Failure {
    Failure::empty(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::BadBody, why)
}

fn failure(refusal: &MigrationRefusal) -> Failure {
    let status =
        StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = match refusal {
        MigrationRefusal::NothingNamed => {
            let text = "nothing is named that could be moved";
            return Failure::empty(status, ErrorCode::NothingToMigrate, text);
        }
        MigrationRefusal::NoDestination => ErrorCode::DestinationNotFound,
        MigrationRefusal::HostnameNotUsed(_) | MigrationRefusal::EndpointNotUsed(_) => {
            ErrorCode::NameNotUsed
        }
        MigrationRefusal::EndpointsCannotMove => ErrorCode::EndpointsCannotMove,
        MigrationRefusal::HostnameInUse(_) => ErrorCode::HostnameInUse,
        MigrationRefusal::Cluster(CommandFailure::Unavailable(_)) => ErrorCode::ClusterUnavailable,
        MigrationRefusal::Cluster(CommandFailure::Refused(_)) => ErrorCode::ClusterRefused,
        MigrationRefusal::Failed { .. } => ErrorCode::MigrationFailed,
    };
    Failure::plain(status, code, refusal.to_string())
}
