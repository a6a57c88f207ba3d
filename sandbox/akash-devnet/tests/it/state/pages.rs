//! Lists: filters, pages, both directions.

use akash_proto::akash::deployment::v1beta4::{
    DeploymentFilters, QueryDeploymentsRequest, QueryDeploymentsResponse,
};
use akash_proto::akash::escrow::v1::{
    QueryAccountsRequest, QueryAccountsResponse, QueryPaymentsRequest, QueryPaymentsResponse,
};
use akash_proto::akash::market::v1::LeaseFilters;
use akash_proto::akash::market::v1beta5::{
    BidFilters, OrderFilters, QueryBidsRequest, QueryBidsResponse, QueryLeasesRequest,
    QueryLeasesResponse, QueryOrdersRequest, QueryOrdersResponse,
};
use akash_proto::akash::provider::v1beta4::{QueryProvidersRequest, QueryProvidersResponse};
use akash_proto::cosmos::base::query::v1beta1::PageRequest;
use prost::Message;

use crate::state::support::{
    Chain, Wallet, close_deployment, create_bid, create_deployment, create_lease, create_provider,
};

const ORDERS: &str = "/akash.market.v1beta5.Query/Orders";

/// Three tenants with four deployments each; those with even numbers are leased, the first is
/// closed.
fn busy() -> (Chain, Vec<Wallet>, Wallet) {
    let tenants: Vec<Wallet> = (0..3).map(Wallet::numbered).collect();
    let provider = Wallet::numbered(10);
    let all: Vec<&Wallet> = tenants.iter().chain([&provider]).collect();
    let mut chain = Chain::new(&all);
    chain.send(&provider, &create_provider(&provider));
    for tenant in &tenants {
        for dseq in 1..=4 {
            chain.send(tenant, &create_deployment(tenant, dseq));
            if dseq % 2 == 0 {
                chain.send(&provider, &create_bid(tenant, dseq, &provider));
                chain.send(tenant, &create_lease(tenant, dseq, &provider));
            }
        }
        chain.send(tenant, &close_deployment(tenant, 1));
    }
    chain.next();
    (chain, tenants, provider)
}

fn orders(chain: &Chain, filters: &OrderFilters, page: PageRequest) -> QueryOrdersResponse {
    let request = QueryOrdersRequest { filters: Some(filters.clone()), pagination: Some(page) };
    chain.ask(ORDERS, &request)
}

/// All pages of a list of orders, as owner, dseq and state.
fn all_pages(
    chain: &Chain,
    filters: &OrderFilters,
    limit: u64,
    reverse: bool,
) -> Vec<(String, u64, i32)> {
    let mut key = Vec::new();
    let mut all = Vec::new();
    loop {
        let page = PageRequest { key, limit, reverse, ..PageRequest::default() };
        let answer = orders(chain, filters, page);
        let pagination = answer.pagination.unwrap();
        assert_eq!(pagination.total, u64::try_from(answer.orders.len()).unwrap());
        all.extend(answer.orders.into_iter().map(|order| {
            let id = order.id.unwrap();
            (id.owner, id.dseq, order.state)
        }));
        key = pagination.next_key;
        if key.is_empty() {
            return all;
        }
    }
}

#[test]
fn orders_are_walked_by_state_and_by_the_text_of_their_owner() {
    let (chain, mut tenants, _) = busy();
    tenants.sort_by_key(Wallet::text);
    let mut expected = Vec::new();
    // Open, active, closed.
    for (state, dseqs) in [(1, [3].as_slice()), (2, &[2, 4]), (3, &[1])] {
        for tenant in &tenants {
            expected.extend(dseqs.iter().map(|dseq| (tenant.text(), *dseq, state)));
        }
    }
    for limit in [1, 2, 5, 100] {
        assert_eq!(all_pages(&chain, &OrderFilters::default(), limit, false), expected);
    }
    expected.reverse();
    for limit in [1, 3, 100] {
        assert_eq!(all_pages(&chain, &OrderFilters::default(), limit, true), expected);
    }
}

