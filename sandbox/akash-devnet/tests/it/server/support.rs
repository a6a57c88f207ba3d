//! A chain with a few rich accounts, and who signs for them.

use std::net::SocketAddr;
use std::path::Path;

use akash_devnet::node;
use akash_devnet::server::{Config, Devnet, FaucetConfig};
use akash_devnet::state::{Genesis, State};
use akash_grpc::cosmos::auth::v1beta1::query_client::QueryClient as Auth;
use akash_proto::cosmos::auth::v1beta1::QueryAccountInfoRequest;
use akash_proto::cosmos::bank::v1beta1::MsgSend;
use akash_proto::cosmos::base::v1beta1::Coin as WireCoin;
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::v1beta1::mode_info::{Single, Sum};
use akash_proto::cosmos::tx::v1beta1::{
    AuthInfo, Fee, ModeInfo, SignDoc, SignerInfo, TxBody, TxRaw,
};
use akash_types::{Address, Coin};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use k256::ecdsa::signature::Signer;
use k256::ecdsa::{Signature, SigningKey};
use prost::Message;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tonic::transport::{Channel, Endpoint};

pub(crate) const RICH: u64 = 10_000_000_000_000;
const START: i64 = 1_794_768_756_000_000_000;
const CHAIN_ID: &str = "local";

pub(crate) struct Chain {
    pub(crate) devnet: Devnet,
    rpc: SocketAddr,
}

impl Chain {
    /// A chain that makes blocks on request.
    pub(crate) async fn start(home: Option<&Path>) -> Self {
        let faucet = Wallet::numbered(0);
        let rich = |wallet: &Wallet| {
            let coin = |denom: &str| Coin::new(denom.parse().unwrap(), RICH.into());
            (wallet.address, vec![coin("uakt"), coin("uact")])
        };
        let accounts = [&faucet, &Wallet::provider(), &Wallet::numbered(1)].map(rich).to_vec();
        let genesis = Genesis::for_devnet(CHAIN_ID, START, accounts);
        let mut config = Config::new(node::Chain::new(CHAIN_ID, 1, START));
        config.block_time = None;
        config.home = home.map(Path::to_owned);
        config.faucet =
            Some(FaucetConfig { secret: faucet.secret(), amount: "1000uakt".to_owned() });
        let state = State::from_genesis(&genesis).unwrap();
        let devnet = Devnet::start(config, state, |_| {}).await.unwrap();
        Self { rpc: devnet.rpc_address(), devnet }
    }

    pub(crate) async fn channel(&self) -> Channel {
        let uri = format!("http://{}", self.devnet.grpc_address());
        Endpoint::from_shared(uri).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn number(&self, wallet: &Wallet) -> u64 {
        let mut auth = Auth::new(self.channel().await);
        let request = QueryAccountInfoRequest { address: wallet.text() };
        let account = auth.account_info(request).await.unwrap().into_inner();
        account.info.unwrap().account_number
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.http(http::Method::POST, "/", request.to_string()).await.1
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.http(http::Method::GET, path, String::new()).await
    }

    async fn http(&self, method: http::Method, path: &str, body: String) -> (u16, Value) {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let request = http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.rpc))
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let response = client.request(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

pub(crate) struct Wallet {
    key: SigningKey,
    public: Vec<u8>,
    pub(crate) address: Address,
}

impl Wallet {
    pub(crate) fn provider() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/chain/throwaway-keys.json");
        let keys: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let wallet =
            Self::new(&hex::decode(keys["provider_privkey_hex"].as_str().unwrap()).unwrap());
        assert_eq!(wallet.text(), keys["provider"]["address"].as_str().unwrap());
        wallet
    }

    pub(crate) fn numbered(number: u32) -> Self {
        Self::new(&Sha256::digest(format!("server wallet {number}")))
    }

    fn new(secret: &[u8]) -> Self {
        let key = SigningKey::from_slice(secret).unwrap();
        let public = key.verifying_key().to_sec1_point(true).as_bytes().to_vec();
        let hash = ripemd::Ripemd160::digest(Sha256::digest(&public));
        Self { key, public, address: Address::from_bytes(&hash).unwrap() }
    }

    fn secret(&self) -> [u8; 32] {
        self.key.to_bytes().into()
    }

    pub(crate) fn text(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn transfer(&self, to: &Self, amount: u64, number: u64, sequence: u64) -> Vec<u8> {
        let coin =
            |amount: u64| vec![WireCoin { denom: "uakt".to_owned(), amount: amount.to_string() }];
        let send =
            MsgSend { from_address: self.text(), to_address: to.text(), amount: coin(amount) };
        let body = TxBody { messages: vec![akash_proto::to_any(&send)], ..TxBody::default() };
        let signer = SignerInfo {
            public_key: Some(akash_proto::to_any(&PubKey { key: self.public.clone() })),
            mode_info: Some(ModeInfo { sum: Some(Sum::Single(Single { mode: 1 })) }),
            sequence,
        };
        let fee = Fee { amount: coin(5_000), gas_limit: 200_000, ..Fee::default() };
        let auth = AuthInfo { signer_infos: vec![signer], fee: Some(fee), ..AuthInfo::default() };
        let doc = SignDoc {
            body_bytes: body.encode_to_vec(),
            auth_info_bytes: auth.encode_to_vec(),
            chain_id: CHAIN_ID.to_owned(),
            account_number: number,
        };
        let signature: Signature = self.key.sign(&doc.encode_to_vec());
        TxRaw {
            body_bytes: doc.body_bytes,
            auth_info_bytes: doc.auth_info_bytes,
            signatures: vec![signature.to_bytes().to_vec()],
        }
        .encode_to_vec()
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(crate) fn from_base64(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}
