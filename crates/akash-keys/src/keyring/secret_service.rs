//! Items in the secret service of a Linux desktop (GNOME's keyring, KDE's wallet, `KeePassXC`),
//! as github.com/99designs/keyring puts them there.
//!
//! One collection has the name of the program; the items in it have their name as label and as
//! the attribute `profile`, and as secret the JSON that a file would have encrypted. The service
//! encrypts what it keeps and asks for the passphrase itself, on the screen.
//!
//! The service speaks D-Bus, which is asynchronous, and a keyring is not: each call runs on a
//! thread of its own, so that keyrings may be used inside of a runtime, too.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::time::Duration;
use std::{io, panic, thread};

use secret_service::{Collection, EncryptionType, Error, Item};
use tokio::runtime::{Builder, Runtime};
use zeroize::Zeroizing;

use super::backend::{Data, Existing, Store};
use super::jwe::JweError;
use super::{KeyringError, item};

/// The collection of the Go program, which its builds name after themselves.
const COLLECTION: &str = "provider-services";
/// The attribute by which items are found.
const PROFILE: &str = "profile";
/// How long the service may think about a call. Questions to a person take as long as they take.
const PATIENCE: Duration = Duration::from_secs(25);

pub(super) struct SecretService {
    service: secret_service::SecretService<'static>,
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
}

impl SecretService {
    /// The service of the session whose bus has this address; `None` when it has no such service.
    pub(super) fn connect(bus: &str) -> Result<Option<Self>, KeyringError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed("preparing to look for keys", error))?;
        let service = apart(&runtime, async {
            let bus = zbus::connection::Builder::address(bus)?.method_timeout(PATIENCE);
            let bus = bus.build().await?;
            secret_service::SecretService::connect_with_existing(EncryptionType::Dh, bus).await
        });
        match service {
            Ok(service) => Ok(Some(Self { service, runtime: Some(runtime) })),
            Err(error) => {
                // Its connection, if there was one, is not worth waiting for.
                runtime.shutdown_background();
                if is_absence(&error) { Ok(None) } else { Err(failed("looking for keys", error)) }
            }
        }
    }

    pub(super) fn has_keyring(&self) -> Result<bool, KeyringError> {
        self.run("looking for keys", async { Ok(self.collection().await?.is_some()) })
    }

    fn run<T: Send>(
        &self,
        attempted: &'static str,
        work: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, KeyringError> {
        let Some(runtime) = &self.runtime else {
            return Err(failed(attempted, io::Error::from(io::ErrorKind::NotConnected)));
        };
        apart(runtime, work).map_err(|error| match error {
            Error::Prompt | Error::PromptDisconnected | Error::Locked => {
                KeyringError::Dismissed { keyring: COLLECTION }
            }
            error => failed(attempted, error),
        })
    }

    /// The program's collection, locked or not.
    async fn collection(&self) -> Result<Option<Collection<'_>>, Error> {
        let mut collections = self.service.get_all_collections().await?.into_iter();
        Ok(collections.find(|found| is_ours(found.collection_path.as_str())))
    }

    /// The program's collection, unlocked.
    async fn opened(&self) -> Result<Option<Collection<'_>>, Error> {
        let collection = self.collection().await?;
        if let Some(collection) = &collection {
            unlock(collection).await?;
        }
        Ok(collection)
    }
}

impl Store for SecretService {
    fn names(&self) -> Result<Vec<String>, KeyringError> {
        self.run("listing keys", async {
            let Some(collection) = self.opened().await? else { return Ok(Vec::new()) };
            let mut names = Vec::new();
            for item in collection.get_all_items().await? {
                names.extend(item.get_attributes().await?.remove(PROFILE));
            }
            Ok(names)
        })
    }

    fn read(&self, name: &str) -> Result<Option<Data>, KeyringError> {
        let secret = self.run("reading a key", async {
            let Some(collection) = self.opened().await? else { return Ok(None) };
            let Some(item) = first(&collection, name).await? else { return Ok(None) };
            item.get_secret().await.map(Zeroizing::new).map(Some)
        })?;
        let damaged = || KeyringError::Item { item: name.to_owned(), source: JweError::Damaged };
        secret.map(|json| item::decode(&json).ok_or_else(damaged)).transpose()
    }

