//! The tenant, and what the provider bids.

use akash_chain::query::Node;
use akash_chain::tx::message::deployment::{CreateDeployment, close_deployment, create_deployment};
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{Broadcast, BroadcastMode, Fee, Message, TxPlan, Unsigned, Wait, broadcast};
use akash_sdl::Sdl;
use akash_types::{
    Action, BidOffer, Coin, DeploymentId, Deposit, GroupId, GroupSpec, Intent, IntentId, OrderId,
    Provider, ResourceOffer,
};

use super::node::{CHAIN, address, key};

pub(crate) const TENANT: u8 = 1;
pub(crate) const PROVIDER: u8 = 2;

/// Signs for one account, one transaction after the other.
pub(crate) struct Account {
    seed: u8,
    pub(crate) sequence: u64,
}

impl Account {
    pub(crate) const fn new(seed: u8) -> Self {
        Self { seed, sequence: 0 }
    }

    pub(crate) async fn send(&mut self, node: &Node, gas_limit: u64, messages: &[Message]) {
        let fee = gas_limit.div_ceil(40);
        let amount = vec![format!("{fee}uakt").parse::<Coin>().unwrap()];
        let plan = TxPlan {
            chain_id: CHAIN,
            account_number: u64::from(self.seed) - 1,
            sequence: self.sequence,
            messages,
            fee: &Fee { amount, gas_limit, granter: None },
            memo: "",
            timeout_height: 0,
        };
        self.sequence += 1;
        let tx = Unsigned::new(&plan, &key(self.seed)).unwrap().sign();
        let sent = broadcast(node, &tx, BroadcastMode::Sync, Wait::default()).await.unwrap();
        assert_eq!(sent, Broadcast::Pending);
    }
}

pub(crate) fn group() -> GroupSpec {
    Sdl::read(include_str!("../../../../examples/hello.yaml")).unwrap().groups()[0].clone()
}

/// A deployment with so many groups, each of which becomes an order.
pub(crate) fn deployment(dseq: u64, groups: u32) -> Message {
    let group = group();
    let named = |number| GroupSpec { name: format!("g{number}"), ..group.clone() };
    create_deployment(CreateDeployment {
        id: DeploymentId::new(address(TENANT), dseq).unwrap(),
        groups: (1..=groups).map(named).collect(),
        hash: [7; 32],
        deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
        reclamation_min_window: None,
    })
    .unwrap()
}

pub(crate) fn closed(order: &OrderId) -> Message {
    close_deployment(order.deployment_id())
}

pub(crate) fn orders(dseqs: std::ops::Range<u64>, groups: u32) -> Vec<OrderId> {
    let order = |dseq, gseq| {
        let deployment = DeploymentId::new(address(TENANT), dseq).unwrap();
        OrderId::new(GroupId::new(deployment, gseq).unwrap(), 1).unwrap()
    };
    dseqs.flat_map(|dseq| (1..=groups).map(move |gseq| order(dseq, gseq))).collect()
}

pub(crate) fn registration() -> Message {
    create_provider(Provider {
        owner: address(PROVIDER),
        host_uri: "https://provider.example.com:8443".into(),
        attributes: Vec::new(),
        email: String::new(),
        website: String::new(),
    })
    .unwrap()
}

pub(crate) fn bid(id: u64, order: OrderId, group: &GroupSpec, height: u64) -> Intent {
    let offer = |unit: &akash_types::ResourceUnit| ResourceOffer {
        resources: unit.resources.clone(),
        count: unit.count,
        prices: None,
    };
    let offer = BidOffer {
        id: order.bid_id(address(PROVIDER)),
        price: "500uact".parse().unwrap(),
        deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
        resources_offer: group.resources.iter().map(offer).collect(),
        reclamation_window: None,
    };
    Intent::new(IntentId(id), Action::CreateBid(Box::new(offer)), height)
}
