//! Answers to the engine's questions, from a node that is well.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use akash_chain::follow::FollowStatus;
use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Abci, RpcClient};
use akash_types::{Backoff, with_causes};
use provider_engine::chain::{ChainAnswer, ChainQuery, ChainReply, QueryId, Read, Unavailable};
use provider_engine::time::BlockTime;
use tokio::sync::{Semaphore, watch};

use super::read::{Accounts, ReadError, read};
use super::troubles;

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
