//! `query market`.

use akash_proto::akash::market::v1::LeaseFilters;
use akash_proto::akash::market::v1beta5::{
    BidFilters, OrderFilters, QueryBidRequest, QueryBidsRequest, QueryLeaseRequest,
    QueryLeasesRequest, QueryOrderRequest, QueryOrdersRequest, QueryParamsRequest,
};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, Subcommand};

use super::Found;
use super::args::{PageArgs, text};
use crate::chain::Network;
use crate::commands::ids::{BidFlags, OrderFlags};
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query market order list --state open -o table
  provider-services query market bid list --provider akash1… --state open
  provider-services query market lease get --owner akash1… --dseq 101 --provider akash1…";

#[derive(Debug, Subcommand)]
pub(super) enum MarketQuery {
    /// Orders of tenants
    #[command(subcommand, after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
    Order(OrderQuery),
    /// Bids of providers
    #[command(subcommand, after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
    Bid(BidQuery),
    /// Leases
    #[command(subcommand, after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
    Lease(LeaseQuery),
    /// Parameters of the market
    #[command(after_help = PARAMS_HELP)]
    Params,
}

const PARAMS_HELP: &str = "\
Examples:
  provider-services query market params -o table";

#[derive(Debug, Subcommand)]
pub(super) enum OrderQuery {
    /// Orders that match all that is given
    #[command(after_help = HELP)]
    List(OrderList),
    /// One order
    #[command(after_help = HELP)]
    Get(OrderFlags),
}

#[derive(Debug, Subcommand)]
pub(super) enum BidQuery {
    /// Bids that match all that is given
    #[command(after_help = HELP)]
    List(BidList),
    /// One bid
    #[command(after_help = HELP)]
    Get(BidFlags),
}

#[derive(Debug, Subcommand)]
pub(super) enum LeaseQuery {
    /// Leases that match all that is given
    #[command(after_help = HELP)]
    List(LeaseList),
    /// One lease
    #[command(after_help = HELP)]
    Get(BidFlags),
}

/// What all lists filter by.
#[derive(Debug, Args)]
struct Filters {
    /// Of this tenant
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<Address>,
    /// With this deployment number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    dseq: u64,
    /// With this group number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    gseq: u32,
    /// With this order number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    oseq: u32,
}

#[derive(Debug, Args)]
pub(super) struct OrderList {
    #[command(flatten)]
    filters: Filters,
    /// In this state
    #[arg(long, value_parser = ["open", "active", "closed"])]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
pub(super) struct BidList {
    #[command(flatten)]
    filters: Filters,
    /// By this provider
    #[arg(long, value_name = "ADDRESS")]
    provider: Option<Address>,
    /// In this state
    #[arg(long, value_parser = ["open", "active", "lost", "closed"])]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
pub(super) struct LeaseList {
    #[command(flatten)]
    filters: Filters,
    /// With this provider
    #[arg(long, value_name = "ADDRESS")]
    provider: Option<Address>,
    /// In this state
    #[arg(long, value_parser = ["active", "reclaiming", "insufficient_funds", "closed"])]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

impl MarketQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        match self {
            Self::Order(OrderQuery::List(list)) => orders(list, network).await,
            Self::Bid(BidQuery::List(list)) => bids(list, network).await,
            Self::Lease(LeaseQuery::List(list)) => leases(list, network).await,
            Self::Order(OrderQuery::Get(flags)) => {
                let id = flags.id(None)?;
                let request = QueryOrderRequest { id: Some(id.into()) };
                let found = network.ask("/akash.market.v1beta5.Query/Order", &request).await;
                let found = found.with_context(|| format!("cannot read order {id}"))?;
                Ok(Found::field(found, "order"))
            }
            Self::Bid(BidQuery::Get(flags)) => {
                let id = flags.id(None, None)?;
                let request = QueryBidRequest { id: Some(id.into()) };
                let found = network.ask("/akash.market.v1beta5.Query/Bid", &request).await;
                Ok(Found::one(found.with_context(|| format!("cannot read bid {id}"))?))
            }
            Self::Lease(LeaseQuery::Get(flags)) => {
                let id = flags.lease_id(None, None)?;
                let request = QueryLeaseRequest { id: Some(id.into()) };
                let found = network.ask("/akash.market.v1beta5.Query/Lease", &request).await;
                Ok(Found::one(found.with_context(|| format!("cannot read lease {id}"))?))
            }
            Self::Params => {
                let path = "/akash.market.v1beta5.Query/Params";
                let found = network.ask(path, &QueryParamsRequest {}).await;
                Ok(Found::one(found.context("cannot read the market's parameters")?))
            }
        }
    }
}

async fn orders(list: &OrderList, network: &Network) -> anyhow::Result<Found> {
    let Filters { owner, dseq, gseq, oseq } = list.filters;
    let state = list.state.clone().unwrap_or_default();
    let filters = OrderFilters { owner: text(owner), dseq, gseq, oseq, state };
    let request = QueryOrdersRequest { filters: Some(filters), pagination: list.page.request()? };
    let found = network.ask("/akash.market.v1beta5.Query/Orders", &request).await;
    Ok(Found::list(found.context("cannot list orders")?, tables::orders))
}

async fn bids(list: &BidList, network: &Network) -> anyhow::Result<Found> {
    let Filters { owner, dseq, gseq, oseq } = list.filters;
    let state = list.state.clone().unwrap_or_default();
    let (owner, provider) = (text(owner), text(list.provider));
    let filters = BidFilters { owner, dseq, gseq, oseq, provider, state, bseq: 0 };
    let request = QueryBidsRequest { filters: Some(filters), pagination: list.page.request()? };
    let found = network.ask("/akash.market.v1beta5.Query/Bids", &request).await;
    Ok(Found::list(found.context("cannot list bids")?, tables::bids))
}

async fn leases(list: &LeaseList, network: &Network) -> anyhow::Result<Found> {
    let Filters { owner, dseq, gseq, oseq } = list.filters;
    let state = list.state.clone().unwrap_or_default();
    let (owner, provider) = (text(owner), text(list.provider));
    let filters = LeaseFilters { owner, dseq, gseq, oseq, provider, state, bseq: 0 };
    let request = QueryLeasesRequest { filters: Some(filters), pagination: list.page.request()? };
    let found = network.ask("/akash.market.v1beta5.Query/Leases", &request).await;
    Ok(Found::list(found.context("cannot list leases")?, tables::leases))
}
