//! A chain that says what it is told to say, a cluster that does as it is told, and an engine
//! between them. Answers come at once and none is lost: what happens otherwise is the
//! simulation's business.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::Sdl;
use akash_types::{
    Action, Address, Attribute, Bid, BidState, ChainEvent, Coin, DecCoin, Deployment, DeploymentId,
    DeploymentState, EscrowAccount, EscrowAccountId, EscrowPayment, EscrowPaymentId, EscrowState,
    Group, GroupId, GroupState, IntentId, Lease, LeaseClosedReason, LeaseId, LeaseState,
    MarketParams, Order, OrderId, OrderState, Outcome, Provider,
};
use provider_engine::chain::{
    AccountRead, ChainAnswer, ChainQuery, ChainReply, DeploymentRead, Read, Standing, Unavailable,
};
use provider_engine::cluster::command::{CommandAnswer, CommandFailure, Operation, Workload};
use provider_engine::cluster::recognition::Memory;
use provider_engine::cluster::view::{
    Amounts, ClusterView, Condition, Held, LeaseView, Node, Replica, ViewChange,
};
use provider_engine::journal::{Entry, Subject};
use provider_engine::order::fees::BidFees;
use provider_engine::order::pricing::{Decimal, Pricing, Scales};
use provider_engine::time::{BlockTime, Now};
use provider_engine::{
    Block, Effect, Engine, Fact, Input, OperatorRequest, Received, Reply, RequestId, Settings,
    TenantRequest, TxEnd,
};

pub(crate) const SDL: &str = r#"
version: "2.0"
services:
  web:
    image: nginx
    expose:
      - port: 80
        accept: [example.com]
        to: [{global: true}]
profiles:
  compute:
    web:
      resources:
        cpu: {units: "1000m"}
        memory: {size: "1Gi"}
        storage: {size: "1Gi"}
  placement:
    west:
      attributes: {region: west}
      pricing:
        web: {denom: uact, amount: 10000}
deployment:
  web:
    west: {profile: web, count: 2}
"#;

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) chain: Chain,
    pub(crate) cluster: ClusterView,
    pub(crate) cluster_answers: bool,
    pub(crate) submitted: Vec<(IntentId, Action)>,
    pub(crate) commands: Vec<Operation>,
    pub(crate) replies: Vec<(RequestId, Reply)>,
    pub(crate) records: Vec<Entry>,
    pub(crate) now: Duration,
    /// How often the engine is woken while time passes.
    pub(crate) tick: Duration,
    pub(crate) requests: u64,
    /// What a transaction costs.
    pub(crate) fee: Option<Coin>,
    /// What the store would have of the fees of bids.
    pub(crate) bid_fees: BidFees,
}

#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) height: u64,
    pub(crate) answers: bool,
    pub(crate) orders: BTreeMap<OrderId, Order>,
    pub(crate) bids: BTreeMap<OrderId, Bid>,
    pub(crate) leases: BTreeMap<OrderId, Lease>,
    /// Seconds between blocks.
    pub(crate) pace: u64,
    /// What every payment has withdrawn.
    pub(crate) withdrawn: u64,
    /// What the provider can spend.
    pub(crate) wallet: Vec<Coin>,
    pub(crate) wallet_answers: bool,
    /// Whether it says who the provider is, and the rules of the market.
    pub(crate) knows_provider: bool,
    pub(crate) tells_params: bool,
}

pub(crate) fn address(byte: u8) -> Address {
    Address::from_bytes(&[byte; 20]).unwrap()
}

pub(crate) fn provider() -> Address {
    address(9)
}

pub(crate) fn order_id(dseq: u64) -> OrderId {
    let deployment = DeploymentId::new(address(1), dseq).unwrap();
    OrderId::new(GroupId::new(deployment, 1).unwrap(), 1).unwrap()
}

fn sdl() -> Sdl {
    Sdl::read(SDL).unwrap()
}

pub(crate) fn settings() -> Settings {
    let storage = Scales::parse_storage("0").unwrap();
    let scales = Scales { cpu: Decimal::parse("1").unwrap(), storage, ..Scales::default() };
    let coin = |text: &str| text.parse::<Coin>().unwrap();
    let pricing = Pricing::Scale(Box::new(scales));
    Settings::new(provider(), coin("500000uakt"), coin("5000uakt"), pricing)
}

