//! Wallets, messages and a chain to send them to.

use akash_devnet::state::{BlockInfo, Event, Genesis, State, TxResult};
use akash_proto::akash::base::attributes::v1::{Attribute, PlacementRequirements, SignedBy};
use akash_proto::akash::base::deposit::v1::Deposit;
use akash_proto::akash::base::resources::v1beta4::{
    Cpu, Endpoint, Gpu, Memory, ResourceValue, Resources, Storage,
};
use akash_proto::akash::deployment::v1::{DeploymentId, GroupId};
use akash_proto::akash::deployment::v1beta4::{
    GroupSpec, MsgCloseDeployment, MsgCreateDeployment, ResourceUnit,
};
use akash_proto::akash::market::v1::{BidId, LeaseId};
use akash_proto::akash::market::v1beta5::{
    MsgCloseBid, MsgCloseLease, MsgCreateBid, MsgCreateLease, MsgWithdrawLease,
};
use akash_proto::akash::provider::v1beta4::{Info, MsgCreateProvider};
use akash_proto::cosmos::auth::v1beta1::{QueryAccountInfoRequest, QueryAccountInfoResponse};
use akash_proto::cosmos::bank::v1beta1::{QueryBalanceRequest, QueryBalanceResponse};
use akash_proto::cosmos::base::v1beta1::{Coin, DecCoin};
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::v1beta1::mode_info::{Single, Sum};
use akash_proto::cosmos::tx::v1beta1::{
    AuthInfo, Fee, ModeInfo, SignDoc, SignerInfo, TxBody, TxRaw,
};
use akash_proto::to_any;
use akash_types::Address;
use k256::ecdsa::signature::Signer;
use k256::ecdsa::{Signature, SigningKey};
use prost::{Message, Name};
use prost_types::Any;
use sha2::{Digest, Sha256};

pub(crate) const CHAIN_ID: &str = "local";
/// 2026-11-15 18:52:36 UTC.
pub(crate) const START: i64 = 1_794_768_756_000_000_000;
pub(crate) const RICH: u64 = 10_000_000_000_000;

pub(crate) struct Wallet {
    key: SigningKey,
    public: Vec<u8>,
    pub(crate) address: Address,
}

impl Wallet {
    pub(crate) fn from_hex(text: &str) -> Self {
        Self::new(SigningKey::from_slice(&hex::decode(text).unwrap()).unwrap())
    }

    pub(crate) fn numbered(number: u32) -> Self {
        let seed = Sha256::digest(format!("wallet {number}"));
        Self::new(SigningKey::from_slice(&seed).unwrap())
    }

    fn new(key: SigningKey) -> Self {
        let public = key.verifying_key().to_sec1_point(true).as_bytes().to_vec();
        let hash = ripemd::Ripemd160::digest(Sha256::digest(&public));
        let address = Address::from_bytes(&hash).unwrap();
        Self { key, public, address }
    }

    pub(crate) fn text(&self) -> String {
        self.address.to_string()
    }
}

/// A transaction before it is signed.
pub(crate) struct Draft {
    pub(crate) body: TxBody,
    pub(crate) fee: Fee,
    pub(crate) chain_id: String,
    /// Sequence and account number instead of those of the chain.
    pub(crate) sequence: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) mode: i32,
    pub(crate) signed: bool,
}

impl Draft {
    pub(crate) fn new(messages: Vec<Any>) -> Self {
        let gas_limit = 400_000 * u64::try_from(messages.len()).unwrap();
        Self {
            body: TxBody { messages, ..TxBody::default() },
            fee: Fee { amount: vec![coin(gas_limit / 40, "uakt")], gas_limit, ..Fee::default() },
            chain_id: CHAIN_ID.to_owned(),
            sequence: None,
            number: None,
            mode: 1,
            signed: true,
        }
    }

    pub(crate) fn sign(&self, wallet: &Wallet, number: u64, sequence: u64) -> Vec<u8> {
        self.sign_by(&[(wallet, number, sequence)])
    }