#[test]
fn orders_of_one_owner_are_walked_by_number() {
    let (chain, tenants, _) = busy();
    let owner = tenants[1].text();
    let filters = OrderFilters { owner: owner.clone(), ..OrderFilters::default() };
    let mut expected: Vec<_> =
        [(1, 3), (2, 2), (3, 1), (4, 2)].map(|(dseq, state)| (owner.clone(), dseq, state)).into();
    for limit in [1, 3, 100] {
        assert_eq!(all_pages(&chain, &filters, limit, false), expected);
    }
    let one = OrderFilters { dseq: 3, ..filters.clone() };
    assert_eq!(all_pages(&chain, &one, 10, false), expected[2..3]);
    let exact = OrderFilters { gseq: 1, oseq: 1, ..one };
    assert_eq!(all_pages(&chain, &exact, 10, false), expected[2..3]);
    let none = OrderFilters { state: "closed".to_owned(), ..exact };
    assert!(all_pages(&chain, &none, 10, false).is_empty());
    expected.reverse();
    assert_eq!(all_pages(&chain, &filters, 3, true), expected);
    let nobody = OrderFilters { owner: "nobody".to_owned(), ..OrderFilters::default() };
    assert!(all_pages(&chain, &nobody, 10, false).is_empty());
}

#[test]
fn an_offset_needs_a_state() {
    let (chain, ..) = busy();
    let page = PageRequest { offset: 1, limit: 1, ..PageRequest::default() };
    let filters = OrderFilters { state: "active".to_owned(), ..OrderFilters::default() };
    let all = all_pages(&chain, &filters, 100, false);
    let answer = orders(&chain, &filters, page.clone());
    assert_eq!(answer.orders[0].id.as_ref().unwrap().dseq, all[1].1);
    let request =
        QueryOrdersRequest { filters: Some(OrderFilters::default()), pagination: Some(page) };
    let error = chain.state.query(ORDERS, &request.encode_to_vec()).unwrap_err();
    let text = "invalid request parameters. if offset is set, filter.state must be provided";
    assert_eq!(error.grpc_text(), text);
    assert_eq!(error.abci_code(), 18);
    let log = format!("rpc error: code = InvalidArgument desc = {text}: invalid request");
    assert_eq!(error.abci_log(), log);
}

#[test]
fn no_limit_is_a_hundred() {
    let tenant = Wallet::numbered(0);
    let mut chain = Chain::new(&[&tenant]);
    for dseq in 1..=105 {
        chain.send(&tenant, &create_deployment(&tenant, dseq));
    }
    let answer: QueryOrdersResponse = chain.ask(ORDERS, &QueryOrdersRequest::default());
    assert_eq!(answer.orders.len(), 100);
    let key = answer.pagination.unwrap().next_key;
    let page = PageRequest { key, ..PageRequest::default() };
    let rest = orders(&chain, &OrderFilters::default(), page);
    assert_eq!(rest.orders.len(), 5);
    assert!(rest.pagination.unwrap().next_key.is_empty());
}