impl World {
    /// Nothing was told to anybody yet.
    pub(crate) fn new() -> Self {
        let mut cluster = ClusterView::default();
        for name in ["a", "b"] {
            let gib = 1 << 30;
            let allocatable =
                Amounts { cpu_milli: 8_000, memory: 16 * gib, ephemeral: 100 * gib, gpu: 0 };
            let node = Node { allocatable, ..Node::default() };
            cluster.nodes.insert(name.into(), node);
        }
        Self {
            engine: Engine::new(settings()),
            chain: Chain {
                height: 100_000,
                answers: true,
                pace: 6,
                wallet_answers: true,
                knows_provider: true,
                tells_params: true,
                wallet: vec!["100000000uakt".parse().unwrap()],
                ..Chain::default()
            },
            cluster,
            cluster_answers: true,
            submitted: Vec::new(),
            commands: Vec::new(),
            replies: Vec::new(),
            records: Vec::new(),
            now: Duration::ZERO,
            tick: Duration::from_secs(1),
            requests: 0,
            fee: None,
            bid_fees: BidFees::default(),
        }
    }

    /// The engine knows the chain and the cluster.
    pub(crate) fn started() -> Self {
        let mut world = Self::new();
        world.start();
        world
    }

    /// The same, where there are bids only while tenants are known to be kept apart.
    pub(crate) fn requiring_isolation() -> Self {
        let mut world = Self::new();
        world.engine = Engine::new(Settings { require_isolation: true, ..settings() });
        world.start();
        world
    }

    pub(crate) fn start(&mut self) {
        self.show();
        self.block(&[]);
        assert!(self.engine.is_ready());
    }

    /// The process dies and comes back with nothing.
    pub(crate) fn restart(&mut self) {
        self.restart_with(Memory::default());
    }

    /// The process dies and comes back with what the store remembers.
    pub(crate) fn restart_with(&mut self, memory: Memory) {
        self.engine = Engine::new(settings());
        self.engine.remember(memory);
        self.submitted.clear();
        self.commands.clear();
        self.start();
    }

    /// The process dies and comes back with the uid of a cluster that it shall accept.
    pub(crate) fn restart_accepting(&mut self, memory: Memory, uid: &str) {
        let accept_cluster = Some(uid.into());
        self.engine = Engine::new(Settings { accept_cluster, ..settings() });
        self.engine.remember(memory);
        self.submitted.clear();
        self.commands.clear();
        self.start();
    }

    /// Shows the cluster, whole.
    pub(crate) fn show(&mut self) {
        self.tell(Input::View(ViewChange::Whole(Box::new(self.cluster.clone()))));
    }

    pub(crate) fn block(&mut self, events: &[ChainEvent]) {
        self.chain.height += 1;
        let height = self.chain.height;
        let time = self.chain.time(height);
        self.tell(Input::Block(Block { height, time, events: events.to_vec() }));
    }

    pub(crate) fn blocks(&mut self, count: u64) {
        for _ in 0..count {
            self.wait(Duration::from_secs(self.chain.pace));
            self.block(&[]);
        }
    }

    /// Days pass, with a block every ten minutes or so.
    pub(crate) fn days(&mut self, count: u64) {
        self.tick = Duration::from_secs(self.chain.pace);
        self.blocks(count * 86_400 / self.chain.pace);
    }

