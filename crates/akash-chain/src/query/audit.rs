//! What auditors signed of providers.

use akash_proto::akash::audit::v1 as wire;
use akash_types::{Address, AuditedProvider};

use super::ask::{Listing, or_empty, whole};
use super::{Answer, Failure, List, Malformed, NoAnswer, Query, QueryError, Transport, method};

/// What the node says of a provider of which an auditor signed nothing.
const NOTHING_SIGNED: &str = "invalid provider: address not found";

impl<T: Transport> Query<T> {
    /// What `auditor` signed of provider `owner`; `None` if nothing.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn audit(
        &self,
        owner: Address,
        auditor: Address,
    ) -> Result<Answer<Option<AuditedProvider>>, QueryError> {
        let request = wire::QueryProviderAuditorRequest {
            auditor: auditor.to_string(),
            owner: owner.to_string(),
        };
        let asked = || format!("attributes of provider {owner} signed by {auditor}");
        let answer = match self.ask(method::AUDIT, &request).await {
            Err(NoAnswer { failure, height }) if is_nothing(&failure) => {
                return Ok(Answer { value: None, height });
            }
            answer => answer.map_err(|none| QueryError::new(asked(), none))?,
        };
        let Answer { value: wire::QueryProvidersResponse { providers, .. }, height } = answer;
        let of_both = |audited: &AuditedProvider| {
            audited.owner == owner && audited.audited.auditor == auditor.to_string()
        };
        let providers: Result<Vec<AuditedProvider>, Malformed> =
            providers.into_iter().map(|audited| whole("audited provider", audited)).collect();
        let value = providers
            .map(|providers| providers.into_iter().find(of_both))
            .map_err(|malformed| QueryError::new(asked(), malformed))?;
        Ok(Answer { value, height })
    }

    /// What anybody signed of provider `owner`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
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

    /// What `auditor` signed of anybody.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn audits_by(
        &self,
        auditor: Address,
    ) -> Result<Answer<List<AuditedProvider>>, QueryError> {
        let request = |page| wire::QueryAuditorAttributesRequest {
            auditor: auditor.to_string(),
            pagination: Some(page),
        };
        let asked = || format!("attributes signed by {auditor}");
        or_empty(self.list(asked, method::AUDITS_BY_AUDITOR, request, listing()).await)
    }

    /// What anybody signed of anybody.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn audits(&self) -> Result<Answer<List<AuditedProvider>>, QueryError> {
        let request = |page| wire::QueryAllProvidersAttributesRequest { pagination: Some(page) };
        let asked = || "signed attributes".to_owned();
        or_empty(self.list(asked, method::ALL_AUDITS, request, listing()).await)
    }
}

/// Whether the node says that nothing was signed. Not every version of it uses the status for it.
fn is_nothing(failure: &Failure) -> bool {
    match failure {
        Failure::NotFound { .. } => true,
        Failure::Rejected { text, .. } | Failure::InvalidArgument { text } => {
            text.contains(NOTHING_SIGNED)
        }
        _ => false,
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
