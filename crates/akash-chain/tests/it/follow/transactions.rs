//! Transactions of the real rules, as the follower shows them.

use akash_chain::follow::{FollowConfig, Followed, FollowedBlock, Follower};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{Fee, TxPlan, Unsigned};
use akash_devnet::node;
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, State};
use akash_keys::SecretKey;
use akash_types::{ChainEvent, Coin, Provider};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

const CHAIN: &str = "real";
const START: i64 = 1_700_000_000_000_000_000;

async fn next_block(follower: &mut Follower) -> FollowedBlock {
    let item = tokio::time::timeout(std::time::Duration::from_secs(180), follower.next()).await;
    match item.unwrap() {
        Some(Followed::Block(block)) => block,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_finds_its_transactions_with_their_outcome() {
    let key = SecretKey::from_bytes(&[9; 32]).unwrap();
    let owner = key.public_key().address();
    let rich: Vec<Coin> = vec!["1000000000000uakt".parse().unwrap()];
    let genesis = Genesis::for_devnet(CHAIN, START, vec![(owner, rich)]);
    let mut config = Config::new(node::Chain::new(CHAIN, 1, START));
    config.block_time = None;
    let state = State::from_genesis(&genesis).unwrap();
    let devnet = Devnet::start(config, state, |_| {}).await.unwrap();
    let endpoint = Endpoint::rpc(&devnet.rpc_address().to_string()).unwrap();
    let rpc = RpcClient::new(endpoint.clone(), Limits::default()).unwrap();

    let message = create_provider(Provider {
        owner,
        host_uri: "https://provider.example.com:8443".into(),
        attributes: Vec::new(),
        email: String::new(),
        website: String::new(),
    })
    .unwrap();
    let fee =
        Fee { amount: vec!["50000uakt".parse().unwrap()], gas_limit: 1_000_000, granter: None };
    // The second one is refused in the block: there is such a provider already.
    for sequence in 0..2 {
        let plan = TxPlan {
            chain_id: CHAIN,
            account_number: 0,
            sequence,
            messages: std::slice::from_ref(&message),
            fee: &fee,
            memo: "",
            timeout_height: 0,
        };
        let signed = Unsigned::new(&plan, &key).unwrap().sign();
        let tx = BASE64_STANDARD.encode(signed.raw());
        let sent: Value = rpc.call("broadcast_tx_sync", &json!({ "tx": tx })).await.unwrap();
        assert_eq!(sent["code"], 0, "{sent}");
    }
    let made = devnet.produce_block(None).await.unwrap();

    let config = FollowConfig::new(CHAIN, vec![endpoint]);
    let mut follower = Follower::start(config, Some(made.height() - 1)).unwrap();
    let block = next_block(&mut follower).await;
    assert_eq!(block.height, made.height());
    let nanos = block.time.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    assert_eq!(nanos, u128::try_from(made.header.time_unix_nanos).unwrap());
    let [registered, refused] = block.effects.txs.as_slice() else { panic!("{block:?}") };
    assert!(registered.is_ok() && registered.gas_used > 0);
    assert_eq!(registered.gas_wanted, 1_000_000);
    assert_eq!(registered.sequence_of(&owner), Some(0));
    assert!(!refused.is_ok() && !refused.log.is_empty() && !refused.codespace.is_empty());
    assert_eq!(refused.sequence_of(&owner), Some(1));
    assert!(refused.signatures.len() == 1 && refused.signatures != registered.signatures);
    let [event] = block.effects.events.as_slice() else { panic!("{block:?}") };
    assert_eq!(event.event, ChainEvent::ProviderCreated { owner });
    assert_eq!(event.tx.map(|tx| (tx.index, tx.code)), Some((0, 0)));
    assert_eq!(block.effects.unreadable, 0);
}
