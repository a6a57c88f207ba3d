//! How fast the chain's rules run, and what open orders weigh.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use akash_chain::tx::message::deployment::{CreateDeployment, create_deployment};
use akash_chain::tx::message::market::{CreateBid, create_bid};
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{Fee, Message, TxPlan, Unsigned};
use akash_devnet::state::{BlockInfo, Genesis, State};
use akash_keys::SecretKey;
use akash_sdl::Sdl;
use akash_types::{
    Coin, DecCoin, DeploymentId, Deposit, GroupId, GroupSpec, OrderId, Provider, ResourceOffer,
};
use figures::print;

const CHAIN: &str = "bench";
const ORDERS: u64 = 100_000;
/// Messages in the transactions that fill the chain; one in those that are timed.
const BATCH: u64 = 50;
const TIMED: u64 = 4_000;

struct Account {
    key: SecretKey,
    number: u64,
    sequence: u64,
}

impl Account {
    fn new(seed: u8, number: u64) -> Self {
        Self { key: SecretKey::from_bytes(&[seed; 32]).unwrap(), number, sequence: 0 }
    }

    fn tx(&mut self, messages: &[Message]) -> Vec<u8> {
        let gas_limit = 50_000_000;
        let amount = vec!["1250000uakt".parse::<Coin>().unwrap()];
        let fee = Fee { amount, gas_limit, granter: None };
        let plan = TxPlan {
            chain_id: CHAIN,
            account_number: self.number,
            sequence: self.sequence,
            messages,
            fee: &fee,
            memo: "",
            timeout_height: 0,
        };
        self.sequence += 1;
        Unsigned::new(&plan, &self.key).unwrap().sign().raw().to_vec()
    }
}

fn main() {
    let (mut tenant, mut provider) = (Account::new(1, 0), Account::new(2, 1));
    let (owner, seller) = (tenant.key.public_key().address(), provider.key.public_key().address());
    let rich: Vec<Coin> = ["1000000000000000000uact", "1000000000000000000uakt"]
        .map(|coin| coin.parse().unwrap())
        .to_vec();
    let genesis = Genesis::for_devnet(
        CHAIN,
        1_700_000_000_000_000_000,
        vec![(owner, rich.clone()), (seller, rich)],
    );
    let mut state = State::from_genesis(&genesis).unwrap();
    let groups = Sdl::read(include_str!("../../../examples/hello.yaml")).unwrap().groups().to_vec();
    let mut height = 0;
    let mut block = |state: &mut State, txs: &[Vec<u8>]| {
        height += 1;
        let time_unix_nanos =
            1_700_000_000_000_000_000 + i64::try_from(height).unwrap() * 1_000_000_000;
        state.begin_block(BlockInfo { height, time_unix_nanos, proposer: [0; 20] });
        for tx in txs {
            let result = state.deliver_tx(tx);
            assert_eq!(result.code, 0, "{}", result.log);
        }
        state.end_block();
        state.commit();
    };

    let registered = create_provider(Provider {
        owner: seller,
        host_uri: "https://provider.example.com:8443".into(),
        attributes: Vec::new(),
        email: String::new(),
        website: String::new(),
    });
    block(&mut state, &[provider.tx(&[registered.unwrap()])]);

    let before = resident();
    let start = Instant::now();
    let mut signing = Duration::ZERO;
    for first in (1..=ORDERS).step_by(usize::try_from(BATCH).unwrap()) {
        let signed = Instant::now();
        let messages: Vec<Message> = (first..first + BATCH)
            .map(|dseq| deployment(DeploymentId::new(owner, dseq).unwrap(), &groups))
            .collect();
        let tx = tenant.tx(&messages);
        signing += signed.elapsed();
        block(&mut state, &[tx]);
    }
    let fill = start.elapsed() - signing;
    print("devnet_orders", ORDERS, "open orders");
    print("devnet_orders_mb", (resident() - before) / 1_000_000, "MB");
    print("devnet_batched_msgs_per_s", per_second(ORDERS, fill), "messages/s");

    let bids: Vec<Vec<u8>> = (1..=TIMED)
        .map(|dseq| {
            provider.tx(&[bid(DeploymentId::new(owner, dseq).unwrap(), seller, &groups[0])])
        })
        .collect();
    let start = Instant::now();
    for txs in bids.chunks(200) {
        block(&mut state, txs);
    }
    print("devnet_msgs_per_s", per_second(TIMED, start.elapsed()), "signed messages/s");
}

fn per_second(count: u64, time: Duration) -> u128 {
    u128::from(count) * 1_000_000 / time.as_micros().max(1)
}

fn deployment(id: DeploymentId, groups: &[GroupSpec]) -> Message {
    create_deployment(CreateDeployment {
        id,
        groups: groups.to_vec(),
        hash: [7; 32],
        deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
        reclamation_min_window: None,
    })
    .unwrap()
}

fn bid(deployment: DeploymentId, seller: akash_types::Address, group: &GroupSpec) -> Message {
    let order = OrderId::new(GroupId::new(deployment, 1).unwrap(), 1).unwrap();
    let offers = group
        .resources
        .iter()
        .map(|unit| ResourceOffer {
            resources: unit.resources.clone(),
            count: unit.count,
            prices: None,
        })
        .collect();
    create_bid(CreateBid {
        id: order.bid_id(seller),
        price: "500uact".parse::<DecCoin>().unwrap(),
        deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
        resources_offer: offers,
        reclamation_window: None,
    })
    .unwrap()
}

/// Bytes of memory in use, as the system counts them.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
