//! Balances.

use akash_proto::cosmos::bank::v1beta1 as wire;
use akash_proto::cosmos::base::v1beta1 as base;
use akash_types::{Address, Coin, Denom};

use super::ask::{part, whole};
use super::{Answer, List, Query, QueryError, Transport, method};

impl<T: Transport> Query<T> {
    /// What an account has of one denomination; an unknown account has none.
    pub async fn balance(
        &self,
        address: Address,
        denom: &Denom,
    ) -> Result<Answer<Coin>, QueryError> {
        let request = wire::QueryBalanceRequest {
            address: address.to_string(),
            denom: denom.as_str().to_owned(),
        };
        let asked = || format!("balance of {address} in {}", denom.as_str());
        let convert = |answer: wire::QueryBalanceResponse| part("balance", answer.balance);
        self.get(asked, method::BALANCE, &request, convert).await
    }

    /// What an account has, also what it cannot spend yet.
    pub async fn balances(&self, address: Address) -> Result<Answer<List<Coin>>, QueryError> {
        let request = |page| wire::QueryAllBalancesRequest {
            address: address.to_string(),
            pagination: Some(page),
            resolve_denom: false,
        };
        let listing = (
            |answer: wire::QueryAllBalancesResponse| (answer.balances, answer.pagination),
            name,
            |coin: base::Coin| whole("coin", coin),
        );
        let asked = || format!("balances of {address}");
        self.list(asked, method::ALL_BALANCES, request, listing).await
    }

    /// What an account can spend.
    pub async fn spendable_balances(
        &self,
        address: Address,
    ) -> Result<Answer<List<Coin>>, QueryError> {
        let request = |page| wire::QuerySpendableBalancesRequest {
            address: address.to_string(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QuerySpendableBalancesResponse| (answer.balances, answer.pagination),
            name,
            |coin: base::Coin| whole("coin", coin),
        );
        let asked = || format!("spendable balances of {address}");
        self.list(asked, method::SPENDABLE_BALANCES, request, listing).await
    }
}

fn name(coin: &base::Coin) -> String {
    format!("balance in {:?}", coin.denom)
}
