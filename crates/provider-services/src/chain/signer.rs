//! Who a transaction is from.

use akash_chain::tx::Signer;
use akash_keys::keyring::{KeyRecord, KeyringError};
use akash_keys::{AccountKey, SecretKey};
use akash_types::Address;
use anyhow::Context;

use super::keyring::{KeyringArgs, open, thrice};
use crate::console::Console;
use crate::surroundings::Surroundings;

/// The account that `--from` names.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) address: Address,
    /// Its key in the keyring; absent where only an address was given.
    pub(crate) record: Option<KeyRecord>,
}

impl Account {
    /// The account that a name or an address of the keyring stands for.
    pub(crate) fn find(
        from: &str,
        args: &KeyringArgs,
        surroundings: &Surroundings,
        console: Console,
    ) -> anyhow::Result<Self> {
        let keyring = open(args, surroundings, console)?;
        let record = thrice(|| keyring.find(from)).map_err(|error| {
            let hint = match &error {
                KeyringError::NoKey { .. } | KeyringError::NoAccount { .. } => {
                    format!(
                        "--from {from}: is it in another keyring than --keyring-backend {}?",
                        args.keyring_backend
                    )
                }
                _ => format!("--from {from}"),
            };
            anyhow::Error::new(error).context(hint)
        })?;
        let address = record.address().with_context(|| format!("--from {from} has no address"))?;
        Ok(Self { address, record: Some(record) })
    }

    pub(crate) fn public_key(&self) -> Option<[u8; 33]> {
        match self.record.as_ref()?.public_key() {
            AccountKey::Secp256k1(key) => Some(key.to_bytes()),
            _ => None,
        }
    }

    pub(crate) fn secret(&self) -> anyhow::Result<SecretKey> {
        match &self.record {
            Some(record) => Ok(record.secret_key()?),
            None => anyhow::bail!(
                "--from {} is an address without a key in the keyring; give the name of a key",
                self.address
            ),
        }
    }
}

/// Signs for an account, or only says who would: a simulation looks at no signature.
#[derive(Clone, Debug)]
pub(crate) struct AccountSigner {
    address: Address,
    public_key: [u8; 33],
    secret: Option<SecretKey>,
}

impl AccountSigner {
    pub(crate) fn new(secret: SecretKey) -> Self {
        let public = secret.public_key();
        Self { address: public.address(), public_key: public.to_bytes(), secret: Some(secret) }
    }

    /// Somebody who cannot sign.
    pub(crate) const fn only_public(address: Address, public_key: [u8; 33]) -> Self {
        Self { address, public_key, secret: None }
    }
}

impl Signer for AccountSigner {
    fn address(&self) -> Address {
        self.address
    }

    fn public_key(&self) -> [u8; 33] {
        self.public_key
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.secret.as_ref().map_or([0; 64], |secret| secret.sign(bytes))
    }
}
