//! Who asks, and through which node.

use akash_keys::SecretKey;
use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use anyhow::{Context, bail};
use provider_api::client::Client;

use super::args::{DeploymentOf, LeaseOf, ProviderFlags};
use super::door::{Door, Identity};
use super::status::active_leases;
use crate::chain::{Account, Network};
use crate::console::Console;
use crate::surroundings::Surroundings;

/// A tenant, and how it reaches the chain and its providers.
pub(super) struct Tenant<'a> {
    args: &'a DeploymentOf,
    surroundings: &'a Surroundings,
    address: Address,
    secret: SecretKey,
    network: Option<Network>,
    url: Option<&'a str>,
}

impl<'a> Tenant<'a> {
    /// Finds the key and prepares to talk to the node.
    pub(super) fn open(
        args: &'a DeploymentOf,
        provider: &'a ProviderFlags,
        surroundings: &'a Surroundings,
        console: Console,
    ) -> anyhow::Result<Self> {
        let account = Account::find(&args.from, &args.keyring, surroundings, console)?;
        let network = match provider.offline {
            true => None,
            false => {
                Some(Network::new(surroundings.node(), None, false, &surroundings.to_node()?)?)
            }
        };
        Ok(Self {
            args,
            surroundings,
            address: account.address,
            secret: account.secret()?,
            network,
            url: provider.provider_url.as_deref().filter(|url| !url.is_empty()),
        })
    }

    fn deployment(&self) -> anyhow::Result<DeploymentId> {
        DeploymentId::new(self.address, self.args.dseq).context("--dseq")
    }

    /// The lease that flags name; its provider is looked up if they do not.
    pub(super) async fn lease(&self, flags: &LeaseOf) -> anyhow::Result<LeaseId> {
        let group = GroupId::new(self.deployment()?, flags.gseq).context("--gseq")?;
        let order = OrderId::new(group, flags.oseq).context("--oseq")?;
        if let Some(provider) = self.args.provider {
            return Ok(LeaseId::new(order, provider));
        }
        let leases = self.leases_on_chain().await?;
        leases.into_iter().find(|lease| lease.order_id() == order).with_context(|| {
            format!("group {} of deployment {} has no active lease", flags.gseq, self.args.dseq)
        })
    }

    /// The provider that flags name, or the one of the only lease of a group.
    pub(super) async fn provider_of(&self, gseq: u32) -> anyhow::Result<Address> {
        if let Some(provider) = self.args.provider {
            return Ok(provider);
        }
        let leases = self.leases_on_chain().await?;
        let lease = leases.into_iter().find(|lease| lease.gseq() == gseq).with_context(|| {
            format!("group {gseq} of deployment {} has no active lease", self.args.dseq)
        })?;
        Ok(lease.provider())
    }

    /// The leases that a command about a whole deployment is for: the one that flags name where they
    /// say where its provider is, and otherwise all active ones.
    pub(super) async fn leases(&self, flags: &LeaseOf) -> anyhow::Result<Vec<LeaseId>> {
        if self.url.is_some() {
            return Ok(vec![self.lease(flags).await?]);
        }
        let mut leases = self.leases_on_chain().await?;
        if let Some(provider) = self.args.provider {
            leases.retain(|lease| lease.provider() == provider);
        }
        if leases.is_empty() {
            bail!("no active leases found for dseq={}", self.args.dseq);
        }
        Ok(leases)
    }

    async fn leases_on_chain(&self) -> anyhow::Result<Vec<LeaseId>> {
        let network = self.network.as_ref().context("--offline: give --provider")?;
        Ok(active_leases(network, self.deployment()?).await?)
    }

    pub(super) async fn client(&self, provider: Address) -> anyhow::Result<Client> {
        let door = Door {
            network: self.network.as_ref(),
            url: self.url,
            authorities: self.surroundings.outbound()?.trust(),
        };
        let identity = Identity::Tenant {
            secret: &self.secret,
            home: self.surroundings.home()?,
            auth: self.args.auth_type,
        };
        door.client(provider, identity).await
    }
}
