//! Bringing together what the operator gave: flags, environment, keyring and provider.yaml.

use std::path::PathBuf;

use akash_chain::keys::SecretKey;
use provider_daemon::config::{Given, table};

use super::args::RunArgs;
use super::file;
use crate::chain::{Account, KeyringArgs};
use crate::console::Console;
use crate::surroundings::Surroundings;

/// Signed to get a number that nobody else can know and that is the same at every start.
const SEED_TEXT: &[u8] = b"provider-services: chance of prices";

/// What was given, and the key that signs if there is one.
pub(super) struct Gathered {
    pub(super) given: Given,
    pub(super) secret: Option<SecretKey>,
}

pub(super) fn gather(args: &RunArgs, surroundings: &Surroundings, console: Console) -> Gathered {
    let mut given = Given {
        values: args.values(surroundings),
        user_home: surroundings.user_home().map(Into::into),
        strays: surroundings.strays().to_vec(),
        outbound: surroundings.environment_outbound().clone(),
        ..Given::default()
    };
    given.file = args.text("provider-config").map(|path| file::read(&PathBuf::from(path)));
    // The key may be named in the file.
    let said = |name: &str| given.said(name).map(|value| value.text);
    let key = said("from").filter(|from| !from.is_empty()).map(|from| {
        let default = || table::settings().find(|s| s.name == "keyring-backend").map(|s| s.default);
        let backend = said("keyring-backend").or_else(|| default().map(str::to_owned));
        let keyring = KeyringArgs {
            keyring_backend: backend.unwrap_or_default().parse()?,
            keyring_dir: said("keyring-dir").filter(|dir| !dir.is_empty()).map(PathBuf::from),
        };
        let account = Account::find(&from, &keyring, surroundings, console)?;
        anyhow::Ok((account.address, account.secret()?))
    });
    let secret = match key {
        None => None,
        Some(Ok((address, secret))) => {
            given.signer = Some(Ok(address));
            given.seed = seed(&secret);
            Some(secret)
        }
        Some(Err(error)) => {
            given.signer = Some(Err(format!("{error:#}")));
            None
        }
    };
    Gathered { given, secret }
}

/// Reads again what can have changed since.
pub(super) fn again(given: &Given) -> Given {
    let file = given.file.as_ref().map(|before| file::read(&before.path));
    Given { file, ..given.clone() }
}

fn seed(secret: &SecretKey) -> u64 {
    let signature = secret.sign(SEED_TEXT);
    signature.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
