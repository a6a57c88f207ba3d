//! Opening the store, committing to it, and opening it again after a failure.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use redb::{Database, DatabaseError, StorageError};

use super::batch::Batch;
use super::format::{Before, FORMAT, Format, Unfit};
use super::history::Retention;
use super::{OpenError, StoreError, StoreHealth, failure};

/// Memory for pages that are read often. The default of a GiB is more than the whole file has.
const CACHE: usize = 8 * 1024 * 1024;

/// What outlives the process.
#[derive(derive_more::Debug)]
#[debug("Store {{ path: {:?}, .. }}", self.place.path())]
pub struct Store {
    place: Place,
    retention: Retention,
    /// Absent after a failure, until it is opened again.
    database: Mutex<Option<Arc<Database>>>,
    /// Held while something is written.
    health: Mutex<StoreHealth>,
}

#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    pub found: Found,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Fresh,
    Existing {
        /// Height up to which everything was handled, if it says.
        cursor: Option<u64>,
        /// The format it had, if that was an older one.
        migrated_from: Option<u64>,
    },
    /// Something that cannot be used. It was moved aside, and a new store begun.
    SetAside {
        moved_to: PathBuf,
        why: String,
    },
}

pub(super) enum Place {
    File(PathBuf),
    Memory,
    #[cfg(test)]
    Backend(Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>),
}

impl Store {
    /// Opens the store at `path`, or begins one there. What is there and is no store of ours, or a
    /// damaged one, is moved aside.
    pub fn open(path: impl Into<PathBuf>, retention: Retention) -> Result<Opened, OpenError> {
        Self::open_as(path.into(), retention, FORMAT)
    }

    /// A store that ends with the process.
    pub fn in_memory(retention: Retention) -> Result<Self, OpenError> {
        let place = Place::Memory;
        match place.open(FORMAT) {
            Ok((database, _)) => Ok(Self::new(place, retention, database)),
            Err(problem) => Err(problem.unusable(PathBuf::from(":memory:"))),
        }
    }

    pub(super) fn new(place: Place, retention: Retention, database: Database) -> Self {
        let database = Mutex::new(Some(Arc::new(database)));
        Self { place, retention, database, health: Mutex::default() }
    }

    pub(super) fn open_as(
        path: PathBuf,
        retention: Retention,
        format: Format,
    ) -> Result<Opened, OpenError> {
        let place = Place::File(path.clone());
        let why = match place.open(format) {
            Ok((database, before)) => {
                let store = Self::new(place, retention, database);
                let found = match before {
                    Before::Nothing => Ok(Found::Fresh),
                    Before::Same => store.existing(None),
                    Before::Older(version) => store.existing(Some(version)),
                };
                match found {
                    Ok(found) => return Ok(Opened { store, found }),
                    Err(error) => error.to_string(),
                }
            }
            Err(Problem::Unfit(why)) => why,
            Err(problem) => return Err(problem.unusable(path)),
        };
        let moved_to = match move_aside(&path) {
            Ok(moved_to) => moved_to,
            Err(source) => return Err(OpenError::Stuck { path, why, source }),
        };
        let place = Place::File(path.clone());
        match place.open(format) {
            Ok((database, _)) => {
                let store = Self::new(place, retention, database);
                Ok(Opened { store, found: Found::SetAside { moved_to, why } })
            }
            Err(problem) => Err(problem.unusable(path)),
        }
    }

    fn existing(&self, migrated_from: Option<u64>) -> Result<Found, StoreError> {
        Ok(Found::Existing { cursor: self.cursor()?, migrated_from })
    }

    /// Keeps a batch, wholly or not at all. When this returns, it is on the disk. An empty batch
    /// costs nothing.
    /// Fails when the batch is not kept. It may be given again.
    pub fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        let mut health = lock(&self.health);
        let begun = Instant::now();
        let result = self.write(batch);
        if result.is_err() {
            // After a failed write redb takes no more of them, until it is opened again.
            *lock(&self.database) = None;
        }
        health.note(begun.elapsed(), &result);
        result
    }

    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        let database = self.database()?;
        let transaction = database.begin_write().map_err(failure)?;
        batch.write(&transaction, &self.retention)?;
        transaction.commit().map_err(failure)
    }

    /// The database, opened again if it failed.
    pub(super) fn database(&self) -> Result<Arc<Database>, StoreError> {
        let mut database = lock(&self.database);
        if let Some(database) = &*database {
            return Ok(Arc::clone(database));
        }
        let path = self.place.path().unwrap_or(Path::new(":memory:"));
        let opened = self.place.open(FORMAT);
        let (opened, _) = opened
            .map_err(|problem| StoreError::Reopen(Box::new(problem.unusable(path.to_owned()))))?;
        Ok(Arc::clone(database.insert(Arc::new(opened))))
    }

    pub fn health(&self) -> StoreHealth {
        let size = self.place.path().and_then(|path| fs::metadata(path).ok());
        StoreHealth { size: size.map(|file| file.len()), ..lock(&self.health).clone() }
    }
}

/// A thread that panicked left nothing half done: what is written is a transaction.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a place gives no database.
enum Problem {
    Locked,
    Disk(io::Error),
    Unfit(String),
}

impl Problem {
    fn unusable(self, path: PathBuf) -> OpenError {
        match self {
            Self::Locked => OpenError::Locked { path },
            Self::Disk(source) => OpenError::Disk { path, source },
            Self::Unfit(why) => OpenError::Unusable { path, why },
        }
    }
}

impl Place {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    fn open(&self, format: Format) -> Result<(Database, Before), Problem> {
        // redb checks what it reads, but some damage makes it panic rather than say so.
        let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut database = self.open_raw()?;
            if matches!(self, Self::File(_)) {
                database.check_integrity().map_err(sorted)?;
            }
            let before = format.establish(&database).map_err(|unfit| match unfit {
                Unfit::Failed(StoreError::Disk(error)) => sorted_io(error),
                unfit => Problem::Unfit(unfit.to_string()),
            })?;
            Ok((database, before))
        }));
        opened.unwrap_or_else(|_| Err(Problem::Unfit("reading it failed badly".to_owned())))
    }

    fn open_raw(&self) -> Result<Database, Problem> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        match self {
            Self::Memory => {
                let memory = redb::backends::InMemoryBackend::new();
                builder.create_with_backend(memory).map_err(sorted)
            }
            Self::File(path) => {
                let file = open_file(path).map_err(Problem::Disk)?;
                builder.create_file(file).map_err(sorted)
            }
            #[cfg(test)]
            Self::Backend(open) => open().map_err(sorted),
        }
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // What a provider earns is nobody else's business.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn sorted(error: DatabaseError) -> Problem {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Problem::Locked,
        DatabaseError::Storage(StorageError::Io(error)) => sorted_io(error),
        error => Problem::Unfit(error.to_string()),
    }
}

/// A file that ends too early or holds something else is unfit; a disk that refuses says nothing
/// of the file.
fn sorted_io(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Problem::Unfit(error.to_string())
        }
        _ => Problem::Disk(error),
    }
}

/// Renames `path` to the first `path.corrupt-<n>` that is free.
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1_u32.. {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".corrupt-{number}"));
        let aside = path.with_file_name(name);
        if !aside.try_exists()? {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other("every name is taken"))
}
