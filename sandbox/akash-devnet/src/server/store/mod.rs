//! Blocks on disk: a file that only grows.
//!
//! A record is written and synced before anyone hears of its block. Whatever is damaged at the end,
//! because the machine or the program died while it was written, is cut off when the file is opened:
//! nobody has seen that block. A snapshot of the state to shorten replay would be a second file that
//! names a height; records up to it would then be skipped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::node::{App, HEAD, Head, Node, Record, ReplayError};

/// Name of the file, in the home of a devnet.
const BLOCKS: &str = "blocks.log";
/// Name of the genesis document beside it.
const GENESIS: &str = "genesis.json";
const MAGIC: &[u8; 16] = b"akash-devnet 01\n";
/// Replay says how far it is this often.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long another owner of the file may take to let go of it, and how often to look.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Why blocks cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{what} {}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not a block log of this program", .0.display())]
    Foreign(PathBuf),
    #[error("{} differs from the genesis of this chain; start with an empty directory", .0.display())]
    OtherGenesis(PathBuf),
    #[error("{} is in use by another devnet", .0.display())]
    InUse(PathBuf),
    #[error("replaying the kept blocks; start with an empty directory if the rules have changed")]
    Replay(#[from] ReplayError),
}

#[derive(Debug)]
pub(super) struct Store {
    file: File,
    path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Height of the last block that was made again.
    pub height: u64,
    /// Share of the file that was read, in percent.
    pub percent: u64,
}

impl Store {
    /// Opens the blocks of a home and makes them again on a node before its first block.
    pub(super) fn open<A: App>(
        home: &Path,
        genesis_json: &str,
        node: &mut Node<A>,
        mut progress: impl FnMut(Progress),
    ) -> Result<Self, StoreError> {
        std::fs::create_dir_all(home).map_err(failed("creating", home))?;
        check_genesis(&home.join(GENESIS), genesis_json)?;
        let path = home.join(BLOCKS);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed("opening", &path))?;
        lock(&file, &path)?;
        let length = file.metadata().map_err(failed("reading", &path))?.len();
        let good = match begin(&mut file, length).map_err(failed("reading", &path))? {
            Begin::Fresh => start(&mut file).map_err(failed("writing", &path))?,
            Begin::Foreign => return Err(StoreError::Foreign(path)),
            Begin::Continues => replay(&file, &path, length, node, &mut progress)?,
        };
        if good < length {
            file.set_len(good).map_err(failed("truncating", &path))?;
        }
        file.seek(SeekFrom::Start(good)).map_err(failed("seeking in", &path))?;
        file.sync_all().map_err(failed("syncing", &path))?;
        Ok(Self { file, path })
    }

    /// Adds a block; it is on disk when this returns.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let written = self.file.write_all(&record.encode()).and_then(|()| self.file.sync_data());
        written.map_err(failed("writing", &self.path))
    }
}

/// Makes the file ours. One that has just been dropped may still be finishing its last block.
fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed("locking", path)(source)),
        }
    }
}

enum Begin {
    Fresh,
    Continues,
    Foreign,
}

/// What the first bytes say. Fewer than there should be are a beginning that was never finished.
fn begin(file: &mut File, length: u64) -> io::Result<Begin> {
    let mut magic = Vec::new();
    let wanted = u64::try_from(MAGIC.len()).unwrap_or(u64::MAX);
    (&*file).take(wanted).read_to_end(&mut magic)?;
    Ok(match magic.as_slice() {
        found if found == MAGIC => Begin::Continues,
        found if length < wanted && MAGIC.starts_with(found) => Begin::Fresh,
        _ => Begin::Foreign,
    })
}

fn start(file: &mut File) -> io::Result<u64> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(MAGIC)?;
    file.stream_position()
}

/// Makes every block again; how much of the file is good.
fn replay<A: App>(
    file: &File,
    path: &Path,
    length: u64,
    node: &mut Node<A>,
    progress: &mut impl FnMut(Progress),
) -> Result<u64, StoreError> {
    let mut good = u64::try_from(MAGIC.len()).unwrap_or_default();
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut told = Instant::now();
    while let Some((record, size)) = next(&mut reader).map_err(failed("reading", path))? {
        node.replay(&record)?;
        good = good.saturating_add(size);
        if told.elapsed() >= PROGRESS {
            told = Instant::now();
            let percent = good.saturating_mul(100).checked_div(length).unwrap_or(100);
            progress(Progress { height: record.height, percent });
        }
    }
    Ok(good)
}

/// The next record and its bytes; `None` at the end and at the first that is damaged.
fn next(reader: &mut impl Read) -> io::Result<Option<(Record, u64)>> {
    let mut head = [0; HEAD];
    if !filled(reader.read_exact(&mut head))? {
        return Ok(None);
    }
    let Some(head) = Head::decode(head) else { return Ok(None) };
    let wanted = u64::try_from(head.length).unwrap_or(u64::MAX);
    let mut content = Vec::new();
    reader.take(wanted).read_to_end(&mut content)?;
    let size = u64::try_from(HEAD).unwrap_or_default().saturating_add(wanted);
    Ok(head.content(&content).map(|record| (record, size)))
}

fn filled(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the genesis document of a new home, and compares that of an old one.
fn check_genesis(path: &Path, genesis_json: &str) -> Result<(), StoreError> {
    match std::fs::read_to_string(path) {
        Ok(found) if found == genesis_json => Ok(()),
        Ok(_) => Err(StoreError::OtherGenesis(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Written aside and renamed, so that there is never half of it.
            let aside = path.with_extension("json.new");
            std::fs::write(&aside, genesis_json).map_err(failed("writing", &aside))?;
            std::fs::rename(&aside, path).map_err(failed("writing", path))
        }
        Err(source) => Err(failed("reading", path)(source)),
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { what, path, source }
}

#[cfg(test)]
mod tests;
