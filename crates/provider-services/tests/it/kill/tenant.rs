//! Somebody who creates orders as long as the chain answers.

use std::time::Duration;

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::message::deployment::{CreateDeployment, create_deployment};
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{Broadcast, BroadcastMode, Fee, Message, TxPlan, Unsigned, Wait, broadcast};
use akash_keys::SecretKey;
use akash_sdl::Sdl;
use akash_types::{Address, DeploymentId, Deposit, Provider};

use crate::kill::devnet_process::CHAIN;

/// Who they are, by the seed of their key; in this order they stand in genesis.
pub(crate) const TENANT: u8 = 1;
pub(crate) const PROVIDER: u8 = 2;

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_bytes(&[seed; 32]).unwrap()
}

pub(crate) fn address(seed: u8) -> Address {
    key(seed).public_key().address()
}

pub(crate) struct Tenant {
    node: Node,
    pub(crate) query: Query<Connection>,
    next: u64,
}

impl Tenant {
    pub(crate) fn new(rpc: &str) -> Self {
        let limits = Limits { request: Duration::from_secs(60), ..Limits::default() };
        let rpc = RpcClient::new(Endpoint::rpc(rpc).unwrap(), limits).unwrap();
        let query = Query::new(Connection::new(&rpc, None, limits).unwrap());
        Self { node: Node::new(rpc), query, next: 1 }
    }

    pub(crate) async fn height(&self) -> u64 {
        self.node.status().await.unwrap().latest_height
    }

    pub(crate) async fn register_provider(&self) {
        let record = create_provider(Provider {
            owner: address(PROVIDER),
            host_uri: "https://provider.example.com:8443".into(),
            attributes: Vec::new(),
            email: String::new(),
            website: String::new(),
        });
        assert!(self.send(PROVIDER, &[record.unwrap()]).await);
        while self.query.provider(address(PROVIDER)).await.unwrap().value.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Creates deployments with an order each, in one transaction that may get lost.
    pub(crate) async fn create(&mut self, count: u64) {
        let sdl = Sdl::read(include_str!("../../../../../examples/hello.yaml")).unwrap();
        let first = self.next;
        self.next += count;
        let messages: Vec<Message> = (first..self.next)
            .map(|dseq| {
                create_deployment(CreateDeployment {
                    id: DeploymentId::new(address(TENANT), dseq).unwrap(),
                    groups: sdl.groups().to_vec(),
                    hash: [7; 32],
                    deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
                    reclamation_min_window: None,
                })
                .unwrap()
            })
            .collect();
        assert!(self.send(TENANT, &messages).await, "the node runs and takes it");
    }

    async fn send(&self, seed: u8, messages: &[Message]) -> bool {
        let account = self.query.account(address(seed)).await.unwrap().value.unwrap();
        let mut sequence = account.sequence;
        let fee = Fee {
            amount: vec!["300000uakt".parse().unwrap()],
            gas_limit: 4_000_000,
            granter: None,
        };
        for _ in 0..5 {
            let plan = TxPlan {
                chain_id: CHAIN,
                account_number: account.number,
                sequence,
                messages,
                fee: &fee,
                memo: "",
                timeout_height: 0,
            };
            let tx = Unsigned::new(&plan, &key(seed)).unwrap().sign();
            let sent = broadcast(&self.node, &tx, BroadcastMode::Sync, Wait::default()).await;
            match sent.unwrap() {
                Broadcast::Pending => return true,
                // The one before is still waiting for its block.
                answer => match answer.refusal().and_then(|refusal| refusal.sequence_mismatch()) {
                    Some(due) => sequence = due.expected,
                    None => panic!("{answer:?}"),
                },
            }
        }
        false
    }
}
