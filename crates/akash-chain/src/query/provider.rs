//! Registered providers.

use akash_proto::akash::provider::v1beta4 as wire;
use akash_types::{Address, Provider};

use super::ask::{part, whole};
use super::{Answer, List, Query, QueryError, Transport, method};

impl<T: Transport> Query<T> {
    /// One provider, by its account.
    pub async fn provider(&self, owner: Address) -> Result<Answer<Option<Provider>>, QueryError> {
        let request = wire::QueryProviderRequest { owner: owner.to_string() };
        let convert = |answer: wire::QueryProviderResponse| part("provider", answer.provider);
        self.find(|| format!("provider {owner}"), method::PROVIDER, &request, convert).await
    }

    /// Every provider.
    pub async fn providers(&self) -> Result<Answer<List<Provider>>, QueryError> {
        let listing = (
            |answer: wire::QueryProvidersResponse| (answer.providers, answer.pagination),
            |provider: &wire::Provider| format!("provider {}", provider.owner),
            |provider: wire::Provider| whole("provider", provider),
        );
        let request = |page| wire::QueryProvidersRequest { pagination: Some(page) };
        self.list(|| "providers".to_owned(), method::PROVIDERS, request, listing).await
    }
}
