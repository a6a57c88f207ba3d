//! Flags that name a deployment, a group, an order, a bid or a lease.

use akash_types::{Address, BidId, DeploymentId, GroupId, LeaseId, OrderId};
use anyhow::Context;
use clap::Args;

/// A deployment.
#[derive(Debug, Args)]
pub(crate) struct DeploymentFlags {
    /// Account of the tenant
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) owner: Option<Address>,
    /// Number of the deployment
    #[arg(long, value_name = "N", required = true)]
    pub(crate) dseq: u64,
}

/// A group of a deployment.
#[derive(Debug, Args)]
pub(crate) struct GroupFlags {
    #[command(flatten)]
    pub(crate) deployment: DeploymentFlags,
    /// Number of the group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) gseq: u32,
}

/// An order for a group.
#[derive(Debug, Args)]
pub(crate) struct OrderFlags {
    #[command(flatten)]
    pub(crate) group: GroupFlags,
    /// Number of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) oseq: u32,
}

/// A bid on an order, or the lease it became.
#[derive(Debug, Args)]
pub(crate) struct BidFlags {
    #[command(flatten)]
    pub(crate) order: OrderFlags,
    /// Account of the provider
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) provider: Option<Address>,
}

impl DeploymentFlags {
    /// The deployment; `owner` is who it is of if nobody says.
    pub(crate) fn id(&self, owner: Option<Address>) -> anyhow::Result<DeploymentId> {
        let owner = self.owner.or(owner).context("--owner is missing")?;
        DeploymentId::new(owner, self.dseq).context("--dseq")
    }
}

impl GroupFlags {
    pub(crate) fn id(&self, owner: Option<Address>) -> anyhow::Result<GroupId> {
        GroupId::new(self.deployment.id(owner)?, self.gseq).context("--gseq")
    }
}

impl OrderFlags {
    pub(crate) fn id(&self, owner: Option<Address>) -> anyhow::Result<OrderId> {
        OrderId::new(self.group.id(owner)?, self.oseq).context("--oseq")
    }
}

impl BidFlags {
    /// The bid; `owner` and `provider` are whose it is if nobody says.
    pub(crate) fn id(
        &self,
        owner: Option<Address>,
        provider: Option<Address>,
    ) -> anyhow::Result<BidId> {
        let provider = self.provider.or(provider).context("--provider is missing")?;
        Ok(BidId::new(self.order.id(owner)?, provider))
    }

    pub(crate) fn lease_id(
        &self,
        owner: Option<Address>,
        provider: Option<Address>,
    ) -> anyhow::Result<LeaseId> {
        Ok(self.id(owner, provider)?.lease_id())
    }
}