    /// Signed by several, each with its account number and sequence.
    pub(crate) fn sign_by(&self, signers: &[(&Wallet, u64, u64)]) -> Vec<u8> {
        let signer_info = |(wallet, _, sequence): &(&Wallet, u64, u64)| SignerInfo {
            public_key: Some(to_any(&PubKey { key: wallet.public.clone() })),
            mode_info: Some(ModeInfo { sum: Some(Sum::Single(Single { mode: self.mode })) }),
            sequence: self.sequence.unwrap_or(*sequence),
        };
        let auth_info = AuthInfo {
            signer_infos: signers.iter().map(signer_info).collect(),
            fee: Some(self.fee.clone()),
            ..AuthInfo::default()
        };
        let (body_bytes, auth_info_bytes) = (self.body.encode_to_vec(), auth_info.encode_to_vec());
        let sign = |(wallet, number, _): &(&Wallet, u64, u64)| {
            let document = SignDoc {
                body_bytes: body_bytes.clone(),
                auth_info_bytes: auth_info_bytes.clone(),
                chain_id: self.chain_id.clone(),
                account_number: self.number.unwrap_or(*number),
            };
            let signature: Signature = wallet.key.sign(&document.encode_to_vec());
            if self.signed { signature.to_bytes().to_vec() } else { Vec::new() }
        };
        let signatures = signers.iter().map(sign).collect();
        TxRaw { body_bytes, auth_info_bytes, signatures }.encode_to_vec()
    }
}

/// A chain with wallets that hold coins, in the middle of a block.
pub(crate) struct Chain {
    pub(crate) state: State,
}

impl Chain {
    pub(crate) fn new(wallets: &[&Wallet]) -> Self {
        Self::with(&genesis(wallets))
    }

    pub(crate) fn with(genesis: &Genesis) -> Self {
        let mut chain = Self { state: State::from_genesis(genesis).unwrap() };
        chain.begin();
        chain
    }

    fn begin(&mut self) {
        let height = self.state.height() + 1;
        self.state.begin_block(block(height));
    }

    /// Ends the block and begins the next.
    pub(crate) fn next(&mut self) {
        self.state.end_block();
        self.state.commit();
        self.begin();
    }

    pub(crate) fn skip_to(&mut self, height: u64) {
        while self.state.height() < height {
            self.next();
        }
    }

    pub(crate) fn account(&self, wallet: &Wallet) -> (u64, u64) {
        let request = QueryAccountInfoRequest { address: wallet.text() };
        let path = "/cosmos.auth.v1beta1.Query/AccountInfo";
        let info = self.ask::<_, QueryAccountInfoResponse>(path, &request).info.unwrap();
        (info.account_number, info.sequence)
    }

    pub(crate) fn balance(&self, address: impl ToString, denom: &str) -> u128 {
        let request = QueryBalanceRequest { address: address.to_string(), denom: denom.to_owned() };
        let path = "/cosmos.bank.v1beta1.Query/Balance";
        let balance = self.ask::<_, QueryBalanceResponse>(path, &request).balance.unwrap();
        balance.amount.parse().unwrap()
    }

    pub(crate) fn ask<Q: Message, A: Message + Default>(&self, path: &str, request: &Q) -> A {
        let answer = self.state.query(path, &request.encode_to_vec()).unwrap();
        A::decode(answer.as_slice()).unwrap()
    }

    pub(crate) fn signed(&self, wallet: &Wallet, draft: &Draft) -> Vec<u8> {
        let (number, sequence) = self.account(wallet);
        draft.sign(wallet, number, sequence)
    }

    pub(crate) fn deliver(&mut self, wallet: &Wallet, messages: Vec<Any>) -> TxResult {
        let bytes = self.signed(wallet, &Draft::new(messages));
        self.state.deliver_tx(&bytes)
    }

    pub(crate) fn send<M: Name>(&mut self, wallet: &Wallet, message: &M) -> TxResult {
        let result = self.deliver(wallet, vec![to_any(message)]);
        assert_eq!((result.code, result.log.as_str()), (0, ""), "{}", M::full_name());
        result
    }

