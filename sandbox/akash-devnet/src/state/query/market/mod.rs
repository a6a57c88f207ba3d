//! Orders, bids and leases.

mod listed;

pub(super) use listed::{decode_account, encode_account};

use akash_proto::akash::market::{v1, v1beta5 as wire};
use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};
use akash_types::{BidId, EscrowAccountId, LeaseId, OrderId};

use self::listed::{bid_range, order_range};
use super::list::{Listed, Request, list};
use super::{Answer, account, answer};
use crate::state::escrow::{ACCOUNT_NOT_FOUND, PAYMENT_NOT_FOUND};
use crate::state::keys::{BidKey, ByText, OrderKey};
use crate::state::market::{BID_NOT_FOUND, Bid, LEASE_NOT_FOUND, Lease, ORDER_NOT_FOUND, Order};
use crate::state::{State, address};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Orders" => answer(data, |request| orders(state, request)),
        "Order" => answer(data, |request| order(state, request)),
        "Bids" => answer(data, |request| bids(state, request)),
        "Bid" => answer(data, |request| bid(state, request)),
        "Leases" => answer(data, |request| leases(state, request)),
        "Lease" => answer(data, |request| lease(state, request)),
        "Params" => answer(data, |request| params(state, request)),
        _ => return None,
    })
}

/// A filter by account: absent, an account, or one that cannot exist.
pub(super) fn filter(text: &str) -> Option<Option<ByText>> {
    (!text.is_empty()).then(|| address::account(text).ok().map(ByText::from))
}

fn met<N: PartialEq + Default>(filter: N, value: N) -> bool {
    filter == N::default() || filter == value
}

fn met_by(filter: Option<Option<ByText>>, account: ByText) -> bool {
    filter.is_none_or(|wanted| wanted == Some(account))
}

fn orders(state: &State, request: wire::QueryOrdersRequest) -> Answer<wire::QueryOrdersResponse> {
    let filters = request.filters.unwrap_or_default();
    let owner = filter(&filters.owner);
    let asked = Request {
        state: &filters.state,
        owner,
        provider: None,
        range: owner
            .flatten()
            .and_then(|owner| order_range(owner, filters.dseq, filters.gseq, filters.oseq)),
        page: request.pagination,
    };
    let (found, page) = list::<Order>(&state.tables, asked, |order| {
        let key = OrderKey::from(order.id);
        met_by(owner, key.owner)
            && met(filters.dseq, key.dseq)
            && met(filters.gseq, key.gseq)
            && met(filters.oseq, key.oseq)
    })?;
    Ok(wire::QueryOrdersResponse {
        orders: found.into_iter().map(Order::to_wire).collect(),
        pagination: Some(page),
    })
}

/// The rows of a table that is kept by the ids of bids.
fn list_by_bid<'a, R: Listed<Key = BidKey>>(
    state: &'a State,
    filters: &wire::BidFilters,
    page: Option<PageRequest>,
    id: fn(&R) -> BidId,
) -> Answer<(Vec<&'a R>, PageResponse)> {
    let (owner, provider) = (filter(&filters.owner), filter(&filters.provider));
    let asked = Request {
        state: &filters.state,
        owner,
        provider,
        range: owner
            .flatten()
            .and_then(|owner| bid_range(owner, filters.dseq, filters.gseq, filters.oseq)),
        page,
    };
    list::<R>(&state.tables, asked, |row| {
        let id = id(row);
        let BidKey { order, provider: by } = BidKey::from(id);
        met_by(owner, order.owner)
            && met_by(provider, by)
            && met(filters.dseq, order.dseq)
            && met(filters.gseq, order.gseq)
            && met(filters.oseq, order.oseq)
            && met(filters.bseq, id.bseq())
    })
}

fn bids(state: &State, request: wire::QueryBidsRequest) -> Answer<wire::QueryBidsResponse> {
    let filters = request.filters.unwrap_or_default();
    let (found, page) = list_by_bid(state, &filters, request.pagination, |bid: &Bid| bid.id)?;
    let bids = found.into_iter().map(|bid| bid_answer(state, bid)).collect::<Answer<_>>()?;
    Ok(wire::QueryBidsResponse { bids, pagination: Some(page) })
}

fn leases(state: &State, request: wire::QueryLeasesRequest) -> Answer<wire::QueryLeasesResponse> {
    let v1::LeaseFilters { owner, provider, state: of, dseq, gseq, oseq, bseq } =
        request.filters.unwrap_or_default();
    let filters = wire::BidFilters { owner, provider, state: of, dseq, gseq, oseq, bseq };
    let id = |lease: &Lease| lease.id.bid_id();
    let (found, page) = list_by_bid(state, &filters, request.pagination, id)?;
    let leases =
        found.into_iter().map(|lease| lease_answer(state, lease)).collect::<Answer<_>>()?;
    Ok(wire::QueryLeasesResponse { leases, pagination: Some(page) })
}

fn order(state: &State, request: wire::QueryOrderRequest) -> Answer<wire::QueryOrderResponse> {
    let id = request.id.unwrap_or_default();
    account(&id.owner, "invalid owner address")?;
    let key = OrderId::try_from(id).ok().map(OrderKey::from);
    let order = key.and_then(|key| state.tables.orders.get(&key)).ok_or(ORDER_NOT_FOUND)?;
    Ok(wire::QueryOrderResponse { order: Some(order.to_wire()) })
}

fn bid(state: &State, request: wire::QueryBidRequest) -> Answer<wire::QueryBidResponse> {
    let id = request.id.unwrap_or_default();
    account(&id.owner, "invalid owner address")?;
    account(&id.provider, "invalid provider address")?;
    let key = Some(id).filter(|id| id.bseq == 0).and_then(|id| BidId::try_from(id).ok());
    let bid = key.and_then(|id| state.tables.bids.get(&BidKey::from(id))).ok_or(BID_NOT_FOUND)?;
    bid_answer(state, bid)
}

fn lease(state: &State, request: wire::QueryLeaseRequest) -> Answer<wire::QueryLeaseResponse> {
    let id = request.id.unwrap_or_default();
    account(&id.owner, "invalid owner address")?;
    account(&id.provider, "invalid provider address")?;
    let key = Some(id).filter(|id| id.bseq == 0).and_then(|id| LeaseId::try_from(id).ok());
    let lease = key.and_then(|id| state.tables.leases.get(&BidKey::from(id)));
    lease_answer(state, lease.ok_or(LEASE_NOT_FOUND)?)
}

fn bid_answer(state: &State, bid: &Bid) -> Answer<wire::QueryBidResponse> {
    let account = state.tables.escrow_account(EscrowAccountId::Bid(bid.id));
    let account = account.ok_or(ACCOUNT_NOT_FOUND)?.clone().into();
    Ok(wire::QueryBidResponse { bid: Some(bid.to_wire()), escrow_account: Some(account) })
}

fn lease_answer(state: &State, lease: &Lease) -> Answer<wire::QueryLeaseResponse> {
    let payment = state.tables.escrow_payment(lease.id.into()).ok_or(PAYMENT_NOT_FOUND)?;
    let lease: v1::Lease = lease.clone().into();
    Ok(wire::QueryLeaseResponse {
        lease: Some(lease),
        escrow_payment: Some(payment.clone().into()),
    })
}

fn params(state: &State, _: wire::QueryParamsRequest) -> Answer<wire::QueryParamsResponse> {
    Ok(wire::QueryParamsResponse { params: Some(state.params().market.clone().into()) })
}
