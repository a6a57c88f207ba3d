//! The provider's own certificate: its files, and the task that keeps it good.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use akash_keys::RandomError;
use akash_keys::certificate::{
    CertificateError, CertificateKey, CertificateSpec, KeyFile, KeyFileError, KeyFilePassword,
    KeyPair,
};
use akash_types::{Action, Address, Outcome};

use super::plan::{Local, Plan, plan};
use super::{OwnCertificates, Publisher, Step, Vault, VaultFailure, step};
use crate::tls::{CertificateFileError, ServerCertificates, certified};

/// How soon the chain is looked at again after something was sent, or when it did not answer.
const SOON: Duration = Duration::from_secs(15);
/// How soon when all is well: somebody may have revoked it.
const LATER: Duration = Duration::from_mins(30);
/// Where the certificate that is to be the next one waits, below the home directory.
const NEXT: &str = "next-certificate";

/// The provider's own certificate.
pub struct OwnCertificate {
    account: Address,
    password: KeyFilePassword,
    domains: Vec<String>,
    current_file: KeyFile,
    next_file: KeyFile,
    current: KeyPair,
    next: Option<KeyPair>,
    vault: Option<Arc<dyn Vault>>,
    /// Whether the vault has what is shown, if there is one.
    is_kept: bool,
}

impl fmt::Debug for OwnCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.current_file.path();
        f.debug_struct("OwnCertificate").field("file", &file).finish_non_exhaustive()
    }
}

impl OwnCertificate {
    /// Reads it from `<home>/<address>.pem`, or makes it, for these host names and addresses.
    /// Takes a second of work where it is made.
    pub async fn open(
        home: PathBuf,
        account: Address,
        password: KeyFilePassword,
        domains: Vec<String>,
    ) -> Result<Self, OwnCertificateError> {
        let current_file = KeyFile::of(&home, &account);
        let current = match read(&current_file, &password).await? {
            Some(pair) => pair,
            None => made(&current_file, account, &password, &domains).await?,
        };
        Ok(Self::with(&home, account, password, domains, current).await)
    }

    /// The same, with `vault` as a second place: where there is no file, what is kept there is taken,
    /// and what is shown is always kept there.
    pub async fn open_kept(
        home: PathBuf,
        account: Address,
        password: KeyFilePassword,
        domains: Vec<String>,
        vault: Arc<dyn Vault>,
    ) -> Result<Self, OwnCertificateError> {
        let file = KeyFile::of(&home, &account);
        let there = file.text()?;
        let kept = match vault.read().await {
            Ok(kept) => kept,
            // What is in the file is good without it. It is kept later.
            Err(_) if there.is_some() => None,
            Err(failure) => return Err(failure.into()),
        };
        let step = step(there.as_deref().map(String::as_str), kept.as_deref());
        let current = match (step, kept) {
            (Step::Restore, Some(text)) => restored(&file, text, &password).await?,
            (Step::Make, _) => made(&file, account, &password, &domains).await?,
            _ => {
                let gone = || io::Error::from(io::ErrorKind::NotFound);
                let path = || file.path().to_owned();
                let gone = || KeyFileError::Read { path: path(), source: gone() };
                read(&file, &password).await?.ok_or_else(gone)?
            }
        };
        let mut own = Self::with(&home, account, password, domains, current).await;
        own.is_kept = matches!(step, Step::Nothing | Step::Restore);
        own.vault = Some(vault);
        Ok(own)
    }

    async fn with(
        home: &Path,
        account: Address,
        password: KeyFilePassword,
        domains: Vec<String>,
        current: KeyPair,
    ) -> Self {
        let current_file = KeyFile::of(home, &account);
        let next_file = KeyFile::of(&home.join(NEXT), &account);
        // One that cannot be read is of no use to anybody: it was never shown.
        let next = read(&next_file, &password).await.ok().flatten();
        let (vault, is_kept) = (None, true);
        Self { account, password, domains, current_file, next_file, current, next, vault, is_kept }
    }

    pub const fn current(&self) -> &KeyPair {
        &self.current
    }

    /// Keeps it published and good, for ever. `told` hears of everything that is done or fails.
    pub async fn keep(
        mut self,
        chain: Arc<dyn OwnCertificates>,
        publisher: Arc<dyn Publisher>,
        shown: Arc<ServerCertificates>,
        told: impl Fn(Result<&Plan, &OwnCertificateError>),
    ) {
        let mut before = None;
        loop {
            if let Err(error) = self.copy().await {
                told(Err(&error));
            }
            let published = chain.published(self.account).await.ok();
            let local = Local {
                current: Some(self.current.certificate()),
                next: self.next.as_ref().map(KeyPair::certificate),
            };
            let now = SystemTime::now();
            let plan = plan(now, local, published.as_deref());
            let done = self.carry_out(&plan, now, &*publisher, &shown).await;
            told(done.as_ref().map(|()| &plan));
            // What leads to the same plan again does not help, and is not done without a pause.
            let helped = done.is_ok() && before.as_ref() != Some(&plan);
            tokio::time::sleep(match plan {
                Plan::Keep { until } => until.duration_since(now).unwrap_or(SOON).min(LATER),
                Plan::Adopt | Plan::Create(_) if helped => Duration::ZERO,
                _ => SOON,
            })
            .await;
            before = Some(plan);
        }
    }

