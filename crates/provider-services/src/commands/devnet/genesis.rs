//! How a devnet starts: its name, its time, and who has what.

use std::path::Path;
use std::str::FromStr;
use std::time::SystemTime;

use akash_devnet::state::Genesis;
use akash_keys::keyring::{KeyRecord, Keyring, KeyringError};
use akash_keys::{HdPath, Mnemonic, random};
use akash_types::{Address, Coin};
use anyhow::{Context, bail};
use prost_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::FAUCET;
use crate::chain::values;

/// What the document is called in the directory of a devnet; the devnet itself writes it.
const FILE: &str = "genesis.json";
const CHAIN_ID: &str = "local";
/// The keys that are made, and what each has of either denomination.
const KEYS: [(&str, u128); 3] = [
    ("operator", 1_000_000_000_000),
    ("tenant", 1_000_000_000_000),
    (FAUCET, 1_000_000_000_000_000),
];

/// Somebody who has coins at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) name: String,
    pub(super) address: Address,
    pub(super) coins: Vec<Coin>,
}

impl FromStr for Grant {
    type Err = String;

    /// Reads `alice=akash1…=1000akt,1000act`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '=');
        let (Some(name), Some(address), Some(coins)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("expected NAME=ADDRESS=COINS".to_owned());
        };
        let address: Address =
            address.parse().map_err(|error: akash_types::AddressError| error.to_string())?;
        let coins: Result<Vec<Coin>, String> = coins.split(',').map(values::coin).collect();
        Ok(Self { name: name.to_owned(), address, coins: coins? })
    }
}

/// How a devnet starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) chain_id: String,
    pub(super) time_unix_nanos: i64,
    pub(super) accounts: Vec<Grant>,
}

impl Start {
    /// A new chain. Without accounts, keys are made and given coins.
    pub(super) fn new(
        chain_id: Option<&str>,
        accounts: &[Grant],
        keyring: &Keyring,
    ) -> anyhow::Result<Self> {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time_unix_nanos = i64::try_from(since_1970.unwrap_or_default().as_nanos());
        let accounts = match accounts {
            [] => KEYS.iter().map(|(name, amount)| make(name, *amount, keyring)).collect(),
            given => Ok(given.to_vec()),
        };
        Ok(Self {
            chain_id: chain_id.filter(|id| !id.is_empty()).unwrap_or(CHAIN_ID).to_owned(),
            time_unix_nanos: time_unix_nanos.context("the clock is far in the future")?,
            accounts: accounts?,
        })
    }

    /// The chain that was started in a directory before, if there is one.
    pub(super) fn read(state: &Path) -> anyhow::Result<Option<Self>> {
        let path = state.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let asked = || format!("{} is not of a devnet of this program", path.display());
        let file: File = serde_json::from_str(&text).with_context(asked)?;
        Ok(Some(file.try_into().with_context(asked)?))
    }

    /// What the chain's rules begin with.
    pub(super) fn genesis(&self) -> Genesis {
        let accounts = self.accounts.iter();
        let accounts = accounts.map(|grant| (grant.address, grant.coins.clone())).collect();
        Genesis::for_devnet(&self.chain_id, self.time_unix_nanos, accounts)
    }

    /// The document that the node shows, from which [`Start::read`] makes this again.
    pub(super) fn to_json(&self) -> String {
        // Texts and lists only: it cannot fail.
        serde_json::to_string_pretty(&File::from(self)).unwrap_or_default()
    }
}

/// A new key with coins; the key that is there, if one is.
fn make(name: &str, amount: u128, keyring: &Keyring) -> anyhow::Result<Grant> {
    let record = match keyring.get(name) {
        Ok(record) => record,
        Err(KeyringError::NoKey { .. }) => {
            let words = Mnemonic::generate(&*random::<32>()?)?;
            let record = KeyRecord::local(name, &words.derive("", &HdPath::default())?);
            keyring.add(&record)?;
            record
        }
        Err(error) => return Err(error.into()),
    };
    let address = record.address().with_context(|| format!("key {name} has no address"))?;
    let coin = |denom: &str| Ok(Coin::new(denom.parse()?, amount));
    let coins: anyhow::Result<Vec<Coin>> = ["uact", "uakt"].into_iter().map(coin).collect();
    Ok(Grant { name: name.to_owned(), address, coins: coins? })
}

#[derive(Deserialize, Serialize)]
struct File {
    genesis_time: String,
    chain_id: String,
    initial_height: String,
    app_hash: String,
    app_state: AppState,
}

#[derive(Deserialize, Serialize)]
struct AppState {
    accounts: Vec<FileAccount>,
}

#[derive(Deserialize, Serialize)]
struct FileAccount {
    name: String,
    address: String,
    coins: Vec<String>,
}

impl From<&Start> for File {
    fn from(start: &Start) -> Self {
        let account = |grant: &Grant| FileAccount {
            name: grant.name.clone(),
            address: grant.address.to_string(),
            coins: grant.coins.iter().map(ToString::to_string).collect(),
        };
        let (seconds, nanos) = (
            start.time_unix_nanos.div_euclid(1_000_000_000),
            i32::try_from(start.time_unix_nanos.rem_euclid(1_000_000_000)).unwrap_or_default(),
        );
        Self {
            genesis_time: Timestamp { seconds, nanos }.to_string(),
            chain_id: start.chain_id.clone(),
            initial_height: "1".to_owned(),
            app_hash: String::new(),
            app_state: AppState { accounts: start.accounts.iter().map(account).collect() },
        }
    }
}

impl TryFrom<File> for Start {
    type Error = anyhow::Error;

    fn try_from(file: File) -> anyhow::Result<Self> {
        let Ok(time) = file.genesis_time.parse::<Timestamp>() else {
            bail!("genesis_time is no time");
        };
        let nanos = time.seconds.checked_mul(1_000_000_000);
        let nanos = nanos.and_then(|nanos| nanos.checked_add(i64::from(time.nanos)));
        let account = |account: &FileAccount| {
            let coins: Result<Vec<Coin>, _> =
                account.coins.iter().map(|coin| coin.parse()).collect();
            Ok(Grant {
                name: account.name.clone(),
                address: account.address.parse().context("address")?,
                coins: coins.context("coins")?,
            })
        };
        let accounts: anyhow::Result<Vec<Grant>> =
            file.app_state.accounts.iter().map(account).collect();
        Ok(Self {
            chain_id: file.chain_id,
            time_unix_nanos: nanos.context("genesis_time is too far away")?,
            accounts: accounts?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRANT: &str = "alice=akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8=5akt,7uact";

    #[test]
    fn a_start_is_read_as_it_was_written() {
        let start = Start {
            chain_id: "local".to_owned(),
            time_unix_nanos: 1_794_768_793_868_880_948,
            accounts: vec![GRANT.parse().unwrap()],
        };
        let file: File = serde_json::from_str(&start.to_json()).unwrap();
        assert_eq!(Start::try_from(file).unwrap(), start);
    }

    #[test]
    fn accounts_are_named_addressed_and_paid() {
        let grant: Grant = GRANT.parse().unwrap();
        assert_eq!(grant.name, "alice");
        assert_eq!(
            grant.coins.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["5000000uakt", "7uact"]
        );
        for bad in ["", "a", "a=b=5akt", "a=akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8=x"] {
            assert!(bad.parse::<Grant>().is_err(), "{bad}");
        }
    }
}
