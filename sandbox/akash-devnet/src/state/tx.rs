//! Transactions as bytes, and what becomes of them.

use akash_proto::cosmos::tx::v1beta1 as wire;
use akash_types::Address;
use prost::Message;

use super::address;
use super::coins::Coins;
use super::error::{Outcome, sdk};
use super::events::Event;
use super::msg::Msg;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxResult {
    /// 0 when it worked.
    pub code: u32,
    /// Module of the error; empty when it worked.
    pub codespace: String,
    /// `cosmos.base.abci.v1beta1.TxMsgData` with the answer of each message.
    pub data: Vec<u8>,
    /// Text of the error; empty when it worked.
    pub log: String,
    pub gas_wanted: i64,
    pub gas_used: i64,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What the fee is worth per unit of gas; only set by CheckTx.
    pub priority: i64,
}

impl TxResult {
    pub const fn is_ok(&self) -> bool {
        self.code == 0
    }
}

pub(crate) struct Tx {
    pub(crate) raw: wire::TxRaw,
    pub(crate) body: wire::TxBody,
    pub(crate) signer_infos: Vec<wire::SignerInfo>,
    pub(crate) fee: Fee,
    pub(crate) messages: Vec<Msg>,
    /// Who must sign: the signer of each message in order, then who pays.
    pub(crate) signers: Vec<Address>,
    pub(crate) size: u64,
}

pub(crate) struct Fee {
    /// `None` where the amount is not what the chain accepts as coins.
    pub(crate) amount: Option<Coins>,
    pub(crate) gas_limit: u64,
    pub(crate) payer: Option<Address>,
    pub(crate) granter: Option<Address>,
}

impl Tx {
    /// Reads a transaction and checks its messages by themselves, as the chain does before all else.
    pub(crate) fn decode(bytes: &[u8]) -> Outcome<Self> {
        let broken = |error: prost::DecodeError| sdk::TX_DECODE.wrap(error);
        let raw = wire::TxRaw::decode(bytes).map_err(broken)?;
        let body = wire::TxBody::decode(raw.body_bytes.as_slice()).map_err(broken)?;
        let auth = wire::AuthInfo::decode(raw.auth_info_bytes.as_slice()).map_err(broken)?;
        if body.messages.is_empty() {
            return Err(sdk::INVALID_REQUEST.wrap("must contain at least one message"));
        }
        let messages: Vec<Msg> = body.messages.iter().map(Msg::parse).collect::<Outcome<_>>()?;
        let fee = Fee::read(auth.fee.unwrap_or_default())?;
        let mut signers = Vec::new();
        for signer in messages.iter().map(Msg::signer).chain(fee.payer) {
            if !signers.contains(&signer) {
                signers.push(signer);
            }
        }
        // A length always fits.
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(Self { raw, body, signer_infos: auth.signer_infos, fee, messages, signers, size })
    }

    /// Who pays the fee: as named, else who signs first.
    pub(crate) fn payer(&self) -> Option<Address> {
        self.fee.payer.or(self.signers.first().copied())
    }
}

impl Fee {
    fn read(fee: wire::Fee) -> Outcome<Self> {
        let account = |text: &str| match text {
            "" => Ok(None),
            text => address::account(text).map(Some).map_err(|why| sdk::TX_DECODE.wrap(why)),
        };
        Ok(Self {
            amount: Coins::from_wire(&fee.amount),
            gas_limit: fee.gas_limit,
            payer: account(&fee.payer)?,
            granter: account(&fee.granter)?,
        })
    }
}
