//! What the engine asks the chain, asked of one node.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use akash_chain::follow::FollowStatus;
use akash_chain::query::{Answer, Connection, LeaseFilter, Node, Query, QueryError, Transport};
use akash_chain::transport::{Abci, RpcClient};
use akash_types::{
    Address, Backoff, BidState, Coin, Dec, DeploymentId, EscrowPayment, Lease, LeaseState, OrderId,
    with_causes,
};
use provider_engine::chain::{
    AccountRead, ChainAnswer, ChainQuery, ChainReply, DeploymentRead, QueryId, Read, Standing,
    Unavailable,
};
use provider_engine::escrow::Funds;
use provider_engine::time::BlockTime;
use tokio::sync::{Semaphore, watch};

use super::troubles;

/// Why something was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error("the node does not say at which height something is absent")]
    HeightUnknown,
    #[error("the time of a block is not read from the state")]
    NotState,
}

#[derive(Clone, Copy, Debug)]
pub struct Accounts {
    pub provider: Address,
    /// The account that pays fees, where that is another.
    pub fee_payer: Option<Address>,
}

/// Reads what `query` asks for, over several questions if need be. The answer holds at the lowest
/// height that any of them was answered at. All of them have to go to the same node, which is known
/// to have reached `floor`, if that is known.
pub async fn read<T: Transport>(
    chain: &Query<T>,
    accounts: Accounts,
    query: &ChainQuery,
    floor: Option<u64>,
) -> Result<Read, ReadError> {
    let mut reading = Reading {
        chain,
        own: accounts.provider,
        fee_payer: accounts.fee_payer,
        floor,
        lowest: None,
    };
    let answer = reading.answer(query).await?;
    let height = reading.lowest.ok_or(ReadError::HeightUnknown)?;
    Ok(Read { height, answer })
}

/// One read of several questions.
struct Reading<'a, T> {
    chain: &'a Query<T>,
    own: Address,
    fee_payer: Option<Address>,
    /// What the node is known to have reached.
    floor: Option<u64>,
    /// The lowest height of an answer so far.
    lowest: Option<u64>,
}

