//! Accounts: their number, sequence and public key.

use akash_proto::cosmos::auth::v1beta1 as wire;
use akash_proto::cosmos::vesting::v1beta1 as vesting;
use akash_proto::{AnyError, from_any};
use akash_types::Address;
use prost::Name;
use prost_types::Any;

use akash_keys::AccountKey;

use super::{Answer, Malformed, Query, QueryError, Transport, method};

/// An account, of whatever kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Which one.
    pub address: Address,
    /// Its number, part of what is signed.
    pub number: u64,
    /// How many transactions it has sent: the sequence of the next one.
    pub sequence: u64,
    /// Its public key; absent until it has signed something.
    pub public_key: Option<AccountKey>,
}

impl<T: Transport> Query<T> {
    /// One account; `None` if it never received anything.
    pub async fn account(&self, address: Address) -> Result<Answer<Option<Account>>, QueryError> {
        let request = wire::QueryAccountRequest { address: address.to_string() };
        let convert = |answer: wire::QueryAccountResponse| {
            account(answer.account.ok_or(Malformed::Missing { part: "account" })?)
        };
        self.find(|| format!("account {address}"), method::ACCOUNT, &request, convert).await
    }
}

/// Takes the base account out of any kind of account.
fn account(any: Any) -> Result<Account, Malformed> {
    let base = match any.type_url.as_str() {
        "/cosmos.auth.v1beta1.BaseAccount" => Some(open::<wire::BaseAccount>(&any)?),
        "/cosmos.auth.v1beta1.ModuleAccount" => open::<wire::ModuleAccount>(&any)?.base_account,
        "/cosmos.vesting.v1beta1.BaseVestingAccount" => {
            open::<vesting::BaseVestingAccount>(&any)?.base_account
        }
        "/cosmos.vesting.v1beta1.ContinuousVestingAccount" => {
            vested(open::<vesting::ContinuousVestingAccount>(&any)?.base_vesting_account)
        }
        "/cosmos.vesting.v1beta1.DelayedVestingAccount" => {
            vested(open::<vesting::DelayedVestingAccount>(&any)?.base_vesting_account)
        }
        "/cosmos.vesting.v1beta1.PeriodicVestingAccount" => {
            vested(open::<vesting::PeriodicVestingAccount>(&any)?.base_vesting_account)
        }
        "/cosmos.vesting.v1beta1.PermanentLockedAccount" => {
            vested(open::<vesting::PermanentLockedAccount>(&any)?.base_vesting_account)
        }
        _ => {
            let (part, expected) = ("account type", "a base, module or vesting account");
            return Err(Malformed::Unexpected { part, found: any.type_url, expected });
        }
    };
    let base = base.ok_or(Malformed::Missing { part: "base account" })?;
    let address = base
        .address
        .parse::<Address>()
        .map_err(|source| Malformed::part("account address", source))?;
    Ok(Account {
        address,
        number: base.account_number,
        sequence: base.sequence,
        public_key: base.pub_key.as_ref().map(AccountKey::from_any),
    })
}

fn vested(account: Option<vesting::BaseVestingAccount>) -> Option<wire::BaseAccount> {
    account.and_then(|account| account.base_account)
}

fn open<M: Name + Default>(any: &Any) -> Result<M, Malformed> {
    from_any(any).map_err(|error| match error {
        AnyError::Decode { type_url, source } => Malformed::Protobuf { message: type_url, source },
        AnyError::WrongType { found, .. } => {
            let (part, expected) = ("packed message", "the type its container names");
            Malformed::Unexpected { part, found, expected }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use akash_keys::SecretKey;
    use akash_proto::to_any;

    const ADDRESS: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn key() -> AccountKey {
        SecretKey::from_bytes(&[7; 32]).unwrap().public_key().into()
    }

    fn base() -> wire::BaseAccount {
        wire::BaseAccount {
            address: ADDRESS.to_owned(),
            pub_key: Some(key().to_any()),
            account_number: 7,
            sequence: 9,
        }
    }

    #[test]
    fn every_kind_of_account_is_unwrapped() {
        let vesting = vesting::BaseVestingAccount {
            base_account: Some(base()),
            ..vesting::BaseVestingAccount::default()
        };
        let inner = || Some(vesting.clone());
        let expected = Account {
            address: ADDRESS.parse().unwrap(),
            number: 7,
            sequence: 9,
            public_key: Some(key()),
        };
        for any in [
            to_any(&base()),
            to_any(&wire::ModuleAccount { base_account: Some(base()), ..Default::default() }),
            to_any(&vesting),
            to_any(&vesting::ContinuousVestingAccount {
                base_vesting_account: inner(),
                start_time: 1,
            }),
            to_any(&vesting::DelayedVestingAccount { base_vesting_account: inner() }),
            to_any(&vesting::PeriodicVestingAccount {
                base_vesting_account: inner(),
                ..Default::default()
            }),
            to_any(&vesting::PermanentLockedAccount { base_vesting_account: inner() }),
        ] {
            assert_eq!(account(any.clone()).as_ref(), Ok(&expected), "{}", any.type_url);
        }
    }

    #[test]
    fn keys_of_other_kinds_are_kept_and_accounts_of_other_kinds_refused() {
        let key = Any { type_url: "/ethermint.crypto.v1.PubKey".to_owned(), value: vec![1] };
        let other = wire::BaseAccount { pub_key: Some(key.clone()), ..base() };
        let found = account(to_any(&other)).unwrap().public_key;
        assert_eq!(found, Some(AccountKey::Other(key)));
        let silent = wire::BaseAccount { pub_key: None, ..base() };
        assert_eq!(account(to_any(&silent)).unwrap().public_key, None);
        let unknown = Any { type_url: "/ethermint.types.v1.EthAccount".to_owned(), value: vec![] };
        assert!(matches!(account(unknown), Err(Malformed::Unexpected { .. })));
        let hollow = to_any(&wire::ModuleAccount::default());
        assert_eq!(account(hollow), Err(Malformed::Missing { part: "base account" }));
        let broken = Any { value: vec![0x0a, 0xff], ..to_any(&base()) };
        assert!(matches!(account(broken), Err(Malformed::Protobuf { .. })));
    }
}