    fn write(&self, name: &str, data: &[u8], existing: Existing) -> Result<(), KeyringError> {
        const ATTEMPTED: &str = "storing a key";
        let json = item::encode(name, data).map_err(|error| failed(ATTEMPTED, error))?;
        let written = self.run(ATTEMPTED, async {
            let collection = match self.collection().await? {
                Some(collection) => collection,
                None => self.service.create_collection(COLLECTION, "").await?,
            };
            unlock(&collection).await?;
            if existing == Existing::Keep && first(&collection, name).await?.is_some() {
                return Ok(false);
            }
            let attributes = HashMap::from([(PROFILE, name)]);
            collection.create_item(name, attributes, &json, true, "application/json").await?;
            Ok(true)
        })?;
        if written { Ok(()) } else { Err(KeyringError::ItemExists { item: name.to_owned() }) }
    }

    fn remove(&self, name: &str) -> Result<(), KeyringError> {
        self.run("removing a key", async {
            let Some(collection) = self.opened().await? else { return Ok(()) };
            match first(&collection, name).await? {
                Some(item) => item.delete().await,
                None => Ok(()),
            }
        })
    }

    fn unlock(&self) -> Result<(), KeyringError> {
        self.run("opening the keyring", async { self.opened().await.map(drop) })
    }
}

impl Drop for SecretService {
    fn drop(&mut self) {
        // A runtime that is dropped inside of another panics; this one has nothing left to do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn unlock(collection: &Collection<'_>) -> Result<(), Error> {
    if collection.is_locked().await? { collection.unlock().await } else { Ok(()) }
}

/// The item of this name. Where there are several, Go takes the first, too.
async fn first<'a>(collection: &'a Collection<'_>, name: &str) -> Result<Option<Item<'a>>, Error> {
    let found = collection.search_items(HashMap::from([(PROFILE, name)])).await?;
    Ok(found.into_iter().next())
}

/// Runs `work` to its end on another thread, where no runtime is in its way.
fn apart<T: Send>(runtime: &Runtime, work: impl Future<Output = T> + Send) -> T {
    thread::scope(|scope| {
        let done = scope.spawn(|| runtime.block_on(work)).join();
        done.unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

fn failed(
    attempted: &'static str,
    source: impl Into<Box<dyn StdError + Send + Sync>>,
) -> KeyringError {
    KeyringError::SecretService { attempted, source: source.into() }
}

/// Whether the path is that of the program's collection. Services write what may not stand in a
/// path as `_` and two hexadecimal digits.
fn is_ours(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/org/freedesktop/secrets/collection/") else {
        return false;
    };
    let mut decoded = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'_', high, low, after @ ..] => {
                let mut byte = [0];
                if hex::decode_to_slice([*high, *low], &mut byte).is_err() {
                    return name == COLLECTION;
                }
                decoded.extend(byte);
                after
            }
            [byte, after @ ..] => {
                decoded.push(*byte);
                after
            }
        };
    }
    decoded == COLLECTION.as_bytes()
}

/// Whether the error says that there is no bus, or nothing on it that keeps secrets.
fn is_absence(error: &Error) -> bool {
    match error {
        Error::Unavailable => true,
        Error::Zbus(error) => bus_is_absent(error),
        Error::ZbusFdo(error) => service_is_absent(error),
        _ => false,
    }
}

fn bus_is_absent(error: &zbus::Error) -> bool {
    match error {
        zbus::Error::Address(_) | zbus::Error::Connection(..) | zbus::Error::InputOutput(_) => true,
        zbus::Error::FDO(error) => service_is_absent(error),
        zbus::Error::MethodError(name, _, _) => {
            let name = name.as_str();
            name == "org.freedesktop.DBus.Error.ServiceUnknown"
                || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
                || name.starts_with("org.freedesktop.DBus.Error.Spawn.")
        }
        _ => false,
    }
}

fn service_is_absent(error: &zbus::fdo::Error) -> bool {
    use zbus::fdo::Error;
    match error {
        Error::ServiceUnknown(_)
        | Error::NameHasNoOwner(_)
        | Error::SpawnExecFailed(_)
        | Error::SpawnForkFailed(_)
        | Error::SpawnChildExited(_)
        | Error::SpawnChildSignaled(_)
        | Error::SpawnFailed(_)
        | Error::SpawnServiceNotFound(_) => true,
        Error::ZBus(error) => bus_is_absent(error),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collection_is_known_by_its_path_however_it_is_written() {
        let ours = |name: &str| is_ours(&format!("/org/freedesktop/secrets/collection/{name}"));
        assert!(ours("provider_2dservices"));
        assert!(ours("provider_2Dservices"));
        assert!(ours("provider-services"));
        for other in ["", "login", "provider_2dservices_5f1", "provider_2", "provider_zzservices"] {
            assert!(!ours(other), "{other}");
        }
        assert!(!is_ours("/org/freedesktop/secrets/aliases/provider_2dservices"));
    }
}
