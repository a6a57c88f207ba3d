//! Flags that several of the tenant's commands share.

use std::str::FromStr;

use akash_types::Address;
use clap::Args;

use crate::chain::KeyringArgs;

/// Where the provider is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Provider options")]
pub(crate) struct ProviderFlags {
    /// Where the provider answers [default: what it registered on chain]
    #[arg(long, value_name = "URL")]
    pub(super) provider_url: Option<String>,
    /// Ask no node: needs --provider-url, and a provider with a public certificate
    #[arg(long)]
    pub(super) offline: bool,
}

/// Which deployment, whose, and with whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lease options")]
pub(crate) struct DeploymentOf {
    /// Number of the deployment
    #[arg(long, value_name = "N", required = true)]
    pub(super) dseq: u64,
    /// Account of the provider [default: found on chain]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) provider: Option<Address>,
    /// Accepted, without effect: a tenant asks for what is its own
    #[arg(long, value_name = "ADDRESS", hide = true)]
    owner: Option<String>,
    /// Name or address of the tenant's key
    #[arg(long, value_name = "KEY", required = true)]
    pub(super) from: String,
    #[command(flatten)]
    pub(super) keyring: KeyringArgs,
    /// Accepted, without effect
    #[arg(long, value_name = "MODE", hide = true)]
    sign_mode: Option<String>,
    /// How to prove who is asking: jwt or mtls
    #[arg(long, value_name = "TYPE", default_value = "jwt")]
    pub(super) auth_type: AuthType,
}

/// Which lease of a deployment.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lease options")]
pub(crate) struct LeaseOf {
    #[command(flatten)]
    pub(super) deployment: DeploymentOf,
    /// Number of the group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) gseq: u32,
    /// Number of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) oseq: u32,
}

/// How a tenant proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthType {
    /// With a token that its key signs.
    Jwt,
    /// With a certificate that it published.
    Mtls,
}

impl FromStr for AuthType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "jwt" => Ok(Self::Jwt),
            "mtls" => Ok(Self::Mtls),
            _ => Err(format!("invalid gateway auth type {text}. supported are jwt|mtls")),
        }
    }
}
