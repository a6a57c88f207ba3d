//! `query auth`.

use akash_proto::cosmos::auth::v1beta1::QueryAccountRequest;
use akash_types::Address;
use anyhow::Context;
use clap::Subcommand;

use super::Found;
use crate::chain::Network;

pub(super) const HELP: &str = "\
Examples:
  provider-services query auth account akash1…";

#[derive(Debug, Subcommand)]
pub(super) enum AuthQuery {
    /// One account: its number, sequence and public key
    #[command(after_help = HELP)]
    Account {
        /// Its address
        address: Address,
    },
}

impl AuthQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let Self::Account { address } = self;
        let request = QueryAccountRequest { address: address.to_string() };
        let found = network.ask("/cosmos.auth.v1beta1.Query/Account", &request).await;
        Ok(Found::one(found.with_context(|| format!("cannot read account {address}"))?))
    }
}