    /// Time passes, and the engine is woken every second of it.
    pub(crate) fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = end.min(self.now + self.tick);
            self.tell(Input::Tick);
        }
    }

    pub(crate) fn tell(&mut self, input: Input) {
        let effects = self.engine.handle(Now::new(self.now), input);
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Query(id, query) => {
                let result = self.chain.read(&query);
                self.tell(Input::Chain(ChainReply { id, result }));
            }
            Effect::Submit(intent) => self.submitted.push((intent.id, intent.action)),
            Effect::Command(command) => {
                let result = self.run(&command.operation);
                self.commands.push(command.operation);
                self.tell(Input::Command(CommandAnswer { id: command.id, result }));
            }
            Effect::Reply(request, reply) => self.replies.push((request, reply)),
            Effect::Record(entry) => self.records.push(entry),
            Effect::Publish(Fact::BidFees(fees)) => self.bid_fees = fees,
            _ => {}
        }
    }

    fn run(&mut self, operation: &Operation) -> Result<(), CommandFailure> {
        if !self.cluster_answers {
            return Err(CommandFailure::Unavailable("connection refused".to_owned()));
        }
        let changed = match operation {
            Operation::Hold(workload) => self.hold(workload, false),
            Operation::Deploy(workload) => self.hold(workload, true),
            Operation::Teardown { lease, .. } => {
                self.cluster.leases.remove(lease);
                ViewChange::LeaseGone(*lease)
            }
            Operation::Maintain(on) => ViewChange::Maintenance(*on),
        };
        self.tell(Input::View(changed));
        Ok(())
    }

    pub(crate) fn hold(&mut self, workload: &Workload, deployed: bool) -> ViewChange {
        let lease = workload.lease;
        let view = self.cluster.leases.entry(lease).or_insert_with(|| LeaseView::empty(lease));
        view.held = Some(Held {
            version: workload.version,
            group: Arc::clone(&workload.group),
            cards: workload.cards.clone(),
            deployed,
            ignored: BTreeMap::new(),
        });
        if deployed {
            let asks = Amounts { cpu_milli: 1_000, memory: 1 << 30, ephemeral: 1 << 30, gpu: 0 };
            let replica = Replica {
                service: "web".to_owned(),
                node: Some("a".into()),
                asks,
                card: None,
                condition: Condition::Ready,
                restarts: 0,
            };
            view.replicas = vec![replica; 2];
            view.hostnames = vec!["example.com".to_owned()];
        }
        ViewChange::Lease(Box::new(view.clone()))
    }

    /// A tenant posts a deployment, in a block of its own.
    pub(crate) fn order(&mut self, dseq: u64) -> OrderId {
        let id = order_id(dseq);
        self.chain.orders.insert(id, order(id, self.chain.height + 1));
        self.block(&[ChainEvent::OrderCreated { id }]);
        id
    }

    /// The newest thing that was submitted takes effect in the next block.
    pub(crate) fn land(&mut self) {
        let (intent, action) = self.submitted.pop().unwrap();
        let height = self.chain.height + 1;
        let events = self.chain.apply(&action, height);
        self.block(&events);
        let outcome = Outcome::Executed { height };
        self.tell(Input::Tx(TxEnd { intent, outcome, fee: self.fee.clone() }));
    }

    /// The tenant takes our bid.
    pub(crate) fn lease(&mut self, order: OrderId) -> LeaseId {
        let id = LeaseId::new(order, provider());
        let price = self.chain.bids[&order].price.clone();
        self.chain.give_lease(id, price.clone());
        self.block(&[ChainEvent::LeaseCreated { id, price: Some(price) }]);
        id
    }

    /// From a deployment to a lease that runs.
    pub(crate) fn running(&mut self, dseq: u64) -> LeaseId {
        let order = self.order(dseq);
        self.land();
        let lease = self.lease(order);
        self.manifest(dseq);
        lease
    }

    pub(crate) fn manifest(&mut self, dseq: u64) -> RequestId {
        self.requests += 1;
        let request = RequestId(self.requests);
        let manifest = Arc::new(sdl().manifest().clone());
        let deployment = order_id(dseq).deployment_id();
        self.tell(Input::Tenant(
            request,
            TenantRequest::Manifest { deployment, manifest, received: Received::default() },
        ));
        request
    }

    /// A lease that an earlier run won, this many seconds ago.
    pub(crate) fn found(&mut self, dseq: u64, age: u64) -> LeaseId {
        let id = order_id(dseq);
        let created_at = self.chain.height - age / self.chain.pace;
        let price: DecCoin = "2000uact".parse().unwrap();
        self.chain.orders.insert(id, order(id, created_at));
        let bid = Bid {
            id: id.bid_id(provider()),
            state: BidState::Active,
            price: price.clone(),
            created_at,
            resources_offer: vec![],
            reclamation_window: None,
        };
        self.chain.bids.insert(id, bid);
        let lease = LeaseId::new(id, provider());
        self.chain.give_lease(lease, price);
        self.chain.leases.get_mut(&id).unwrap().created_at = created_at;
        lease
    }

    /// Reasons of the leases and bids that the engine wants closed.
    pub(crate) fn closes(&self) -> Vec<LeaseClosedReason> {
        let reason = |(_, action): &(IntentId, Action)| match action {
            Action::CloseBid { reason, .. } => Some(*reason),
            _ => None,
        };
        self.submitted.iter().filter_map(reason).collect()
    }

    /// The tenant closes the lease, with or without anybody noticing.
    pub(crate) fn close(&mut self, lease: LeaseId) -> ChainEvent {
        let order = lease.order_id();
        self.chain.leases.get_mut(&order).unwrap().state = LeaseState::Closed;
        self.chain.bids.get_mut(&order).unwrap().state = BidState::Closed;
        self.chain.orders.get_mut(&order).unwrap().state = OrderState::Closed;
        ChainEvent::LeaseClosed { id: lease, reason: None }
    }

    pub(crate) fn why(&self, order: OrderId) -> Vec<String> {
        let about = |entry: &&Entry| entry.subject == Subject::Order(order);
        self.records.iter().filter(about).map(|entry| entry.decision.to_string()).collect()
    }

    pub(crate) fn operator(&mut self, wanted: OperatorRequest) -> Reply {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.tell(Input::Operator(request, wanted));
        self.replies.pop().unwrap().1
    }

    pub(crate) fn stage(&self, order: OrderId) -> Option<&'static str> {
        self.engine.records().find(|record| record.id == order).map(|record| record.stage_name())
    }
}

