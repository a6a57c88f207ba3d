//! Orders, bids, leases and the parameters of the market.

use akash_proto::akash::market::{v1 as ids, v1beta5 as wire};
use akash_proto::akash::verification::v1 as verification;
use akash_types::{
    Address, Bid, BidId, BidState, EscrowAccount, EscrowPayment, Lease, LeaseId, LeaseState,
    MarketParams, Order, OrderId, OrderState,
};

use super::ask::{part, part_or_none, whole};
use super::{Answer, List, Malformed, Query, QueryError, Transport, method};

/// Which orders to list; what is absent does not filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Of this tenant.
    pub owner: Option<Address>,
    /// With this deployment number.
    pub dseq: Option<u64>,
    /// In this state.
    pub state: Option<OrderState>,
}

/// Which bids to list; what is absent does not filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BidFilter {
    /// On orders of this tenant.
    pub owner: Option<Address>,
    /// With this deployment number.
    pub dseq: Option<u64>,
    /// By this provider.
    pub provider: Option<Address>,
    /// In this state.
    pub state: Option<BidState>,
}

/// Which leases to list; what is absent does not filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseFilter {
    /// Of this tenant.
    pub owner: Option<Address>,
    /// With this deployment number.
    pub dseq: Option<u64>,
    /// With this provider.
    pub provider: Option<Address>,
    /// In this state. Active does not include reclaiming.
    pub state: Option<LeaseState>,
}

/// A bid with the account that holds its deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidInfo {
    /// The bid.
    pub bid: Bid,
    /// Its deposit.
    pub account: Option<EscrowAccount>,
}

/// A lease with what is paid for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// The lease.
    pub lease: Lease,
    /// Its payment.
    pub payment: Option<EscrowPayment>,
}

impl<T: Transport> Query<T> {
    /// One order.
    pub async fn order(&self, id: OrderId) -> Result<Answer<Option<Order>>, QueryError> {
        let request = wire::QueryOrderRequest { id: Some(id.into()) };
        let convert = |answer: wire::QueryOrderResponse| part("order", answer.order);
        self.find(|| format!("order {id}"), method::ORDER, &request, convert).await
    }

    /// Orders that match `filter`, by owner and number within each state.
    pub async fn orders(&self, filter: OrderFilter) -> Result<Answer<List<Order>>, QueryError> {
        let filters = wire::OrderFilters {
            owner: text(filter.owner),
            dseq: filter.dseq.unwrap_or_default(),
            state: filter.state.map(OrderState::as_str).unwrap_or_default().to_owned(),
            ..wire::OrderFilters::default()
        };
        let request = |page| wire::QueryOrdersRequest {
            filters: Some(filters.clone()),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryOrdersResponse| (answer.orders, answer.pagination),
            |order: &wire::Order| {
                let id = order.id.clone().unwrap_or_default();
                format!("order {}/{}/{}/{}", id.owner, id.dseq, id.gseq, id.oseq)
            },
            |order: wire::Order| whole("order", order),
        );
        self.list(|| format!("orders by {filter:?}"), method::ORDERS, request, listing).await
    }

    /// Every order that takes bids.
    pub async fn open_orders(&self) -> Result<Answer<List<Order>>, QueryError> {
        self.orders(OrderFilter { state: Some(OrderState::Open), ..OrderFilter::default() }).await
    }

    /// One bid.
    pub async fn bid(&self, id: BidId) -> Result<Answer<Option<BidInfo>>, QueryError> {
        let request = wire::QueryBidRequest { id: Some(id.into()) };
        self.find(|| format!("bid {id}"), method::BID, &request, bid_info).await
    }

