//! Flags of every query, and of every list.

use akash_proto::cosmos::base::query::v1beta1::PageRequest;
use akash_types::Address;
use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, ValueEnum};

use crate::chain::Network;
use crate::output::{Document, Palette, tables};
use crate::surroundings::Surroundings;

/// How a query is asked and answered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Query options")]
pub(super) struct QueryArgs {
    /// Address of the node's gRPC port; without it everything is asked from --node
    #[arg(long, global = true, value_name = "ADDRESS")]
    grpc_addr: Option<String>,
    /// Talk gRPC in the clear
    #[arg(long, global = true)]
    grpc_insecure: bool,
    /// Ask for the state of this height; 0 is the newest
    #[arg(long, global = true, value_name = "HEIGHT", default_value_t = 0)]
    height: u64,
    /// YAML (text), one line of JSON, or a table for people
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(super) output: QueryFormat,
    /// Accepted, without effect: a node is on one chain
    #[arg(long, global = true, value_name = "ID", hide_short_help = true)]
    chain_id: Option<String>,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum QueryFormat {
    Text,
    Json,
    Table,
}

impl QueryArgs {
    /// The node to ask.
    pub(super) fn network(&self, surroundings: &Surroundings) -> anyhow::Result<Network> {
        let grpc = self.grpc_addr.as_deref();
        let network =
            Network::new(surroundings.node(), grpc, self.grpc_insecure, &surroundings.to_node()?)?;
        match (self.height, grpc) {
            (0, _) => Ok(network),
            (height, None | Some("")) => Ok(network.at_height(height)),
            (_, Some(_)) => bail!("--height is asked from --node: leave out --grpc-addr"),
        }
    }
}

/// Which part of a list.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page options")]
pub(super) struct PageArgs {
    /// Which page of --limit things, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    page: u64,
    /// Where to go on: next_key of the answer before
    #[arg(long, value_name = "BASE64", conflicts_with_all = ["page", "offset"])]
    page_key: Option<String>,
    /// How many things to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    /// How many things at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
    /// Have the node count all things
    #[arg(long)]
    count_total: bool,
    /// Newest first
    #[arg(long)]
    reverse: bool,
}

impl PageArgs {
    /// As the node takes it.
    pub(super) fn request(&self) -> anyhow::Result<Option<PageRequest>> {
        if self.page == 0 {
            bail!("--page is 0: pages are counted from 1");
        }
        if self.page > 1 && self.offset > 0 {
            bail!("--page and --offset cannot be used together");
        }
        let skipped = (self.page - 1).checked_mul(self.limit).context("--page is too large")?;
        let key = self.page_key.as_deref().unwrap_or_default();
        Ok(Some(PageRequest {
            key: STANDARD.decode(key).context("--page-key is no base64")?,
            offset: if self.page > 1 { skipped } else { self.offset },
            limit: self.limit,
            count_total: self.count_total,
            reverse: self.reverse,
        }))
    }
}

/// An address as filters want it: empty is anybody.
pub(super) fn text(address: Option<Address>) -> String {
    address.map(|address| address.to_string()).unwrap_or_default()
}

/// What a query brought.
#[derive(Debug)]
pub(super) struct Found {
    document: Document,
    table: fn(&Document, &Palette) -> String,
}

impl Found {
    /// One thing, whose table is its fields.
    pub(super) fn one(document: Document) -> Self {
        Self { document, table: tables::fields }
    }

    /// Many things, with a table of their own.
    pub(super) fn list(document: Document, table: fn(&Document, &Palette) -> String) -> Self {
        Self { document, table }
    }

    /// What stands in the field `name` of the answer, where the Go program prints no more.
    pub(super) fn field(document: Document, name: &str) -> Self {
        Self::one(document.at(name).cloned().unwrap_or(document))
    }

    pub(super) fn render(&self, format: QueryFormat, palette: &Palette) -> String {
        match format {
            QueryFormat::Json => self.document.to_json() + "\n",
            QueryFormat::Text => self.document.to_yaml(),
            QueryFormat::Table => (self.table)(&self.document, palette),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(page: u64, offset: u64, key: Option<&str>) -> PageArgs {
        let page_key = key.map(str::to_owned);
        PageArgs { page, page_key, offset, limit: 10, count_total: false, reverse: false }
    }

    #[test]
    fn pages_become_offsets() {
        let offset = |page: PageArgs| page.request().unwrap().unwrap().offset;
        assert_eq!(offset(page(1, 0, None)), 0);
        assert_eq!(offset(page(3, 0, None)), 20);
        assert_eq!(offset(page(1, 7, None)), 7);
        assert_eq!(page(1, 0, Some("AQI=")).request().unwrap().unwrap().key, [1, 2]);
        for bad in
            [page(0, 0, None), page(2, 1, None), page(1, 0, Some("*")), page(u64::MAX, 0, None)]
        {
            assert!(bad.request().is_err(), "{bad:?}");
        }
    }
}
