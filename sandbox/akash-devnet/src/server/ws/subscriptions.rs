//! What one client wants to hear of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::node::{Query, QueryParseError};
use crate::server::rpc::Id;

/// Most clients with subscriptions, most subscriptions of one, and the longest query.
const MAX_CLIENTS: usize = 100;
const MAX_PER_CLIENT: usize = 5;
const MAX_QUERY: usize = 512;

#[derive(Clone, Debug, Default)]
pub(crate) struct Clients(Arc<AtomicUsize>);

/// Why there is no subscription. The texts are CometBFT's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SubscribeError {
    #[error("max_subscription_clients {MAX_CLIENTS} reached")]
    Clients,
    #[error("max_subscriptions_per_client {MAX_PER_CLIENT} reached")]
    PerClient,
    #[error("maximum query length exceeded")]
    QueryLength,
    #[error("failed to parse query: {0}")]
    Query(#[from] QueryParseError),
    #[error("already subscribed")]
    Already,
    #[error("subscription not found")]
    NotFound,
}

/// One subscription: frames carry the query as it was written and the id of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subscription {
    pub(super) query: Query,
    pub(super) text: String,
    pub(super) id: Id,
}

#[derive(Debug)]
pub(super) struct Subscriptions {
    clients: Clients,
    list: Vec<Subscription>,
}

impl Subscriptions {
    pub(super) const fn new(clients: Clients) -> Self {
        Self { clients, list: Vec::new() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Subscription> {
        self.list.iter()
    }

    pub(super) fn add(&mut self, text: &str, id: Id) -> Result<(), SubscribeError> {
        if self.clients.0.load(Ordering::Acquire) >= MAX_CLIENTS {
            return Err(SubscribeError::Clients);
        }
        if self.list.len() >= MAX_PER_CLIENT {
            return Err(SubscribeError::PerClient);
        }
        if text.len() > MAX_QUERY {
            return Err(SubscribeError::QueryLength);
        }
        let query: Query = text.parse()?;
        if self.list.iter().any(|subscription| subscription.query == query) {
            return Err(SubscribeError::Already);
        }
        if self.list.is_empty() {
            self.clients.0.fetch_add(1, Ordering::AcqRel);
        }
        self.list.push(Subscription { query, text: text.to_owned(), id });
        Ok(())
    }

    pub(super) fn remove(&mut self, text: &str) -> Result<(), SubscribeError> {
        let query: Query = text.parse()?;
        let place = self.list.iter().position(|subscription| subscription.query == query);
        self.list.remove(place.ok_or(SubscribeError::NotFound)?);
        if self.list.is_empty() {
            self.clients.0.fetch_sub(1, Ordering::AcqRel);
        }
        Ok(())
    }

    /// Ends all subscriptions; those there were.
    pub(super) fn clear(&mut self) -> Result<Vec<Subscription>, SubscribeError> {
        if self.list.is_empty() {
            return Err(SubscribeError::NotFound);
        }
        self.clients.0.fetch_sub(1, Ordering::AcqRel);
        Ok(std::mem::take(&mut self.list))
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = Id::Number(1);

    #[test]
    fn a_query_is_subscribed_once_however_it_is_written() {
        let mut subscriptions = Subscriptions::new(Clients::default());
        subscriptions.add("tm.event='Tx'", ID).unwrap();
        assert_eq!(subscriptions.add("tm.event = 'Tx'", ID), Err(SubscribeError::Already));
        assert_eq!(subscriptions.remove("tm.event='NewBlock'"), Err(SubscribeError::NotFound));
        subscriptions.remove("tm.event  =  'Tx'").unwrap();
        assert_eq!(subscriptions.clear(), Err(SubscribeError::NotFound));
    }

    #[test]
    fn there_are_limits_per_client_and_of_clients() {
        let clients = Clients::default();
        let mut one = Subscriptions::new(clients.clone());
        for number in 0..MAX_PER_CLIENT {
            one.add(&format!("a.b={number}"), ID).unwrap();
        }
        assert_eq!(one.add("a.b=9", ID), Err(SubscribeError::PerClient));
        let mut others: Vec<_> =
            (1..MAX_CLIENTS).map(|_| Subscriptions::new(clients.clone())).collect();
        others.iter_mut().for_each(|other| other.add("a.b=1", ID).unwrap());
        let mut last = Subscriptions::new(clients);
        assert_eq!(last.add("a.b=1", ID), Err(SubscribeError::Clients));
        others.truncate(MAX_CLIENTS - 3);
        last.add("a.b=1", ID).unwrap();
        let long = "a.b='".to_owned() + &"x".repeat(MAX_QUERY);
        assert_eq!(last.add(&long, ID), Err(SubscribeError::QueryLength));
        assert!(matches!(last.add("", ID), Err(SubscribeError::Query(_))));
    }
}
