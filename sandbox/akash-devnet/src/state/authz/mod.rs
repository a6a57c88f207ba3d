//! Grants: messages and deposits that one account may make in the name of another.

mod grant;
mod message;

pub(crate) use grant::{Authorization, Grant};
pub(crate) use message::{Execute, MakeGrant, Revoke};

use std::sync::Arc;

use akash_types::{Address, Coin, Denom, EscrowScope};

use super::error::{GrpcCode, ModuleError};
use super::keys::Edge;
use super::run::Exec;
use super::tables::Tables;
use super::time;

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

    fn deposit_grant(
        &self,
        granter: Address,
        grantee: Address,
    ) -> Option<(Grant, grant::Deposits)> {
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
                grant.is_some_and(|grant| !time::is_over(grant.expiration.as_ref(), self.block))
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
        change: impl FnOnce(&grant::Deposits) -> Option<super::coins::Coins>,
    ) {
        let Some((grant, deposits)) = self.tables.deposit_grant(granter, grantee) else { return };
        let Some(limits) = change(&deposits) else { return };
        let authorization =
            Authorization::Deposit(grant::Deposits { limits, scopes: deposits.scopes });
        self.tables.put_grant(granter, grantee, Grant { authorization, ..grant });
    }
}
