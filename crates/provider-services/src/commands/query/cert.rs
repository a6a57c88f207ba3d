//! `query cert`.

use akash_proto::akash::cert::v1::{CertificateFilter, QueryCertificatesRequest};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, Subcommand};

use super::Found;
use super::args::{PageArgs, text};
use crate::chain::Network;
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query cert list --owner akash1… --state valid -o json
  provider-services query cert list --owner akash1… -o table";

#[derive(Debug, Subcommand)]
pub(super) enum CertQuery {
    /// Certificates that match all that is given
    #[command(after_help = HELP)]
    List(List),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Of this account
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<Address>,
    /// With this serial number
    #[arg(long, value_name = "N", requires = "owner")]
    serial: Option<String>,
    /// In this state
    #[arg(long, value_parser = ["valid", "revoked"])]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

impl CertQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let Self::List(list) = self;
        let filter = CertificateFilter {
            owner: text(list.owner),
            serial: list.serial.clone().unwrap_or_default(),
            state: list.state.clone().unwrap_or_default(),
        };
        let request =
            QueryCertificatesRequest { filter: Some(filter), pagination: list.page.request()? };
        let found = network.ask("/akash.cert.v1.Query/Certificates", &request).await;
        Ok(Found::list(found.context("cannot list certificates")?, tables::certificates))
    }
}
