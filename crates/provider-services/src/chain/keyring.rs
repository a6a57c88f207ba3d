//! Opening the keyring that flags name.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use akash_chain::tx::{BroadcastMode, FeeRule, GasAdjustment, Message, Signer};
use akash_keys::keyring::{
    Ask, Backend, KeyRecord, Keyring, KeyringError, NoPassphrase, OpenOptions,
};
use akash_keys::{AccountKey, Passphrase, SecretKey};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, ValueHint};

use super::maker::{Maker, Turn, broadcast_in_turn};
use super::network::Network;
use crate::console::Console;
use crate::surroundings::Surroundings;

/// How often a passphrase may be wrong, as in the Go program.
const TRIES: usize = 3;

/// Flags that say where keys are.
#[derive(Debug, Args)]
pub(crate) struct KeyringArgs {
    /// How keys are kept: os, file, test or memory
    #[arg(long, global = true, value_name = "BACKEND", default_value = "os")]
    pub(crate) keyring_backend: Backend,
    /// Directory of the keyring [default: --home]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) keyring_dir: Option<PathBuf>,
}

/// Opens the keyring. Its passphrase is asked for when it is first needed.
pub(crate) fn open(
    args: &KeyringArgs,
    surroundings: &Surroundings,
    console: Console,
) -> anyhow::Result<Keyring> {
    let directory = match &args.keyring_dir {
        Some(directory) => directory.clone(),
        None => surroundings.home()?.to_owned(),
    };
    let asked = AtomicBool::new(false);
    let options = OpenOptions {
        directory,
        passphrase: Box::new(move |ask: Ask<'_>| {
            passphrase(ask, asked.swap(true, Ordering::Relaxed), console)
        }),
        session_bus: surroundings.session_bus().map(str::to_owned),
    };
    Keyring::open(args.keyring_backend, options).context("cannot open the keyring")
}

/// Does something with a keyring, again if the passphrase was wrong.
pub(crate) fn thrice<T>(
    mut action: impl FnMut() -> Result<T, KeyringError>,
) -> Result<T, KeyringError> {
    for _ in 1..TRIES {
        match action() {
            Err(KeyringError::WrongPassphrase) => {}
            result => return result,
        }
    }
    action()
}

/// `again`: the one before was wrong, or it would not be asked for.
fn passphrase(ask: Ask<'_>, again: bool, console: Console) -> Result<Passphrase, NoPassphrase> {
    let (Ask::Unlock(directory) | Ask::Create(directory)) = ask;
    let prompt = |words: &str| format!("{words} keyring passphrase ({}): ", directory.display());
    let secret = |words: &str| {
        let typed = console.secret(&prompt(words), "the keyring passphrase");
        typed.map_err(|error| NoPassphrase(Box::new(error)))
    };
    let typed = secret(if again { "Incorrect passphrase. Enter" } else { "Enter" })?;
    if matches!(ask, Ask::Create(_)) && secret("Re-enter")? != typed {
        return Err(NoPassphrase("the two passphrases differ".into()));
    }
    Ok(typed)
}

/// An account, and what it takes to send something.
#[derive(Debug)]
pub(crate) struct Wallet<'a> {
    pub(crate) network: &'a Network,
    signer: AccountSigner,
    maker: Maker<'a>,
}

impl<'a> Wallet<'a> {
    pub(crate) fn new(
        network: &'a Network,
        signer: AccountSigner,
        chain_id: &'a str,
        fees: FeeRule,
        adjustment: GasAdjustment,
    ) -> Self {
        let maker =
            Maker { chain_id, fees, adjustment, granter: None, memo: "", timeout_height: 0 };
        Self { network, signer, maker }
    }

    pub(crate) fn address(&self) -> Address {
        self.signer.address()
    }

    /// Sends messages in one transaction and waits until a block has it.
    pub(crate) async fn send(&self, messages: &[Message]) -> anyhow::Result<()> {
        let Self { network, signer, maker } = self;
        let turn = next_turn(network, self.address()).await?;
        let (gas, turn) = maker.gas(network, messages, signer, turn).await?;
        let fee = maker.fee(gas)?;
        let signed = |turn| maker.sign(messages, &fee, signer, turn);
        let (tx, outcome) = broadcast_in_turn(network, BroadcastMode::Commit, turn, signed).await?;
        match outcome.refusal() {
            None => Ok(()),
            Some(refusal) => {
                let what = format!("transaction {} failed", tx.hash());
                Err(anyhow::Error::new(refusal).context(what))
            }
        }
    }
}

/// Number and sequence of an account, as the chain has them.
pub(crate) async fn next_turn(network: &Network, address: Address) -> anyhow::Result<Turn> {
    let account = network.query().account(address).await?.value;
    let account = account.with_context(|| {
        format!("account {address} is not on chain yet: it must receive something first")
    })?;
    Ok(Turn { number: account.number, sequence: account.sequence, free: true })
}

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