    /// Executes a message that fails; codespace, code and text without the usual prefix.
    pub(crate) fn refused<M: Name>(
        &mut self,
        wallet: &Wallet,
        message: &M,
    ) -> (String, u32, String) {
        let result = self.deliver(wallet, vec![to_any(message)]);
        assert_ne!(result.code, 0, "{} worked", M::full_name());
        let prefix = "failed to execute message; message index: 0: ";
        let log = result.log.strip_prefix(prefix).unwrap_or(&result.log).to_owned();
        (result.codespace, result.code, log)
    }
}

pub(crate) fn block(height: u64) -> BlockInfo {
    let seconds = i64::try_from(height).unwrap();
    BlockInfo { height, time_unix_nanos: START + seconds * 1_000_000_000, proposer: [7; 20] }
}

pub(crate) fn genesis(wallets: &[&Wallet]) -> Genesis {
    let coins =
        || vec![format!("{RICH}uact").parse().unwrap(), format!("{RICH}uakt").parse().unwrap()];
    let accounts = wallets.iter().map(|wallet| (wallet.address, coins())).collect();
    Genesis::for_devnet(CHAIN_ID, START, accounts)
}

/// A tenant and providers that are registered, in the middle of a block.
pub(crate) struct Market {
    pub(crate) chain: Chain,
    pub(crate) tenant: Wallet,
    pub(crate) providers: Vec<Wallet>,
}

impl Market {
    pub(crate) fn new(providers: u32) -> Self {
        let tenant = Wallet::numbered(0);
        let providers: Vec<Wallet> = (1..=providers).map(Wallet::numbered).collect();
        let all: Vec<&Wallet> = std::iter::once(&tenant).chain(&providers).collect();
        let mut chain = Chain::new(&all);
        for provider in &providers {
            chain.send(provider, &create_provider(provider));
        }
        chain.next();
        Self { chain, tenant, providers }
    }

    pub(crate) fn provider(&self) -> &Wallet {
        &self.providers[0]
    }

    /// With an open order of deployment `dseq`.
    pub(crate) fn order(&mut self, dseq: u64) {
        self.chain.send(&self.tenant, &create_deployment(&self.tenant, dseq));
        self.chain.next();
    }

    /// With an order and a bid of each provider.
    pub(crate) fn bids(&mut self, dseq: u64) {
        self.order(dseq);
        for provider in &self.providers {
            self.chain.send(provider, &create_bid(&self.tenant, dseq, provider));
        }
        self.chain.next();
    }

    /// With a lease of the first provider.
    pub(crate) fn lease(&mut self, dseq: u64) {
        self.bids(dseq);
        let create = create_lease(&self.tenant, dseq, self.provider());
        self.chain.send(&self.tenant, &create);
        self.chain.next();
    }
}

pub(crate) fn coin(amount: impl ToString, denom: &str) -> Coin {
    Coin { denom: denom.to_owned(), amount: amount.to_string() }
}

pub(crate) fn price(amount: u64, denom: &str) -> DecCoin {
    let amount = u128::from(amount) * 10_u128.pow(18);
    DecCoin { denom: denom.to_owned(), amount: amount.to_string() }
}

pub(crate) fn attribute(key: &str, value: &str) -> Attribute {
    Attribute { key: key.to_owned(), value: value.to_owned() }
}

pub(crate) fn deposit(amount: u64, denom: &str) -> Option<Deposit> {
    Some(Deposit { amount: Some(coin(amount, denom)), sources: vec![1] })
}

pub(crate) fn deployment_id(owner: &Wallet, dseq: u64) -> Option<DeploymentId> {
    Some(DeploymentId { owner: owner.text(), dseq })
}

pub(crate) fn group_id(owner: &Wallet, dseq: u64) -> Option<GroupId> {
    Some(GroupId { owner: owner.text(), dseq, gseq: 1 })
}

pub(crate) fn bid_id(owner: &Wallet, dseq: u64, provider: &Wallet) -> Option<BidId> {
    Some(BidId { owner: owner.text(), dseq, gseq: 1, oseq: 1, provider: provider.text(), bseq: 0 })
}

