//! What may be done, and until when.

use akash_proto::akash::escrow::v1::DepositAuthorization;
use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_proto::cosmos::base::v1beta1::Coin as WireCoin;
use akash_types::Coin;
use prost::{Message, Name};
use prost_types::{Any, Timestamp};

use super::DEPOSIT;
use crate::state::coins::Coins;
use crate::state::error::{GrpcCode, ModuleError, Outcome, sdk};

const INVALID_SCOPE: ModuleError =
    ModuleError::new("escrow", 17, GrpcCode::InvalidArgument, "invalid authz scope");
const SEND: &str = "/cosmos.bank.v1beta1.MsgSend";

/// One thing that one account lets another do.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) authorization: Authorization,
    pub(crate) expiration: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub(crate) enum Authorization {
    Generic(String),
    Send(Sends),
    Deposit(Deposits),
}

#[derive(Clone, Debug)]
pub(crate) struct Sends {
    pub(crate) limit: Coins,
    /// The only receivers; empty for any.
    pub(crate) receivers: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Deposits {
    pub(crate) limits: Coins,
    pub(crate) scopes: Vec<i32>,
}

/// `cosmos.bank.v1beta1.SendAuthorization`.
#[derive(Clone, PartialEq, Message)]
struct SendAuthorization {
    #[prost(message, repeated, tag = "1")]
    spend_limit: Vec<WireCoin>,
    #[prost(string, repeated, tag = "2")]
    allow_list: Vec<String>,
}

impl Name for SendAuthorization {
    const NAME: &'static str = "SendAuthorization";
    const PACKAGE: &'static str = "cosmos.bank.v1beta1";
}

impl Authorization {
    pub(crate) fn type_url(&self) -> &str {
        match self {
            Self::Generic(type_url) => type_url,
            Self::Send(_) => SEND,
            Self::Deposit(_) => DEPOSIT,
        }
    }

    pub(crate) fn read(any: &Any) -> Outcome<Self> {
        if let Ok(generic) = akash_proto::from_any::<wire::GenericAuthorization>(any) {
            return Ok(Self::Generic(generic.msg));
        }
        if let Ok(send) = akash_proto::from_any::<SendAuthorization>(any) {
            let limit = Coins::from_wire(&send.spend_limit).filter(|limit| !limit.is_empty());
            let limit =
                limit.ok_or_else(|| sdk::INVALID_COINS.wrap("spend limit must be positive"))?;
            return Ok(Self::Send(Sends { limit, receivers: send.allow_list }));
        }
        if let Ok(deposit) = akash_proto::from_any::<DepositAuthorization>(any) {
            return Self::read_deposit(deposit);
        }
        Err(sdk::NOT_SUPPORTED.wrap(format_args!(
            "authorization {}: this network knows GenericAuthorization, SendAuthorization and \
             DepositAuthorization",
            any.type_url
        )))
    }

    fn read_deposit(deposit: DepositAuthorization) -> Outcome<Self> {
        if deposit.scopes.is_empty() {
            return Err(INVALID_SCOPE.wrap("empty scope"));
        }
        for (index, scope) in deposit.scopes.iter().enumerate() {
            if !(1..=2).contains(scope) {
                return Err(INVALID_SCOPE.wrap(format_args!("invalid scope \"{scope}\"")));
            }
            if deposit.scopes.iter().skip(index + 1).any(|other| other == scope) {
                return Err(INVALID_SCOPE.wrap(format_args!("duplicate scope \"{scope}\"")));
            }
        }
        let invalid = || sdk::INVALID_COINS.wrap("spend limit cannot be negative");
        let mut limits = Coins::from_wire(&deposit.spend_limits).ok_or_else(invalid)?;
        if let Some(limit) = deposit.spend_limit.filter(|limit| !limit.denom.is_empty()) {
            let limit = Coin::try_from(limit).map_err(|_| invalid())?;
            limits = limits.plus(&limit).ok_or_else(invalid)?;
        }
        if limits.is_empty() {
            return Err(invalid());
        }
        Ok(Self::Deposit(Deposits { limits, scopes: deposit.scopes }))
    }

    pub(crate) fn to_any(&self) -> Any {
        match self {
            Self::Generic(msg) => {
                akash_proto::to_any(&wire::GenericAuthorization { msg: msg.clone() })
            }
            Self::Send(sends) => akash_proto::to_any(&SendAuthorization {
                spend_limit: sends.limit.to_wire(),
                allow_list: sends.receivers.clone(),
            }),
            Self::Deposit(deposits) => akash_proto::to_any(&DepositAuthorization {
                spend_limit: Some(WireCoin::default()),
                scopes: deposits.scopes.clone(),
                spend_limits: deposits.limits.to_wire(),
            }),
        }
    }
}
