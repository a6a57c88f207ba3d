//! A devnet in this process with a tenant and a registered provider, whose blocks come when asked.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::message::deployment::{CreateDeployment, close_deployment, create_deployment};
use akash_chain::tx::message::market::create_lease;
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{Broadcast, BroadcastMode, Fee, Message, TxPlan, Unsigned, Wait, broadcast};
use akash_devnet::node::{Block, Chain};
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, Params, State};
use akash_keys::SecretKey;
use akash_sdl::Sdl;
use akash_types::{Address, BidId, Coin, DeploymentId, Deposit, GroupId, OrderId, Provider};

/// Name of the chain.
pub const CHAIN_ID: &str = "bed";

/// Somebody with an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Creates deployments.
    Tenant,
    /// Bids on them.
    Provider,
}

impl Who {
    /// Their key.
    pub fn key(self) -> SecretKey {
        let seed = match self {
            Self::Tenant => 1,
            Self::Provider => 2,
        };
        SecretKey::from_bytes(&[seed; 32]).unwrap_or_else(|_| unreachable!("a fixed key"))
    }

    /// Their address.
    pub fn address(self) -> Address {
        self.key().public_key().address()
    }

    const fn account_number(self) -> u64 {
        match self {
            Self::Tenant => 0,
            Self::Provider => 1,
        }
    }
}

/// A chain, and who uses it.
pub struct Bed {
    /// The chain.
    pub devnet: Devnet,
    /// Asks it.
    pub query: Query<Connection>,
    node: Node,
    sequences: BTreeMap<Who, u64>,
    next_deployment: u64,
}

impl std::fmt::Debug for Bed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bed").field("rpc", &self.devnet.rpc_address()).finish_non_exhaustive()
    }
}

/// Something on the bed went wrong.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

impl Bed {
    /// Starts it. Blocks come every `block_time`, or when [`Bed::block`] says so.
    pub async fn start(block_time: Option<Duration>) -> Result<Self, Problem> {
        Self::start_with(block_time, |_| {}).await
    }

    /// As [`Bed::start`], with what `change` makes of the parameters.
    pub async fn start_with(
        block_time: Option<Duration>,
        change: impl FnOnce(&mut Params),
    ) -> Result<Self, Problem> {
        let start = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        let start = i64::try_from(start)?;
        let rich = ["1000000000000uact".parse::<Coin>()?, "1000000000000uakt".parse()?].to_vec();
        let accounts = [Who::Tenant, Who::Provider].map(|who| (who.address(), rich.clone()));
        let mut genesis = Genesis::for_devnet(CHAIN_ID, start, accounts.to_vec());
        change(&mut genesis.params);
        let mut config = Config::new(Chain::new(CHAIN_ID, 1, start));
        config.block_time = block_time;
        let state = State::from_genesis(&genesis)?;
        let devnet = Devnet::start(config, state, |_| {}).await?;
        let endpoint = Endpoint::rpc(&format!("http://{}", devnet.rpc_address()))?;
        let limits = Limits::default();
        let rpc = RpcClient::new(endpoint, limits)?;
        let query = Query::new(Connection::new(&rpc, None, limits)?);
        let mut bed = Self {
            devnet,
            query,
            node: Node::new(rpc),
            sequences: BTreeMap::new(),
            next_deployment: 1,
        };
        let record = create_provider(Provider {
            owner: Who::Provider.address(),
            host_uri: "https://provider.example.com:8443".into(),
            attributes: Vec::new(),
            email: String::new(),
            website: String::new(),
        })?;
        bed.send(Who::Provider, &[record]).await?;
        bed.block().await?;
        Ok(bed)
    }

    /// Where the node answers.
    pub fn rpc(&self) -> Result<Endpoint, Problem> {
        Ok(Endpoint::rpc(&format!("http://{}", self.devnet.rpc_address()))?)
    }

    /// Makes a block; all that is in it has to have worked.
    pub async fn block(&mut self) -> Result<Block, Problem> {
        let block = self.devnet.produce_block(None).await?;
        for result in &block.results {
            if result.code != 0 {
                return Err(result.log.clone().into());
            }
        }
        Ok((*block).clone())
    }

    /// Gives a transaction of somebody to the node.
    pub async fn send(&mut self, who: Who, messages: &[Message]) -> Result<(), Problem> {
        let gas_limit = 60_000_000;
        let fee = Fee { amount: vec!["1500000uakt".parse()?], gas_limit, granter: None };
        let sequence = self.sequences.entry(who).or_default();
        let plan = TxPlan {
            chain_id: CHAIN_ID,
            account_number: who.account_number(),
            sequence: *sequence,
            messages,
            fee: &fee,
            memo: "",
            timeout_height: 0,
        };
        *sequence += 1;
        let tx = Unsigned::new(&plan, &who.key())?.sign();
        match broadcast(&self.node, &tx, BroadcastMode::Sync, Wait::default()).await? {
            Broadcast::Pending => Ok(()),
            other => Err(format!("{other:?}").into()),
        }
    }

    /// Has the tenant ask for deployments of one group each, all in one transaction.
    pub async fn deploy(&mut self, sdl: &str, count: u64) -> Result<Vec<OrderId>, Problem> {
        let sdl = Sdl::read(sdl)?;
        let hash = sdl.version();
        let (mut messages, mut orders) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let id = DeploymentId::new(Who::Tenant.address(), self.next_deployment)?;
            self.next_deployment += 1;
            messages.push(create_deployment(CreateDeployment {
                id,
                groups: sdl.groups().to_vec(),
                hash: *hash.as_bytes(),
                deposit: Deposit::from_balance("5000000uact".parse()?),
                reclamation_min_window: None,
            })?);
            orders.push(OrderId::new(GroupId::new(id, 1)?, 1)?);
        }
        self.send(Who::Tenant, &messages).await?;
        Ok(orders)
    }

    /// Has the tenant take bids.
    pub async fn lease(&mut self, bids: &[BidId]) -> Result<(), Problem> {
        let messages = bids.iter().map(|bid| create_lease(*bid)).collect::<Result<Vec<_>, _>>()?;
        self.send(Who::Tenant, &messages).await
    }

    /// Has the tenant close a deployment.
    pub async fn close(&mut self, deployment: DeploymentId) -> Result<(), Problem> {
        self.send(Who::Tenant, &[close_deployment(deployment)]).await
    }
}
