//! What auditors signed of providers.

use akash_proto::akash::audit::v1 as wire;
use akash_types::{Address, AuditedProvider};

use super::ask::{Listing, or_empty, whole};
use super::{Answer, List, Query, QueryError, Transport, method};

impl<T: Transport> Query<T> {
    /// What anybody signed of provider `owner`.
    pub async fn audits_of(
        &self,
        owner: Address,
    ) -> Result<Answer<List<AuditedProvider>>, QueryError> {
        let request = |page| wire::QueryProviderAttributesRequest {
            owner: owner.to_string(),
            pagination: Some(page),
        };
        let asked = || format!("signed attributes of provider {owner}");
        or_empty(self.list(asked, method::AUDITS_OF_PROVIDER, request, listing()).await)
    }
}

fn listing() -> impl Listing<wire::QueryProvidersResponse, wire::AuditedProvider, AuditedProvider> {
    (
        |answer: wire::QueryProvidersResponse| (answer.providers, answer.pagination),
        |audited: &wire::AuditedProvider| {
            format!("attributes of {} signed by {}", audited.owner, audited.auditor)
        },
        |audited: wire::AuditedProvider| whole("audited provider", audited),
    )
}
