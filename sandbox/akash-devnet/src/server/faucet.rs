//! Coins for whoever asks, by an ordinary transaction.

use std::collections::HashMap;

use akash_proto::cosmos::auth::v1beta1::{QueryAccountInfoRequest, QueryAccountInfoResponse};
use akash_proto::cosmos::bank::v1beta1::MsgSend;
use akash_proto::cosmos::base::v1beta1::Coin as WireCoin;
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::signing::v1beta1::SignMode;
use akash_proto::cosmos::tx::v1beta1 as wire;
use akash_types::{Address, Coin};
use bytes::Bytes;
use http::StatusCode;
use k256::ecdsa::signature::Signer;
use k256::ecdsa::{Signature, SigningKey};
use prost::Message;
use ripemd::Ripemd160;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::node::{App, Checked};

use super::context::{Context, SendError};
use super::start::FaucetConfig;

const ACCOUNT_INFO: &str = "/cosmos.auth.v1beta1.Query/AccountInfo";
/// More gas than a transfer needs, and the least fee for it at 0.025uakt per unit.
const GAS: u64 = 200_000;
const FEE: &str = "5000";
/// The code of a transaction with the wrong sequence.
const WRONG_SEQUENCE: u32 = 32;
/// How often to try again when someone else used the faucet's key.
const ATTEMPTS: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum FaucetError {
    #[error("the faucet's key is not a secp256k1 key")]
    Key,
    #[error("reading the faucet's amount")]
    Amount(#[source] akash_types::CoinError),
}

pub(super) struct Faucet {
    key: SigningKey,
    public_key: Vec<u8>,
    address: Address,
    amount: Coin,
    /// One transaction at a time, or two would have the same sequence.
    turn: Mutex<()>,
}

impl Faucet {
    pub(super) fn new(config: FaucetConfig) -> Result<Self, FaucetError> {
        let key = SigningKey::from_slice(&config.secret).map_err(|_| FaucetError::Key)?;
        let public_key = key.verifying_key().to_sec1_point(true).as_bytes().to_vec();
        let digest = Ripemd160::digest(Sha256::digest(&public_key));
        let address = Address::from_bytes(&digest).map_err(|_| FaucetError::Key)?;
        let amount = config.amount.parse().map_err(FaucetError::Amount)?;
        Ok(Self { key, public_key, address, amount, turn: Mutex::new(()) })
    }

    fn transfer(&self, to: Address, coin: &Coin, chain_id: &str, account: &Account) -> Bytes {
        let amount =
            WireCoin { denom: coin.denom().to_string(), amount: coin.amount().to_string() };
        let send = MsgSend {
            from_address: self.address.to_string(),
            to_address: to.to_string(),
            amount: vec![amount],
        };
        let body = wire::TxBody {
            messages: vec![akash_proto::to_any(&send)],
            memo: "faucet".to_owned(),
            ..wire::TxBody::default()
        };
        let single = wire::mode_info::Single { mode: SignMode::Direct.into() };
        let signer = wire::SignerInfo {
            public_key: Some(akash_proto::to_any(&PubKey { key: self.public_key.clone() })),
            mode_info: Some(wire::ModeInfo { sum: Some(wire::mode_info::Sum::Single(single)) }),
            sequence: account.sequence,
        };
        let fee = wire::Fee {
            amount: vec![WireCoin { denom: "uakt".to_owned(), amount: FEE.to_owned() }],
            gas_limit: GAS,
            ..wire::Fee::default()
        };
        let auth =
            wire::AuthInfo { signer_infos: vec![signer], fee: Some(fee), ..Default::default() };
        let doc = wire::SignDoc {
            body_bytes: body.encode_to_vec(),
            auth_info_bytes: auth.encode_to_vec(),
            chain_id: chain_id.to_owned(),
            account_number: account.number,
        };
        let signature: Signature = self.key.sign(&doc.encode_to_vec());
        let raw = wire::TxRaw {
            body_bytes: doc.body_bytes,
            auth_info_bytes: doc.auth_info_bytes,
            signatures: vec![signature.to_bytes().to_vec()],
        };
        raw.encode_to_vec().into()
    }
}

struct Account {
    number: u64,
    sequence: u64,
}

/// What was asked for, in the query or the body.
#[derive(Debug, Default, Deserialize)]
struct Wish {
    #[serde(default)]
    address: String,
    /// Such as `5000000uakt`, or a number beside a denomination.
    #[serde(default)]
    amount: String,
    #[serde(default)]
    denom: String,
}

#[derive(Serialize)]
struct Given {
    hash: String,
    height: String,
    amount: String,
}

#[derive(Serialize)]
struct Refused {
    error: String,
}

/// Gives coins and waits until they are there; the status and JSON of the answer.
pub(super) async fn give<A: App>(
    context: &Context<A>,
    mut query: HashMap<String, String>,
    body: &[u8],
) -> (StatusCode, String) {
    let mut wish: Wish = if body.is_empty() {
        Wish::default()
    } else {
        match serde_json::from_slice(body) {
            Ok(wish) => wish,
            Err(error) => return refused(StatusCode::BAD_REQUEST, error),
        }
    };
    for (name, field) in
        [("address", &mut wish.address), ("amount", &mut wish.amount), ("denom", &mut wish.denom)]
    {
        if let Some(value) = query.remove(name) {
            *field = value;
        }
    }
    match fulfil(context, &wish).await {
        Ok(given) => (StatusCode::OK, serde_json::to_string(&given).unwrap_or_default()),
        Err((status, why)) => refused(status, why),
    }
}

fn refused(status: StatusCode, why: impl ToString) -> (StatusCode, String) {
    let refused = Refused { error: why.to_string() };
    (status, serde_json::to_string(&refused).unwrap_or_default())
}

async fn fulfil<A: App>(context: &Context<A>, wish: &Wish) -> Result<Given, (StatusCode, String)> {
    let bad = |why: String| (StatusCode::BAD_REQUEST, why);
    let failed = |why: &str| (StatusCode::INTERNAL_SERVER_ERROR, why.to_owned());
    let Some(faucet) = &context.faucet else {
        return Err((StatusCode::NOT_FOUND, "this chain has no faucet".to_owned()));
    };
    let to: Address = wish
        .address
        .parse()
        .map_err(|why: akash_types::AddressError| bad(format!("address: {why}")))?;
    let coin = wanted(faucet, wish).map_err(|why| bad(format!("amount: {why}")))?;
    let checked = send(context, faucet, to, &coin).await.map_err(|why| failed(&why))?;
    if !checked.result.is_ok() {
        return Err(failed(&checked.result.log));
    }
    let included = timeout(context.commit_timeout, context.included(&checked.hash)).await;
    let Ok(Some((block, index))) = included else {
        return Err(failed("timed out waiting for tx to be included in a block"));
    };
    match block.tx(index) {
        Some((_, _, result)) if !result.is_ok() => Err(failed(&result.log)),
        _ => Ok(Given {
            hash: hex::encode_upper(checked.hash),
            height: block.height().to_string(),
            amount: coin.to_string(),
        }),
    }
}

/// The coins that were asked for, or the usual ones.
fn wanted(faucet: &Faucet, wish: &Wish) -> Result<Coin, akash_types::CoinError> {
    match (wish.amount.as_str(), wish.denom.as_str()) {
        ("", "") => Ok(faucet.amount.clone()),
        ("", denom) => format!("{}{denom}", faucet.amount.amount()).parse(),
        (amount, denom) => format!("{amount}{denom}").parse::<Coin>()?.normalize(),
    }
}

async fn send<A: App>(
    context: &Context<A>,
    faucet: &Faucet,
    to: Address,
    coin: &Coin,
) -> Result<Checked, String> {
    let _turn = faucet.turn.lock().await;
    for _ in 1..ATTEMPTS {
        let checked = send_once(context, faucet, to, coin).await?;
        if checked.result.code != WRONG_SEQUENCE {
            return Ok(checked);
        }
    }
    send_once(context, faucet, to, coin).await
}

async fn send_once<A: App>(
    context: &Context<A>,
    faucet: &Faucet,
    to: Address,
    coin: &Coin,
) -> Result<Checked, String> {
    let view = context.view();
    let request = QueryAccountInfoRequest { address: faucet.address.to_string() };
    // Of the state with what waits: several in one block get consecutive sequences.
    let answer = view.check.query(ACCOUNT_INFO, &request.encode_to_vec());
    let answer = answer.map_err(|why| why.to_string())?;
    let answer =
        QueryAccountInfoResponse::decode(answer.as_slice()).map_err(|why| why.to_string())?;
    let info = answer.info.unwrap_or_default();
    let account = Account { number: info.account_number, sequence: info.sequence };
    let tx = faucet.transfer(to, coin, &view.chain.chain_id, &account);
    context.broadcast(tx).await.map_err(|why: SendError| why.to_string())
}