    /// Bids that match `filter`.
    pub async fn bids(&self, filter: BidFilter) -> Result<Answer<List<BidInfo>>, QueryError> {
        let filters = wire::BidFilters {
            owner: text(filter.owner),
            dseq: filter.dseq.unwrap_or_default(),
            provider: text(filter.provider),
            state: filter.state.map(BidState::as_str).unwrap_or_default().to_owned(),
            ..wire::BidFilters::default()
        };
        let request = |page| wire::QueryBidsRequest {
            filters: Some(filters.clone()),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryBidsResponse| (answer.bids, answer.pagination),
            |item: &wire::QueryBidResponse| {
                let id = item.bid.clone().unwrap_or_default().id.unwrap_or_default();
                format!("bid {}/{}/{}/{}/{}", id.owner, id.dseq, id.gseq, id.oseq, id.provider)
            },
            bid_info,
        );
        self.list(|| format!("bids by {filter:?}"), method::BIDS, request, listing).await
    }

    /// Every bid of a provider, in one state or in all.
    pub async fn bids_of(
        &self,
        provider: Address,
        state: Option<BidState>,
    ) -> Result<Answer<List<BidInfo>>, QueryError> {
        self.bids(BidFilter { provider: Some(provider), state, ..BidFilter::default() }).await
    }

    /// One lease.
    pub async fn lease(&self, id: LeaseId) -> Result<Answer<Option<LeaseInfo>>, QueryError> {
        let request = wire::QueryLeaseRequest { id: Some(id.into()) };
        self.find(|| format!("lease {id}"), method::LEASE, &request, lease_info).await
    }

    /// Leases that match `filter`.
    pub async fn leases(&self, filter: LeaseFilter) -> Result<Answer<List<LeaseInfo>>, QueryError> {
        let filters = ids::LeaseFilters {
            owner: text(filter.owner),
            dseq: filter.dseq.unwrap_or_default(),
            provider: text(filter.provider),
            state: filter.state.map(LeaseState::as_str).unwrap_or_default().to_owned(),
            ..ids::LeaseFilters::default()
        };
        let request = |page| wire::QueryLeasesRequest {
            filters: Some(filters.clone()),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryLeasesResponse| (answer.leases, answer.pagination),
            |item: &wire::QueryLeaseResponse| {
                let id = item.lease.clone().unwrap_or_default().id.unwrap_or_default();
                format!("lease {}/{}/{}/{}/{}", id.owner, id.dseq, id.gseq, id.oseq, id.provider)
            },
            lease_info,
        );
        self.list(|| format!("leases by {filter:?}"), method::LEASES, request, listing).await
    }

    /// Parameters of the market.
    pub async fn market_params(&self) -> Result<Answer<MarketParams>, QueryError> {
        let request = wire::QueryParamsRequest {};
        let convert = |answer: wire::QueryParamsResponse| part("params", answer.params);
        self.get(|| "market parameters".to_owned(), method::MARKET_PARAMS, &request, convert).await
    }

    /// Whether the chain compares bidders with the verification that an order asks for. Most chains
    /// have no such module: a node that cannot say counts as no.
    pub async fn verification_is_active(&self) -> Result<bool, QueryError> {
        let request = verification::QueryParamsRequest {};
        let convert = |answer: verification::QueryParamsResponse| {
            Ok(answer.params.unwrap_or_default().verification_module_active)
        };
        let asked = || "verification parameters".to_owned();
        match self.get(asked, method::VERIFICATION_PARAMS, &request, convert).await {
            Ok(answer) => Ok(answer.value),
            Err(error) if error.is_transient() => Err(error),
            Err(_) => Ok(false),
        }
    }
}

/// How a filter writes an account.
pub(super) fn text(address: Option<Address>) -> String {
    address.map(|address| address.to_string()).unwrap_or_default()
}

fn bid_info(answer: wire::QueryBidResponse) -> Result<BidInfo, Malformed> {
    Ok(BidInfo {
        bid: part("bid", answer.bid)?,
        account: part_or_none("escrow account", answer.escrow_account)?,
    })
}

fn lease_info(answer: wire::QueryLeaseResponse) -> Result<LeaseInfo, Malformed> {
    Ok(LeaseInfo {
        lease: part("lease", answer.lease)?,
        payment: part_or_none("escrow payment", answer.escrow_payment)?,
    })
}
