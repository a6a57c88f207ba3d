//! One question over the wire, and lists of many pages.

use std::collections::HashSet;

use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};
use akash_types::ConvertError;
use prost::{Message, Name};

use super::method::Method;
use super::{
    Answer, Failure, List, Malformed, NoAnswer, QueryError, Transport, Unavailable, Unreadable,
};

/// How many things are asked for at once. A node takes what it is given; Go asks for 1000 orders.
pub const PAGE_SIZE: u64 = 1000;

/// Most pages that are read of one list: ten million things, which no chain of this kind holds.
pub const MAX_PAGES: usize = 10_000;

/// Asks the chain's state.
#[derive(Clone, Debug)]
pub struct Query<T> {
    transport: T,
    page_size: u64,
}

impl<T> Query<T> {
    /// Asks over `transport`.
    pub const fn new(transport: T) -> Self {
        Self { transport, page_size: PAGE_SIZE }
    }

    /// Asks for this many things at once instead of [`PAGE_SIZE`]; at least one.
    pub fn with_page_size(self, page_size: u64) -> Self {
        Self { page_size: page_size.max(1), ..self }
    }

    /// How questions travel.
    pub const fn transport(&self) -> &T {
        &self.transport
    }
}

impl<T: Transport> Query<T> {
    /// Asks for something that is always there.
    pub(crate) async fn ask<Q: Message, A: Name + Default>(
        &self,
        method: Method<Q, A>,
        request: &Q,
    ) -> Result<Answer<A>, NoAnswer> {
        let reply = self.transport.unary(method.path, request.encode_to_vec()).await?;
        let value = A::decode(reply.bytes)
            .map_err(|source| Malformed::Protobuf { message: A::full_name(), source })?;
        Ok(Answer { value, height: reply.height })
    }

    /// Asks for something that may not be there.
    pub(super) async fn find<Q: Message, A: Name + Default, V>(
        &self,
        asked: impl FnOnce() -> String,
        method: Method<Q, A>,
        request: &Q,
        convert: impl FnOnce(A) -> Result<V, Malformed>,
    ) -> Result<Answer<Option<V>>, QueryError> {
        let answer = match self.ask(method, request).await {
            Ok(Answer { value, height }) => convert(value)
                .map(|value| Answer { value: Some(value), height })
                .map_err(Failure::from),
            Err(NoAnswer { failure: Failure::NotFound { .. }, height }) => {
                Ok(Answer { value: None, height })
            }
            Err(none) => Err(none.failure),
        };
        answer.map_err(|failure| QueryError::new(asked(), failure))
    }

    /// Asks for something that every chain has.
    pub(super) async fn get<Q: Message, A: Name + Default, V>(
        &self,
        asked: impl FnOnce() -> String,
        method: Method<Q, A>,
        request: &Q,
        convert: impl FnOnce(A) -> Result<V, Malformed>,
    ) -> Result<Answer<V>, QueryError> {
        let answer = self
            .ask(method, request)
            .await
            .map_err(Failure::from)
            .and_then(|Answer { value, height }| Ok(Answer { value: convert(value)?, height }));
        answer.map_err(|failure| QueryError::new(asked(), failure))
    }

    /// Reads a list to its end.
    pub(super) async fn list<Q: Message, A: Name + Default, P, V>(
        &self,
        asked: impl FnOnce() -> String,
        method: Method<Q, A>,
        request: impl Fn(PageRequest) -> Q,
        listing: impl Listing<A, P, V>,
    ) -> Result<Answer<List<V>>, QueryError> {
        let list = self.pages(method, request, listing).await;
        list.map_err(|failure| QueryError::new(asked(), failure))
    }

