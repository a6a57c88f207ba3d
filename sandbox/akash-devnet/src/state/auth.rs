//! Accounts: numbers, sequences, public keys.

use akash_types::Address;

use super::address;
use super::run::Exec;
use super::tables::Tables;

/// What the chain knows of one account besides its coins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) number: u64,
    /// How many transactions it signed; part of the next signature.
    pub(crate) sequence: u64,
    /// Compressed; known once it signed.
    pub(crate) public_key: Option<[u8; 33]>,
    /// The module it belongs to, with what that may do with coins.
    pub(crate) module: Option<Module>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) name: &'static str,
    pub(crate) permissions: &'static [&'static str],
}

pub(crate) const FEE_COLLECTOR: &str = "fee_collector";
pub(crate) const DISTRIBUTION: &str = "distribution";
pub(crate) const ESCROW: &str = "escrow";

pub(crate) const MODULES: [Module; 3] = [
    Module { name: FEE_COLLECTOR, permissions: &[] },
    Module { name: DISTRIBUTION, permissions: &[] },
    Module { name: ESCROW, permissions: &[] },
];

pub(crate) fn module_of(address: Address) -> Option<Module> {
    MODULES.into_iter().find(|module| address::module(module.name) == Some(address))
}

impl Tables {
    /// Makes the account with the next number, unless there is one.
    pub(crate) fn ensure_account(&mut self, address: Address) {
        if self.accounts.contains(&address) {
            return;
        }
        let number = self.accounts_by_number.iter().next_back().map_or(0, |(last, _)| last + 1);
        let module = module_of(address);
        let account = Account { number, sequence: 0, public_key: None, module };
        self.accounts.insert(address, account);
        self.accounts_by_number.insert(number, address);
    }
}

impl Exec {
    pub(crate) fn module_address(name: &str) -> super::error::Outcome<Address> {
        address::module(name).ok_or_else(|| {
            super::error::TxError::panic(format_args!("module account {name} does not exist"))
        })
    }
}