pub(crate) fn order(id: OrderId, created_at: u64) -> Order {
    let spec = sdl().groups()[0].clone();
    Order { id, state: OrderState::Open, spec, created_at, reclamation_min_window: None }
}

impl Chain {
    pub(crate) fn give_lease(&mut self, id: LeaseId, price: DecCoin) {
        let order = id.order_id();
        let lease = Lease {
            id,
            state: LeaseState::Active,
            price,
            created_at: self.height + 1,
            closed_on: None,
            reason: None,
            reclamation: None,
        };
        self.leases.insert(order, lease);
        self.bids.get_mut(&order).unwrap().state = BidState::Active;
        self.orders.get_mut(&order).unwrap().state = OrderState::Active;
    }

    pub(crate) fn time(&self, height: u64) -> BlockTime {
        BlockTime::from_unix(10_000 + self.pace * height)
    }

    pub(crate) fn apply(&mut self, action: &Action, height: u64) -> Vec<ChainEvent> {
        match action {
            Action::CreateBid(offer) => {
                let bid = Bid {
                    id: offer.id,
                    state: BidState::Open,
                    price: offer.price.clone(),
                    created_at: height,
                    resources_offer: offer.resources_offer.clone(),
                    reclamation_window: None,
                };
                self.bids.insert(offer.id.order_id(), bid);
                vec![ChainEvent::BidCreated { id: offer.id, price: None }]
            }
            Action::CloseBid { bid, .. } => {
                let order = bid.order_id();
                self.bids.get_mut(&order).unwrap().state = BidState::Closed;
                match self.leases.get_mut(&order) {
                    Some(lease) => {
                        lease.state = LeaseState::Closed;
                        vec![ChainEvent::LeaseClosed { id: lease.id, reason: None }]
                    }
                    None => vec![ChainEvent::BidClosed { id: *bid }],
                }
            }
            _ => vec![],
        }
    }