    async fn pages<Q: Message, A: Name + Default, P, V>(
        &self,
        Method { path, .. }: Method<Q, A>,
        request: impl Fn(PageRequest) -> Q,
        listing: impl Listing<A, P, V>,
    ) -> Result<Answer<List<V>>, Failure> {
        let mut list = Answer { value: List::new(), height: None };
        let mut seen = HashSet::new();
        let mut key = Vec::new();
        for page in 1..=MAX_PAGES {
            let request = request(PageRequest {
                key: key.clone(),
                limit: self.page_size,
                ..PageRequest::default()
            });
            let reply = match self.transport.unary(path, request.encode_to_vec()).await {
                // Half of a list was there: something is wrong with the node, not with the list.
                Err(NoAnswer { failure: Failure::NotFound { text }, .. }) if page > 1 => {
                    return Err(Unavailable::Node { text }.into());
                }
                reply => reply?,
            };
            let message = A::decode(reply.bytes)
                .map_err(|source| Malformed::Protobuf { message: A::full_name(), source })?;
            list.height = match (list.height, reply.height) {
                (Some(before), Some(now)) => Some(before.min(now)),
                (before, now) => before.or(now),
            };
            let (items, pagination) = listing.split(message);
            for item in items {
                let name = listing.name(&item);
                match listing.convert(item) {
                    Ok(value) => list.value.items.push(value),
                    Err(source) => list.value.unreadable.push(Unreadable { item: name, source }),
                }
            }
            // The total is not what its name says on this chain; only an empty key is the end.
            key = pagination.unwrap_or_default().next_key;
            if key.is_empty() {
                return Ok(list);
            }
            if !seen.insert(key.clone()) {
                return Err(Malformed::EndlessPages { page }.into());
            }
        }
        Err(Malformed::TooManyPages { limit: MAX_PAGES }.into())
    }
}

/// The list of a module that says "not found" where it means "none".
///
/// Not for orders, bids and leases: of those a node lists none by listing none, and anything else
/// it says must not read as their absence.
pub(super) fn or_empty<V>(
    list: Result<Answer<List<V>>, QueryError>,
) -> Result<Answer<List<V>>, QueryError> {
    match list {
        Err(error) if matches!(error.failure(), Failure::NotFound { .. }) => {
            Ok(Answer { value: List::new(), height: None })
        }
        list => list,
    }
}

/// How the answer to a list is taken apart.
pub(super) trait Listing<A, P, V> {
    /// The things on a page, and where the next page starts.
    fn split(&self, answer: A) -> (Vec<P>, Option<PageResponse>);
    /// What to call a thing that cannot be read.
    fn name(&self, item: &P) -> String;
    fn convert(&self, item: P) -> Result<V, Malformed>;
}

/// A [`Listing`] from three functions.
impl<A, P, V, S, N, C> Listing<A, P, V> for (S, N, C)
where
    S: Fn(A) -> (Vec<P>, Option<PageResponse>),
    N: Fn(&P) -> String,
    C: Fn(P) -> Result<V, Malformed>,
{
    fn split(&self, answer: A) -> (Vec<P>, Option<PageResponse>) {
        self.0(answer)
    }

    fn name(&self, item: &P) -> String {
        self.1(item)
    }

    fn convert(&self, item: P) -> Result<V, Malformed> {
        self.2(item)
    }
}

/// A part of an answer that must be there and make sense.
pub(super) fn part<P, V: TryFrom<P>>(name: &'static str, part: Option<P>) -> Result<V, Malformed>
where
    V::Error: Into<ConvertError>,
{
    whole(name, part.ok_or(Malformed::Missing { part: name })?)
}

/// A part of an answer that may be absent; Go writes an absent one as an empty message.
pub(super) fn part_or_none<P: Default + PartialEq, V: TryFrom<P>>(
    name: &'static str,
    part: Option<P>,
) -> Result<Option<V>, Malformed>
where
    V::Error: Into<ConvertError>,
{
    part.filter(|part| *part != P::default()).map(|part| whole(name, part)).transpose()
}

/// A value that must make sense.
pub(super) fn whole<P, V: TryFrom<P>>(name: &'static str, value: P) -> Result<V, Malformed>
where
    V::Error: Into<ConvertError>,
{
    value.try_into().map_err(|source: V::Error| Malformed::part(name, source))
}
