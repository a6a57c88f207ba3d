//! Those who create orders, close them and take bids, and somebody else who has the provider's key.

use akash_chain::tx::Message;
use akash_chain::tx::message::bank;
use akash_chain::tx::message::deployment::{CreateDeployment, close_deployment, create_deployment};
use akash_chain::tx::message::market::create_lease;
use akash_chain::tx::message::provider::create_provider;
use akash_devnet::node::Block;
use akash_sdl::Sdl;
use akash_types::{BidId, DeploymentId, Deposit, GroupId, GroupSpec, OrderId, Provider};
use serde_json::Value;

use crate::chaos::chance::Chance;
use crate::chaos::world::{PROVIDER, TENANT, World, address};

pub(crate) struct Tenants {
    groups: Vec<GroupSpec>,
    next: u64,
    deployments: Vec<DeploymentId>,
    /// Bids that were made and not taken yet.
    bids: Vec<BidId>,
}

impl Tenants {
    pub(crate) fn new() -> Self {
        let sdl = Sdl::read(include_str!("../../../../../examples/hello.yaml")).unwrap();
        let group = sdl.groups()[0].clone();
        let groups =
            (1..=2).map(|n| GroupSpec { name: format!("g{n}"), ..group.clone() }).collect();
        Self { groups, next: 1, deployments: Vec::new(), bids: Vec::new() }
    }

    /// Whatever they feel like before the next block.
    pub(crate) async fn act(&mut self, world: &mut World, chance: &mut Chance) {
        let mut messages = Vec::new();
        if chance.one_in(3) {
            for _ in 0..=chance.below(3) {
                messages.push(self.create(chance));
            }
        }
        if chance.one_in(9)
            && let Some(deployment) = chance.of(&self.deployments)
        {
            self.deployments.retain(|other| *other != deployment);
            messages.push(close_deployment(deployment));
        }
        // One by one: what is wrong with one of them is no concern of the others.
        for message in messages {
            world.send(TENANT, &[message]).await;
        }
        if chance.one_in(5)
            && let Some(bid) = chance.of(&self.bids)
        {
            self.bids.retain(|other| *other != bid);
            world.send(TENANT, &[create_lease(bid).unwrap()]).await;
        }
        if chance.one_in(8) {
            let coins = vec!["5uakt".parse().unwrap()];
            let gift = bank::send(address(PROVIDER), address(TENANT), coins).unwrap();
            world.send(PROVIDER, &[gift]).await;
        }
    }

    /// A deployment with one group, and what creates it.
    pub(crate) fn one(&mut self) -> (DeploymentId, Message) {
        let id = DeploymentId::new(address(TENANT), self.next).unwrap();
        self.next += 1;
        (id, self.creates(id, 1))
    }

    fn create(&mut self, chance: &mut Chance) -> Message {
        let id = DeploymentId::new(address(TENANT), self.next).unwrap();
        self.next += 1;
        self.deployments.push(id);
        self.creates(id, if chance.one_in(4) { 2 } else { 1 })
    }

    fn creates(&self, id: DeploymentId, groups: usize) -> Message {
        create_deployment(CreateDeployment {
            id,
            groups: self.groups[..groups].to_vec(),
            hash: [7; 32],
            deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
            reclamation_min_window: None,
        })
        .unwrap()
    }

    pub(crate) fn look(&mut self, block: &Block) {
        let events = block.results.iter().flat_map(|result| &result.events);
        let created = events.filter(|event| event.kind.ends_with(".EventBidCreated"));
        for event in created {
            let id = event.attributes.iter().find(|(key, _, _)| key == "id").unwrap();
            self.bids.push(bid_id(&serde_json::from_str(&id.1).unwrap()));
        }
    }
}

fn bid_id(id: &Value) -> BidId {
    let text = |name: &str| id[name].as_str().unwrap().to_owned();
    let number = |name: &str| u32::try_from(id[name].as_u64().unwrap()).unwrap();
    let owner = text("owner").parse().unwrap();
    let deployment = DeploymentId::new(owner, text("dseq").parse().unwrap()).unwrap();
    let group = GroupId::new(deployment, number("gseq")).unwrap();
    let order = OrderId::new(group, number("oseq")).unwrap();
    order.bid_id(text("provider").parse().unwrap())
}

/// What a provider needs before it may bid.
pub(crate) async fn register(world: &mut World) {
    let record = create_provider(Provider {
        owner: address(PROVIDER),
        host_uri: "https://provider.example.com:8443".into(),
        attributes: Vec::new(),
        email: String::new(),
        website: String::new(),
    });
    assert!(world.send(PROVIDER, &[record.unwrap()]).await);
    let block = world.block().await;
    assert_eq!(block.results[0].code, 0, "{}", block.results[0].log);
}
