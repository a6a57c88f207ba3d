//! The parts of a provider, started in order and stopped together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::follow::{FollowConfig, FollowError, FollowStatus, Follower};
use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient, SetupError};
use akash_chain::tx::Signer;
use akash_chain::tx::lane::{IntentEnd, LaneConfig, LaneHandle, LaneStatus, LaneTask};
use provider_engine::cluster::port::{Execute, Observe};
use provider_engine::cluster::recognition::Memory;
use provider_engine::{Engine, Input, Settings, TxEnd};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::chain::read::Accounts;
use crate::chain::{Reader, follow, keep_choosing};
use crate::cluster::observe;
use crate::engine_task::{EngineTask, Handle, Inbox, Script, Witness, World, open};
use crate::health::{Readiness, keep_judging};
use crate::keeper::{Errands, Waiting};
use crate::part::{Lifecycle, PartStatus, Parts, Stop, Stopper, keep_running};

/// How long parts have to end before they are made to.
const GRACE: Duration = Duration::from_secs(5);

/// Everything that a provider is started with.
#[derive(Debug)]
pub struct Setup<C, S, W, K> {
    /// What decisions depend on.
    pub engine: Settings,
    /// How blocks are followed, and from whom.
    pub follow: FollowConfig,
    /// The gRPC address of the first node, if that is to be asked.
    pub grpc: Option<Endpoint>,
    /// How long one read of the chain may take.
    pub query_limit: Duration,
    /// How transactions are made.
    pub lane: LaneConfig,
    pub signer: K,
    pub cluster: C,
    pub script: S,
    /// Who keeps and counts.
    pub witness: W,
    /// What the store remembers of deployments and of the cluster.
    pub memory: Memory,
    /// The newest block that was seen in an earlier life.
    pub cursor: Option<u64>,
    /// The parts that were begun already.
    pub parts: Parts,
}

