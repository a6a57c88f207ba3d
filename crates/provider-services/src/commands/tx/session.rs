//! Who sends a transaction, and through which node.

use akash_types::Address;
use anyhow::{Context, bail};

use super::args::TxArgs;
use crate::chain::{Account, Network};
use crate::console::Console;
use crate::surroundings::Surroundings;

/// What a command that makes messages may use.
pub(super) struct Session<'a> {
    pub(super) args: &'a TxArgs,
    pub(super) surroundings: &'a Surroundings,
    pub(super) account: Account,
    network: Option<Network>,
}

impl<'a> Session<'a> {
    /// Finds the key and prepares to talk to the node, as flags say; `from` is a key that was named
    /// in another way than by its flag.
    pub(super) fn open(
        args: &'a TxArgs,
        from: Option<&str>,
        surroundings: &'a Surroundings,
        console: Console,
    ) -> anyhow::Result<Self> {
        let account = account(args, from, surroundings, console)?;
        let network = match args.offline {
            true => None,
            false => {
                let grpc = args.grpc_addr.as_deref();
                Some(Network::new(
                    surroundings.node(),
                    grpc,
                    args.grpc_insecure,
                    &surroundings.to_node()?,
                )?)
            }
        };
        Ok(Self { args, surroundings, account, network })
    }

    pub(super) const fn from(&self) -> Address {
        self.account.address
    }

    /// The node, for a command that cannot do without; `instead` says what would help.
    pub(super) fn network(&self, instead: &str) -> anyhow::Result<&Network> {
        self.network.as_ref().with_context(|| format!("--offline: {instead}"))
    }

    /// The node, unless --offline.
    pub(super) const fn node(&self) -> Option<&Network> {
        self.network.as_ref()
    }
}

fn account(
    args: &TxArgs,
    from: Option<&str>,
    surroundings: &Surroundings,
    console: Console,
) -> anyhow::Result<Account> {
    let Some(from) = from.or(args.from.as_deref()).filter(|from| !from.is_empty()) else {
        bail!("--from is missing: name the key that signs");
    };
    let address = from.parse::<Address>().ok();
    // Who only generates needs no key, and perhaps has no keyring.
    if let (true, Some(address)) = (args.generate_only, address) {
        return Ok(Account { address, record: None });
    }
    Account::find(from, &args.keyring, surroundings, console)
}
