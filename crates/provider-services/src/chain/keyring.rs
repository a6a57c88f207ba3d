//! Opening the keyring that flags name.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use akash_chain::keys::Passphrase;
use akash_chain::keys::keyring::{Ask, Backend, Keyring, KeyringError, NoPassphrase, OpenOptions};
use anyhow::Context;
use clap::{Args, ValueHint};

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