impl<T: Transport> Reading<'_, T> {
    async fn answer(&mut self, query: &ChainQuery) -> Result<ChainAnswer, ReadError> {
        Ok(match query {
            ChainQuery::OpenOrders => {
                let orders = self.chain.open_orders().await?;
                ChainAnswer::OpenOrders(self.take(orders)?.items)
            }
            ChainQuery::OwnBids => {
                let mut bids = Vec::new();
                for state in [BidState::Open, BidState::Active] {
                    let listed = self.chain.bids_of(self.own, Some(state)).await?;
                    bids.extend(self.take(listed)?.items.into_iter().map(|info| info.bid));
                }
                ChainAnswer::OwnBids(bids)
            }
            ChainQuery::OwnLeases => {
                let filter = LeaseFilter { provider: Some(self.own), ..LeaseFilter::default() };
                ChainAnswer::OwnLeases(self.alive(filter).await?)
            }
            ChainQuery::Order(order) => {
                let order = self.chain.order(*order).await?;
                let order = self.take(order)?;
                ChainAnswer::Standing(Box::new(Standing { order, ..Standing::default() }))
            }
            ChainQuery::Standing(order) => {
                ChainAnswer::Standing(Box::new(self.standing(*order).await?))
            }
            ChainQuery::Deployment(id) => self.deployment(*id).await?,
            ChainQuery::Account(id) => self.account(*id).await?,
            ChainQuery::Provider => {
                let provider = self.chain.provider(self.own).await?;
                let provider = self.take(provider)?.map(Box::new);
                let audits = self.chain.audits_of(self.own).await?;
                let audits = self.take(audits)?.items;
                let audits = audits.into_iter().map(|entry| entry.audited).collect();
                ChainAnswer::Provider(provider, audits)
            }
            ChainQuery::Params => {
                let market = self.chain.market_params().await?;
                let market = Box::new(self.take(market)?);
                let verification_active = self.chain.verification_is_active().await?;
                ChainAnswer::Params { market, verification_active }
            }
            ChainQuery::Wallet => {
                let provider = self.spendable(self.own).await?;
                let fee_payer = match self.fee_payer {
                    Some(payer) => Some(self.spendable(payer).await?),
                    None => None,
                };
                ChainAnswer::Wallet(Funds {
                    provider,
                    fee_payer,
                    akt_price: self.akt_price().await?,
                })
            }
            ChainQuery::BlockTime(_) => return Err(ReadError::NotState),
        })
    }

    async fn spendable(&mut self, account: Address) -> Result<Vec<Coin>, ReadError> {
        let balances = self.chain.spendable_balances(account).await?;
        Ok(self.take(balances)?.items)
    }

    /// Not known is what the oracle of a node does not say: balances are needed without it.
    async fn akt_price(&mut self) -> Result<Option<Dec>, ReadError> {
        match self.chain.akt_price().await {
            Ok(price) => self.take(price),
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "price of AKT unknown");
                Ok(None)
            }
        }
    }

    async fn standing(&mut self, order: OrderId) -> Result<Standing, ReadError> {
        let bid = order.bid_id(self.own);
        let order = self.chain.order(order).await?;
        let order = self.take(order)?;
        let found = self.chain.bid(bid).await?;
        let found_bid = self.take(found)?.map(|info| info.bid);
        let lease = self.chain.lease(bid.lease_id()).await?;
        let lease = self.take(lease)?.map(|info| info.lease);
        Ok(Standing { order, bid: found_bid, lease })
    }

    async fn deployment(&mut self, id: DeploymentId) -> Result<ChainAnswer, ReadError> {
        let info = self.chain.deployment(id).await?;
        let Some(info) = self.take(info)? else { return Ok(ChainAnswer::Deployment(None)) };
        let leases = self.alive(LeaseFilter { provider: Some(self.own), ..of(id) }).await?;
        let leases = leases.into_iter().map(|lease| lease.id).collect();
        let (deployment, groups) = (info.deployment, info.groups);
        Ok(ChainAnswer::Deployment(Some(Box::new(DeploymentRead { deployment, groups, leases }))))
    }

    async fn account(&mut self, id: DeploymentId) -> Result<ChainAnswer, ReadError> {
        let info = self.chain.deployment(id).await?;
        let Some(account) = self.take(info)?.and_then(|info| info.account) else {
            return Ok(ChainAnswer::Account(Box::default()));
        };
        let leases = self.alive(of(id)).await?.into_iter().map(Into::into).collect();
        let filter = LeaseFilter { provider: Some(self.own), ..of(id) };
        let own = self.chain.leases(filter).await?;
        let payments: Vec<EscrowPayment> =
            self.take(own)?.items.into_iter().filter_map(|info| info.payment).collect();
        let account = Some(account);
        Ok(ChainAnswer::Account(Box::new(AccountRead { account, leases, payments })))
    }

    async fn alive(&mut self, filter: LeaseFilter) -> Result<Vec<Lease>, ReadError> {
        let mut leases = Vec::new();
        for state in [LeaseState::Active, LeaseState::Reclaiming] {
            let listed = self.chain.leases(LeaseFilter { state: Some(state), ..filter }).await?;
            leases.extend(self.take(listed)?.items.into_iter().map(|info| info.lease));
        }
        Ok(leases)
    }

    /// Takes an answer in, and the height it holds at. An answer without one was given after the
    /// node had reached what it had reached before.
    fn take<V>(&mut self, answer: Answer<V>) -> Result<V, ReadError> {
        let height = answer.height.or(self.floor).ok_or(ReadError::HeightUnknown)?;
        self.floor = self.floor.max(answer.height);
        self.lowest = Some(self.lowest.map_or(height, |lowest| lowest.min(height)));
        Ok(answer.value)
    }
}

const fn of(id: DeploymentId) -> LeaseFilter {
    LeaseFilter { owner: Some(id.owner()), dseq: Some(id.dseq()), provider: None, state: None }
}

const QUESTIONS: usize = 32;
/// How long a question waits for a node that is well.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between tries to read a block that has to be there.
const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(100), most: Duration::from_secs(5) };