    /// Keeps what is shown in the vault, if it is not there yet.
    async fn copy(&mut self) -> Result<(), OwnCertificateError> {
        let Some(vault) = self.vault.as_ref().filter(|_| !self.is_kept) else { return Ok(()) };
        if let Some(text) = self.current_file.text()? {
            vault.write(text.as_str().to_owned()).await?;
        }
        self.is_kept = true;
        Ok(())
    }

    async fn carry_out(
        &mut self,
        plan: &Plan,
        now: SystemTime,
        publisher: &dyn Publisher,
        shown: &ServerCertificates,
    ) -> Result<(), OwnCertificateError> {
        match plan {
            Plan::Keep { .. } | Plan::Wait => Ok(()),
            Plan::Create(_) => {
                let pair = generate(self.account, &self.domains, now)?;
                write(&self.next_file, &pair, &self.password).await?;
                self.next = Some(pair);
                Ok(())
            }
            Plan::PublishCurrent => send(publisher, publish(&self.current)).await,
            Plan::PublishNext => match &self.next {
                Some(next) => send(publisher, publish(next)).await,
                None => Ok(()),
            },
            Plan::Adopt => {
                let Some(next) = &self.next else { return Ok(()) };
                let ready = certified(next)?;
                write(&self.current_file, next, &self.password).await?;
                shown.set_own(ready);
                self.is_kept = false;
                if let Some(next) = self.next.take() {
                    self.current = next;
                }
                // What is left behind is read at the next start and found to be the current one.
                let _left = tokio::fs::remove_file(self.next_file.path()).await;
                Ok(())
            }
            Plan::Revoke { serial } => {
                send(publisher, Action::RevokeCertificate { serial: serial.clone() }).await
            }
        }
    }
}

/// A new one, in its file.
async fn made(
    file: &KeyFile,
    account: Address,
    password: &KeyFilePassword,
    domains: &[String],
) -> Result<KeyPair, OwnCertificateError> {
    let pair = generate(account, domains, SystemTime::now())?;
    write(file, &pair, password).await?;
    Ok(pair)
}

/// The one that was kept, in its file again.
async fn restored(
    file: &KeyFile,
    text: String,
    password: &KeyFilePassword,
) -> Result<KeyPair, OwnCertificateError> {
    let (file, password) = (file.clone(), password.clone());
    let restored = tokio::task::spawn_blocking(move || file.restore(&text, &password)).await;
    Ok(restored.map_err(|_| OwnCertificateError::Stopped)??)
}

fn publish(pair: &KeyPair) -> Action {
    let certificate = pair.certificate();
    Action::CreateCertificate {
        serial: certificate.serial().to_owned(),
        certificate: certificate.to_pem().into_bytes(),
        public_key: certificate.public_key_pem().into_bytes(),
    }
}

async fn send(publisher: &dyn Publisher, action: Action) -> Result<(), OwnCertificateError> {
    let outcome = publisher.submit(action).await;
    if outcome.holds() { Ok(()) } else { Err(OwnCertificateError::NotSent(outcome)) }
}

fn generate(
    owner: Address,
    domains: &[String],
    now: SystemTime,
) -> Result<KeyPair, OwnCertificateError> {
    let since_1970 = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let spec = CertificateSpec {
        owner,
        serial: u64::try_from(since_1970).map_err(|_| CertificateError::Validity)?,
        not_before: now,
        valid_for: CertificateSpec::VALID_FOR,
        domains: domains.to_vec(),
    };
    Ok(KeyPair::generate(&spec, CertificateKey::generate()?)?)
}

/// Reads a file; `None` if there is none. The key is well encrypted, which takes a while.
async fn read(
    file: &KeyFile,
    password: &KeyFilePassword,
) -> Result<Option<KeyPair>, OwnCertificateError> {
    let (file, password) = (file.clone(), password.clone());
    let read = tokio::task::spawn_blocking(move || file.read(&password)).await;
    match read.map_err(|_| OwnCertificateError::Stopped)? {
        Ok(pair) => Ok(Some(pair)),
        Err(KeyFileError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

async fn write(
    file: &KeyFile,
    pair: &KeyPair,
    password: &KeyFilePassword,
) -> Result<(), OwnCertificateError> {
    let (file, pair, password) = (file.clone(), pair.clone(), password.clone());
    let written = tokio::task::spawn_blocking(move || file.write(&pair, &password, true)).await;
    Ok(written.map_err(|_| OwnCertificateError::Stopped)??)
}

/// Why the provider's own certificate is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum OwnCertificateError {
    #[error("the provider's certificate file")]
    File(#[from] KeyFileError),
    #[error("the place where the provider's certificate is kept: {0}")]
    Vault(#[from] VaultFailure),
    #[error("making a certificate of the provider")]
    Make(#[from] CertificateError),
    #[error("making a certificate of the provider")]
    Random(#[from] RandomError),
    #[error("showing the provider's new certificate")]
    Show(#[from] CertificateFileError),
    #[error("the chain did not take the certificate's message: {0:?}")]
    NotSent(Outcome),
    #[error("the program is stopping")]
    Stopped,
}