/// Why a provider does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot follow the chain")]
    Follow(#[from] FollowError),
    #[error("cannot set up the connection to the chain")]
    Chain(#[from] SetupError),
}

/// A running provider. Dropping it ends it at once, the engine with the turn it is in.
#[derive(Debug)]
pub struct Running {
    handle: Handle,
    parts: Parts,
    chain: watch::Receiver<FollowStatus>,
    readiness: watch::Receiver<Arc<Readiness>>,
    lane: LaneHandle,
    waiting: Waiting,
    reread: Arc<Notify>,
    rpc: RpcClient,
    connection: Connection,
    stopper: Stopper,
    stop: Stop,
    /// Parts without which going on would lie.
    vital: JoinSet<Ended>,
    /// Parts that are started again when they end.
    others: JoinSet<()>,
}

/// A part without which nothing goes on has ended.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{} ended: {}", self.part, self.why)]
pub struct Ended {
    pub part: &'static str,
    /// Why, if it says.
    pub why: String,
}

/// Starts everything. Nothing is written anywhere before the chain was read and the cluster seen.
pub fn start<C, S, W, K>(setup: Setup<C, S, W, K>) -> Result<Running, StartError>
where
    C: Execute + Observe + Clone + Send + Sync + 'static,
    S: Script,
    W: Witness,
    K: Signer + Send + 'static,
{
    let signer = setup.lane.account;
    let accounts = Accounts {
        provider: setup.engine.provider,
        fee_payer: Some(setup.lane.fee_payer()).filter(|payer| *payer != setup.engine.provider),
    };
    let chain_id = setup.follow.plan.chain_id.clone();
    // Blocks have limits of their own: they come from whichever node is fast.
    let limits = Limits { request: setup.query_limit, ..setup.follow.limits };
    let mut nodes = setup.follow.nodes.clone().into_iter();
    let first = nodes.next().ok_or(FollowError::NoNodes)?;
    let several = nodes.len() > 0;
    let rpc = RpcClient::any_of(first, nodes.collect(), limits)?;
    // One of several nodes is chosen by how it is, which gRPC alone does not tell.
    let grpc = setup.grpc.as_ref().filter(|_| !several);
    let connection = Connection::new(&rpc, grpc, limits)?;

    let parts = setup.parts;
    let (stopper, stop) = Stop::new();
    let (mut vital, mut others) = (JoinSet::new(), JoinSet::new());
    let mut engine = Engine::new(setup.engine);
    engine.remember(setup.memory);
    let (inbox, handle, letters, shown) = open(engine.published());

    let follower = Follower::start(setup.follow, setup.cursor)?;
    let chain = follower.status();
    let limit = setup.query_limit;
    let reader = Reader::new(connection.clone(), rpc.clone(), accounts, limit, chain.clone());
    others.spawn(keep_choosing(rpc.clone(), chain.clone()));
    let (told, readiness) = watch::channel(Arc::default());
    others.spawn(keep_judging(chain.clone(), handle.changes(), told));

    let query = Query::new(connection.clone());
    let node = Node::new(rpc.clone());
    let (task, lane, ends) = LaneTask::new(setup.lane, setup.signer, chain_id, query, node);
    let part = parts.begin("transaction lane");
    part.is(Lifecycle::Running);
    vital.spawn(async move {
        task.run().await;
        part.is(Lifecycle::Done);
        Ended { part: "the transaction lane", why: "nobody holds it any more".to_owned() }
    });
    let waiting = Waiting::default();
    vital.spawn(pass_ends(ends, waiting.clone(), inbox.clone()));

    let part = parts.begin("block follower");
    part.is(Lifecycle::Running);
    let following = follow(follower, lane.clone(), signer, reader.clone(), inbox.clone());
    vital.spawn(async move {
        let why = following.await.to_string();
        part.is(Lifecycle::Done);
        Ended { part: "following blocks", why }
    });

    let part = parts.begin("cluster observer");
    let (cluster, to) = (setup.cluster.clone(), inbox.clone());
    let reread = Arc::new(Notify::new());
    let again = Arc::clone(&reread);
    others.spawn(keep_running(part, stop.clone(), move |part| {
        observe(cluster.clone(), to.clone(), Arc::clone(&again), part)
    }));

    let outside = World::new(inbox, reader, lane.clone(), setup.cluster, setup.script);
    let witness = setup.witness;
    let part = parts.begin("engine");
    part.is(Lifecycle::Running);
    let task = EngineTask { engine, letters, outside, witness, shown, stop: stop.clone() };
    let runtime = tokio::runtime::Handle::current();
    vital.spawn_blocking(move || {
        runtime.block_on(task.run());
        part.is(Lifecycle::Done);
        Ended { part: "the engine", why: "it was told to".to_owned() }
    });
    Ok(Running {
        handle,
        parts,
        chain,
        readiness,
        lane,
        waiting,
        reread,
        rpc,
        connection,
        stopper,
        stop,
        vital,
        others,
    })
}

/// How intents ended, told to the engine.
async fn pass_ends(
    mut ends: mpsc::UnboundedReceiver<IntentEnd>,
    waiting: Waiting,
    inbox: Inbox,
) -> Ended {
    while let Some(IntentEnd { intent, outcome, fee }) = ends.recv().await {
        if waiting.ended(intent, &outcome) {
            continue;
        }
        let end = TxEnd { intent, outcome, fee };
        if inbox.tell(Input::Tx(end)).await.is_err() {
            break;
        }
    }
    Ended { part: "the transaction lane", why: "it tells no more how intents end".to_owned() }
}

impl Running {
    /// What everybody outside holds.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub fn parts(&self) -> Parts {
        self.parts.clone()
    }

    pub fn chain(&self) -> watch::Receiver<FollowStatus> {
        self.chain.clone()
    }

    /// Whether the provider can do its work.
    pub fn readiness(&self) -> watch::Receiver<Arc<Readiness>> {
        self.readiness.clone()
    }

    pub fn lane(&self) -> watch::Receiver<LaneStatus> {
        self.lane.watch()
    }

    /// Brings to the chain what somebody besides the engine wants there.
    pub fn errands(&self) -> Errands {
        Errands::new(self.lane.clone(), self.waiting.clone())
    }

    /// Asks the chain: a node that is well.
    pub fn query(&self) -> Query<Connection> {
        Query::new(self.connection.clone())
    }

    /// Has the cluster read again whenever it is notified.
    pub fn reread(&self) -> Arc<Notify> {
        Arc::clone(&self.reread)
    }

    /// Who is asked about blocks: a node that is well.
    pub fn rpc(&self) -> RpcClient {
        self.rpc.clone()
    }

    /// Says when everything stops.
    pub fn stop_signal(&self) -> Stop {
        self.stop.clone()
    }

    /// Runs one more part until everything stops, again and again if it ends.
    pub fn also<F, E>(
        &mut self,
        name: &'static str,
        run: impl FnMut(crate::part::Part) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let part = self.parts.begin(name);
        self.others.spawn(keep_running(part, self.stop.clone(), run));
    }

    /// Runs one more part until everything stops. One that has no end but that.
    pub fn spawn(&mut self, name: &'static str, run: impl Future<Output = ()> + Send + 'static) {
        let part = self.parts.begin(name);
        let mut stop = self.stop.clone();
        self.others.spawn(async move {
            part.is(Lifecycle::Running);
            tokio::select! {
                () = run => part.has_problem("it ended by itself"),
                () = stop.stopped() => {}
            }
            part.is(Lifecycle::Done);
        });
    }

    /// Waits until a part ends without which going on would lie.
    pub async fn ended(&mut self) -> Ended {
        match self.vital.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => {
                Ended { part: "a vital part", why: format!("a bug made it break down: {panic}") }
            }
            None => Ended { part: "everything", why: "nothing is left".to_owned() },
        }
    }

    /// Ends everything in order: nothing new is begun, what was decided is kept, bids and workloads
    /// stay as they are. How the parts were at the end.
    pub async fn stop(mut self) -> Vec<PartStatus> {
        for part in self.parts.all() {
            if part.lifecycle != Lifecycle::Done {
                self.parts.begin(part.name).is(Lifecycle::Stopping);
            }
        }
        self.stopper.stop();
        drop(self.lane);
        let end = async {
            // The engine ends first: it is told to; what waits for its ear ends with it.
            let _ = self.vital.join_next().await;
            while self.others.join_next().await.is_some() {}
        };
        let _ = tokio::time::timeout(GRACE, end).await;
        self.vital.abort_all();
        self.others.abort_all();
        self.parts.all()
    }
}