/// Asks the chain for the engine.
#[derive(Clone, Debug)]
pub struct Reader {
    connection: Connection,
    rpc: RpcClient,
    accounts: Accounts,
    /// How long one read may take.
    limit: Duration,
    nodes: watch::Receiver<FollowStatus>,
    room: Arc<Semaphore>,
}

impl Reader {
    /// Asks over `connection` about `accounts`; blocks over `rpc`.
    pub fn new(
        connection: Connection,
        rpc: RpcClient,
        accounts: Accounts,
        limit: Duration,
        nodes: watch::Receiver<FollowStatus>,
    ) -> Self {
        Self { connection, rpc, accounts, limit, nodes, room: Arc::new(Semaphore::new(QUESTIONS)) }
    }

    /// Answers a question. Always: that nobody answers is an answer too.
    pub async fn answer(&self, id: QueryId, query: &ChainQuery) -> ChainReply {
        // Never closed, so there is room sooner or later.
        let _room = self.room.acquire().await;
        // After a start thousands wait: room for the work is set aside once it begins.
        let work = Box::pin(self.ask(query));
        let result = match tokio::time::timeout(self.limit, work).await {
            Ok(result) => result,
            Err(_) => Err(Unavailable(format!("no answer within {:?}", self.limit))),
        };
        ChainReply { id, result }
    }

    async fn ask(&self, query: &ChainQuery) -> Result<Read, Unavailable> {
        self.wait_for_node().await?;
        // All questions of one read go to the same node.
        let rpc = self.rpc.pinned();
        let node = Node::new(rpc.clone());
        if let ChainQuery::BlockTime(height) = query {
            return block_time(&node, *height).await;
        }
        let connection = match &self.connection {
            Connection::Grpc(grpc) => Connection::Grpc(grpc.clone()),
            Connection::Abci(_) => Connection::Abci(Abci::new(rpc)),
        };
        let chain = Query::new(connection);
        match read(&chain, self.accounts, query, None).await {
            Err(ReadError::HeightUnknown) => {
                let floor = node.status().await.map_err(unavailable)?.latest_height;
                read(&chain, self.accounts, query, Some(floor)).await.map_err(unavailable)
            }
            other => other.map_err(unavailable),
        }
    }

    async fn wait_for_node(&self) -> Result<(), Unavailable> {
        let mut nodes = self.nodes.clone();
        let well = nodes.wait_for(|status| super::choose(status, 0).is_some());
        match tokio::time::timeout(PATIENCE, well).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Unavailable("blocks are not followed any more".to_owned())),
            Err(_) => Err(Unavailable(troubles(&self.nodes.borrow()))),
        }
    }

    /// The time of a block that has to be there, however long that takes.
    pub(super) async fn time_of(&self, height: u64) -> BlockTime {
        let mut failures = 0;
        loop {
            let node = Node::new(self.rpc.pinned());
            match block_time(&node, height).await {
                Ok(Read { answer: ChainAnswer::BlockTime(Some(time)), .. }) => return time,
                Ok(_) => tracing::warn!(height, "the node no longer knows when the block was made"),
                Err(error) => tracing::warn!(height, %error, "cannot read when the block was made"),
            }
            failures += 1;
            tokio::time::sleep(BACKOFF.within(failures, height)).await;
        }
    }
}

/// When a block was made. That a node gives none of its headers means that it has none any more.
async fn block_time(node: &Node, height: u64) -> Result<Read, Unavailable> {
    let reached = node.status().await.map_err(unavailable)?.latest_height;
    let headers = node.headers(height, height).await.map_err(unavailable)?;
    let header = headers.into_iter().find(|header| header.height == height);
    let time = header.map(|header| as_block_time(header.time));
    if time.is_none() && reached < height {
        return Err(Unavailable(format!("the node is at height {reached}, not yet at {height}")));
    }
    Ok(Read { height: reached, answer: ChainAnswer::BlockTime(time) })
}

/// A block's time as the engine counts it.
pub(super) fn as_block_time(time: std::time::SystemTime) -> BlockTime {
    BlockTime::from_unix(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

fn unavailable(error: impl std::error::Error) -> Unavailable {
    Unavailable(with_causes(&error))
}
