//! Grants: messages and deposits that one account may make in the name of another.

mod message;

pub(crate) use message::{Execute, MakeGrant, Revoke};

use std::sync::Arc;

use akash_proto::akash::escrow::v1::DepositAuthorization;
use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_proto::cosmos::base::v1beta1::Coin as WireCoin;
use akash_types::{Address, Coin, Denom, EscrowScope};
use prost::{Message, Name};
use prost_types::{Any, Timestamp};

use super::error::{GrpcCode, ModuleError};
use super::keys::Edge;
use super::run::Exec;
use super::tables::Tables;
use crate::state::coins::Coins;
use crate::state::error::{Outcome, sdk};

const SPACE: &str = "authz";

const fn error(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::Unknown, text)
}

const NOT_FOUND: ModuleError = error(2, "authorization not found");
const INVALID_EXPIRATION: ModuleError =
    error(3, "expiration time of authorization should be more than current time");
const EXPIRED: ModuleError = error(6, "authorization expired");
const SELF_GRANT: ModuleError = error(7, "grantee and granter should be different");

const DEPOSIT: &str = "/akash.escrow.v1.MsgAccountDeposit";

pub(crate) type GrantKey = (Address, Edge<Address>, Edge<Arc<str>>);
pub(crate) type GranteeKey = (Address, Edge<Arc<str>>, Edge<Address>);

pub(crate) fn key(granter: Address, grantee: Address, type_url: &str) -> GrantKey {
    (granter, Edge::Is(grantee), Edge::Is(Arc::from(type_url)))
}

impl Tables {
    fn put_grant(&mut self, granter: Address, grantee: Address, grant: Grant) {
        let type_url: Arc<str> = Arc::from(grant.authorization.type_url());
        let by_grantee = (grantee, Edge::Is(Arc::clone(&type_url)), Edge::Is(granter));
        self.grants_by_grantee.insert(by_grantee, ());
        self.grants.insert((granter, Edge::Is(grantee), Edge::Is(type_url)), grant);
    }

    fn remove_grant(&mut self, granter: Address, grantee: Address, type_url: &str) {
        let type_url: Arc<str> = Arc::from(type_url);
        self.grants_by_grantee.remove(&(
            grantee,
            Edge::Is(Arc::clone(&type_url)),
            Edge::Is(granter),
        ));
        self.grants.remove(&(granter, Edge::Is(grantee), Edge::Is(type_url)));
    }

    fn deposit_grant(&self, granter: Address, grantee: Address) -> Option<(Grant, Deposits)> {
        let grant = self.grants.get(&key(granter, grantee, DEPOSIT))?;
        match &grant.authorization {
            Authorization::Deposit(deposits) => Some((grant.clone(), deposits.clone())),
            Authorization::Generic(_) | Authorization::Send(_) => None,
        }
    }
}

impl Exec {
    /// Who lets this account deposit their coins, and still does.
    pub(crate) fn deposit_granters(&self, grantee: Address) -> Vec<Address> {
        let deposit: Edge<Arc<str>> = Edge::Is(Arc::from(DEPOSIT));
        let (first, last) =
            ((grantee, deposit.clone(), Edge::First), (grantee, deposit, Edge::Last));
        let keys = self.tables.grants_by_grantee.between(first, last);
        keys.filter_map(|((.., granter), ())| granter.get().copied())
            .filter(|granter| {
                let grant = self.tables.grants.get(&key(*granter, grantee, DEPOSIT));
                grant.is_some_and(|grant| !self.block.is_after(grant.expiration.as_ref()))
            })
            .collect()
    }

    /// How much of a denomination may still be deposited for someone, and is there.
    pub(crate) fn deposit_limit(
        &self,
        granter: Address,
        grantee: Address,
        scope: EscrowScope,
        denom: &Denom,
    ) -> u128 {
        match self.tables.deposit_grant(granter, grantee) {
            Some((_, deposits)) if deposits.scopes.contains(&scope.code()) => {
                deposits.limits.amount_of(denom.as_str())
            }
            _ => 0,
        }
    }

    /// Counts a deposit against its grant, which stays even when nothing is left of it.
    pub(crate) fn lower_deposit_limit(
        &mut self,
        granter: Address,
        grantee: Address,
        denom: &Denom,
        taken: u128,
    ) {
        let coin = Coin::new(denom.clone(), taken);
        self.change_deposit_limit(granter, grantee, |deposits| deposits.limits.minus(&coin));
    }

    /// Gives back to a grant what comes back to its granter.
    pub(crate) fn restore_deposit_grant(
        &mut self,
        granter: Address,
        grantee: Address,
        coin: &Coin,
    ) {
        self.change_deposit_limit(granter, grantee, |deposits| deposits.limits.plus(coin));
    }

    fn change_deposit_limit(
        &mut self,
        granter: Address,
        grantee: Address,
        change: impl FnOnce(&Deposits) -> Option<super::coins::Coins>,
    ) {
        let Some((grant, deposits)) = self.tables.deposit_grant(granter, grantee) else { return };
        let Some(limits) = change(&deposits) else { return };
        let authorization = Authorization::Deposit(Deposits { limits, scopes: deposits.scopes });
        self.tables.put_grant(granter, grantee, Grant { authorization, ..grant });
    }
}

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
