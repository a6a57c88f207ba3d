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
        let asked = |destination| Ok::<_, Failure>(Request::MigrateHostnames { destination });
        let owner = self.authorizer.authorize(parts, asked(None)).await?.owner()?;
        let MigrateHostnames { hostnames_to_migrate, destination_dseq, destination_gseq } =
            self.read_json(owner, parts, body).await?;
        let destination = Some((destination_dseq, destination_gseq));
        self.authorizer.decide(&parts.extensions, asked(destination))?;
        self.migrate(TenantRequest::MigrateHostnames {
            hostnames: hostnames_to_migrate,
            owner,
            dseq: destination_dseq,
            gseq: destination_gseq,
        })
        .await
    }

    pub(super) async fn migrate_endpoints<B: Readable>(
        &self,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let asked = |destination| Ok::<_, Failure>(Request::MigrateEndpoints { destination });
        let owner = self.authorizer.authorize(parts, asked(None)).await?.owner()?;
        let MigrateEndpoints { endpoints_to_migrate, destination_dseq, destination_gseq } =
            self.read_json(owner, parts, body).await?;
        let destination = Some((destination_dseq, destination_gseq));
        self.authorizer.decide(&parts.extensions, asked(destination))?;
        self.migrate(TenantRequest::MigrateEndpoints {
            endpoints: endpoints_to_migrate,
            owner,
            dseq: destination_dseq,
            gseq: destination_gseq,
        })
        .await
    }

    async fn read_json<B: Readable, T: DeserializeOwned + Send + 'static>(
        &self,
        owner: Address,
        parts: &Parts,
        body: B,
    ) -> Result<T, Failure> {
        let body = (body, Kind::Json, self.settings.largest_body);
        let read = |body: &[u8]| {
            let mut values = serde_json::Deserializer::from_slice(body).into_iter::<T>();
            match values.next() {
                Some(Ok(value)) => Ok(value),
                Some(Err(error)) => Err(unreadable(error.to_string())),
                None => Err(unreadable("the body is empty".to_owned())),
            }
        };
        let (value, _held) = self.read_body(Some(owner), parts, body, read).await?;
        Ok(value)
    }

    async fn migrate(&self, request: TenantRequest) -> Result<Answer, Failure> {
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