    pub(crate) fn read(&self, query: &ChainQuery) -> Result<Read, Unavailable> {
        let is_silent = match query {
            ChainQuery::Wallet => !self.wallet_answers,
            ChainQuery::Params => !self.tells_params,
            _ => false,
        };
        if !self.answers || is_silent {
            return Err(Unavailable("no answer".to_owned()));
        }
        let answer = match query {
            ChainQuery::OpenOrders => {
                let open = self.orders.values().filter(|order| order.state == OrderState::Open);
                ChainAnswer::OpenOrders(open.cloned().collect())
            }
            ChainQuery::OwnBids => {
                let live = |bid: &&Bid| matches!(bid.state, BidState::Open | BidState::Active);
                ChainAnswer::OwnBids(self.bids.values().filter(live).cloned().collect())
            }
            ChainQuery::OwnLeases => {
                let live = self.leases.values().filter(|lease| lease.state == LeaseState::Active);
                ChainAnswer::OwnLeases(live.cloned().collect())
            }
            ChainQuery::Order(id) | ChainQuery::Standing(id) => {
                ChainAnswer::Standing(Box::new(Standing {
                    order: self.orders.get(id).cloned(),
                    bid: self.bids.get(id).cloned(),
                    lease: self.leases.get(id).cloned(),
                }))
            }
            ChainQuery::Deployment(id) => ChainAnswer::Deployment(self.deployment(*id)),
            ChainQuery::Account(id) => ChainAnswer::Account(Box::new(self.account(*id))),
            ChainQuery::Provider if !self.knows_provider => ChainAnswer::Provider(None, vec![]),
            ChainQuery::Provider => {
                let attributes = vec![Attribute::new("region", "west")];
                let record = Provider {
                    owner: provider(),
                    host_uri: "https://example.org:8443".to_owned(),
                    attributes,
                    email: String::new(),
                    website: String::new(),
                };
                ChainAnswer::Provider(Some(Box::new(record)), vec![])
            }
            ChainQuery::Params => {
                let hour = Duration::from_secs(3_600);
                let market = Box::new(MarketParams {
                    bid_min_deposit: None,
                    order_max_bids: 20,
                    bid_min_deposits: vec!["500000uakt".parse().unwrap()],
                    min_reclamation_window: hour,
                    max_reclamation_window: hour * 720,
                });
                ChainAnswer::Params { market, verification_active: false }
            }
            ChainQuery::Wallet => ChainAnswer::Wallet(self.wallet.clone().into()),
            ChainQuery::BlockTime(height) => ChainAnswer::BlockTime(Some(self.time(*height))),
        };
        Ok(Read { height: self.height, answer })
    }

    fn deployment(&self, id: DeploymentId) -> Option<Box<DeploymentRead>> {
        let order = self.orders.get(&order_id(id.dseq()))?;
        let leases = self.leases.get(&order.id).into_iter();
        Some(Box::new(DeploymentRead {
            deployment: Deployment {
                id,
                state: DeploymentState::Active,
                hash: *sdl().version().as_bytes(),
                created_at: order.created_at,
                reclamation_min_window: None,
            },
            groups: vec![Group {
                id: order.id.group_id(),
                state: GroupState::Open,
                spec: order.spec.clone(),
                created_at: order.created_at,
            }],
            leases: leases.filter(|it| it.state == LeaseState::Active).map(|it| it.id).collect(),
        }))
    }

    fn account(&self, id: DeploymentId) -> AccountRead {
        let leases: Vec<_> = self
            .leases
            .get(&order_id(id.dseq()))
            .filter(|lease| lease.state == LeaseState::Active)
            .into_iter()
            .cloned()
            .collect();
        let payments = leases.iter().map(|lease| EscrowPayment {
            id: EscrowPaymentId::from(lease.id),
            owner: provider(),
            state: EscrowState::Open,
            rate: lease.price.clone(),
            balance: "0uact".parse().unwrap(),
            unsettled: "0uact".parse().unwrap(),
            withdrawn: format!("{}uact", self.withdrawn).parse().unwrap(),
        });
        AccountRead {
            account: Some(EscrowAccount {
                id: EscrowAccountId::Deployment(id),
                owner: id.owner(),
                state: EscrowState::Open,
                transferred: vec![],
                settled_at: self.height,
                funds: vec![akash_types::Balance {
                    denom: "uact".parse().unwrap(),
                    amount: "100000000".parse().unwrap(),
                }],
                deposits: vec![],
            }),
            payments: payments.collect(),
            leases: leases.into_iter().map(Into::into).collect(),
        }
    }
}