pub(crate) fn lease_id(owner: &Wallet, dseq: u64, provider: &Wallet) -> Option<LeaseId> {
    let BidId { owner, dseq, gseq, oseq, provider, bseq } = bid_id(owner, dseq, provider)?;
    Some(LeaseId { owner, dseq, gseq, oseq, provider, bseq })
}

fn value(number: u64) -> Option<ResourceValue> {
    Some(ResourceValue { val: number.to_string().into_bytes() })
}

pub(crate) fn group_spec() -> GroupSpec {
    GroupSpec {
        name: "westcoast".to_owned(),
        requirements: Some(PlacementRequirements {
            signed_by: Some(SignedBy::default()),
            attributes: vec![attribute("region", "us-west")],
            verification: None,
        }),
        resources: vec![ResourceUnit {
            resource: Some(Resources {
                id: 1,
                cpu: Some(Cpu { units: value(100), attributes: Vec::new() }),
                memory: Some(Memory { quantity: value(16_777_216), attributes: Vec::new() }),
                storage: vec![Storage {
                    name: "default".to_owned(),
                    quantity: value(134_217_728),
                    attributes: Vec::new(),
                }],
                gpu: Some(Gpu { units: value(0), attributes: Vec::new() }),
                endpoints: vec![Endpoint::default()],
            }),
            count: 1,
            price: Some(price(1_000, "uact")),
        }],
    }
}

pub(crate) fn create_deployment(owner: &Wallet, dseq: u64) -> MsgCreateDeployment {
    MsgCreateDeployment {
        id: deployment_id(owner, dseq),
        groups: vec![group_spec()],
        hash: vec![7; 32],
        deposit: deposit(5_000_000, "uact"),
        reclamation: None,
    }
}

pub(crate) fn close_deployment(owner: &Wallet, dseq: u64) -> MsgCloseDeployment {
    MsgCloseDeployment { id: deployment_id(owner, dseq) }
}

pub(crate) fn create_provider(owner: &Wallet) -> MsgCreateProvider {
    MsgCreateProvider {
        owner: owner.text(),
        host_uri: "https://127.0.0.1:8443".to_owned(),
        attributes: vec![
            attribute("region", "us-west"),
            attribute("capabilities/storage/1/persistent", "true"),
            attribute("capabilities/storage/1/class", "default"),
        ],
        info: Some(Info::default()),
    }
}

pub(crate) fn create_bid(owner: &Wallet, dseq: u64, provider: &Wallet) -> MsgCreateBid {
    MsgCreateBid {
        id: bid_id(owner, dseq, provider),
        price: Some(price(500, "uact")),
        deposit: deposit(500_000, "uakt"),
        resources_offer: Vec::new(),
        reclamation_window: None,
    }
}

pub(crate) fn close_bid(owner: &Wallet, dseq: u64, provider: &Wallet) -> MsgCloseBid {
    MsgCloseBid { id: bid_id(owner, dseq, provider), reason: 10_002 }
}

pub(crate) fn create_lease(owner: &Wallet, dseq: u64, provider: &Wallet) -> MsgCreateLease {
    MsgCreateLease { bid_id: bid_id(owner, dseq, provider) }
}

pub(crate) fn close_lease(owner: &Wallet, dseq: u64, provider: &Wallet) -> MsgCloseLease {
    MsgCloseLease { id: lease_id(owner, dseq, provider), reason: 0 }
}

pub(crate) fn withdraw(owner: &Wallet, dseq: u64, provider: &Wallet) -> MsgWithdrawLease {
    MsgWithdrawLease { id: lease_id(owner, dseq, provider) }
}

/// Types of the events of a result's messages, without the modules' names.
pub(crate) fn kinds(result: &TxResult) -> Vec<String> {
    let of_messages = result.events.iter().filter(|event| event.get("msg_index").is_some());
    let short = |event: &Event| event.kind.rsplit('.').next().unwrap().to_owned();
    of_messages
        .filter(|event| event.get("action").is_none())
        .filter(|event| !["coin_received", "message", "transfer"].contains(&event.kind.as_str()))
        .map(short)
        .collect()
}

pub(crate) fn refusal(codespace: &str, code: u32, text: &str) -> (String, u32, String) {
    (codespace.to_owned(), code, text.to_owned())
}