#[test]
fn bids_and_leases_are_found_by_provider_owner_and_state() {
    let (chain, tenants, provider) = busy();
    let bids = |owner: &str, provider: &str, state: &str, limit: u64| {
        let (owner, provider, state) = (owner.to_owned(), provider.to_owned(), state.to_owned());
        let filters = BidFilters { owner, provider, state, ..BidFilters::default() };
        let (mut key, mut count) = (Vec::new(), 0);
        loop {
            let page = PageRequest { key, limit, ..PageRequest::default() };
            let request =
                QueryBidsRequest { filters: Some(filters.clone()), pagination: Some(page) };
            let answer: QueryBidsResponse = chain.ask("/akash.market.v1beta5.Query/Bids", &request);
            count += answer.bids.len();
            key = answer.pagination.unwrap().next_key;
            if key.is_empty() {
                return count;
            }
        }
    };
    let (owner, by) = (tenants[0].text(), provider.text());
    for limit in [1, 4, 50] {
        assert_eq!(bids("", "", "", limit), 6);
        assert_eq!(bids("", &by, "", limit), 6);
        assert_eq!(bids("", &by, "active", limit), 6);
        assert_eq!(bids("", &by, "open", limit), 0);
        assert_eq!(bids(&owner, "", "", limit), 2);
        assert_eq!(bids(&owner, &by, "active", limit), 2);
        assert_eq!(bids("", &owner, "", limit), 0);
    }
    let leases = |filters: LeaseFilters| {
        let request = QueryLeasesRequest { filters: Some(filters), pagination: None };
        let answer: QueryLeasesResponse = chain.ask("/akash.market.v1beta5.Query/Leases", &request);
        answer.leases.len()
    };
    assert_eq!(leases(LeaseFilters::default()), 6);
    let active =
        LeaseFilters { provider: by, state: "active".to_owned(), ..LeaseFilters::default() };
    assert_eq!(leases(active.clone()), 6);
    assert_eq!(leases(LeaseFilters { owner, dseq: 2, ..active }), 1);
    assert_eq!(leases(LeaseFilters { state: "reclaiming".to_owned(), ..Default::default() }), 0);
}

#[test]
fn deployments_escrow_and_providers_are_listed() {
    let (chain, tenants, _) = busy();
    let deployments = |owner: String, state: &str, limit: u64| {
        let filters = DeploymentFilters { owner, dseq: 0, state: state.to_owned() };
        let page = PageRequest { limit, ..PageRequest::default() };
        let request = QueryDeploymentsRequest { filters: Some(filters), pagination: Some(page) };
        let answer: QueryDeploymentsResponse =
            chain.ask("/akash.deployment.v1beta4.Query/Deployments", &request);
        (answer.deployments.len(), answer.pagination.unwrap().next_key.is_empty())
    };
    assert_eq!(deployments(String::new(), "", 100), (12, true));
    assert_eq!(deployments(String::new(), "closed", 100), (3, true));
    assert_eq!(deployments(tenants[0].text(), "active", 2), (2, false));

    let accounts = |state: &str, xid: String| {
        let (mut pagination, mut count) = (PageRequest { limit: 2, ..Default::default() }, 0);
        loop {
            let (state, xid) = (state.to_owned(), xid.clone());
            let request = QueryAccountsRequest { state, xid, pagination: Some(pagination.clone()) };
            let answer: QueryAccountsResponse =
                chain.ask("/akash.escrow.v1.Query/Accounts", &request);
            count += answer.accounts.len();
            pagination.key = answer.pagination.unwrap().next_key;
            if pagination.key.is_empty() {
                return count;
            }
        }
    };
    assert_eq!(accounts("", String::new()), 18);
    assert_eq!(accounts("closed", String::new()), 3);
    assert_eq!(accounts("open", "bid/".to_owned()), 6);
    assert_eq!(accounts("", format!("deployment/{}", tenants[2].text())), 4);
    assert_eq!(accounts("", format!("deployment/{}/2", tenants[2].text())), 1);
    let payments: QueryPaymentsResponse =
        chain.ask("/akash.escrow.v1.Query/Payments", &QueryPaymentsRequest::default());
    assert_eq!(payments.payments.len(), 6);
    let request = QueryAccountsRequest { state: "gone".to_owned(), ..Default::default() };
    let error =
        chain.state.query("/akash.escrow.v1.Query/Accounts", &request.encode_to_vec()).unwrap_err();
    assert_eq!(error.grpc_text(), "invalid state value");

    let request = QueryProvidersRequest::default();
    let answer: QueryProvidersResponse =
        chain.ask("/akash.provider.v1beta4.Query/Providers", &request);
    assert_eq!((answer.providers.len(), answer.pagination.unwrap().total), (1, 1));
}
