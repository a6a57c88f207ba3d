//! The state of a cluster in a file that only grows, until it is written anew.
//!
//! A line is one change, as JSON: the whole of a lease, the end of one, or maintenance. The last
//! line about a thing counts. What a step changed is synced before anybody hears of it. A line that
//! was not finished is cut off when the file is opened: nobody has heard of it.
//!
//! Manifests can carry passwords of registries: only its owner may read the file.
//!
//! When most of the file is history, what is left is written beside it and put in its place.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use akash_types::LeaseId;
use serde::{Deserialize, Serialize};

use crate::core::{LeaseRecord, SimCluster};

/// What the file begins with.
const HEAD: &str = "{\"simulated-cluster\":1}";
/// Read and written by its owner alone.
const PRIVATE: u32 = 0o600;
/// A file shorter than this is left as it is.
const SMALL: u64 = 1 << 20;
/// How much longer than its content a file may grow.
const SLACK: u64 = 4;

/// Why a state cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{what} {}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not the state of a simulated cluster; name another file with --state", .0.display())]
    Foreign(PathBuf),
    #[error("{} line {line} cannot be read; nothing was changed", path.display())]
    Line {
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        source: serde_json::Error,
    },
    #[error("{} is in use by another simulated cluster", .0.display())]
    InUse(PathBuf),
}

#[derive(Debug, Default)]
pub struct Kept {
    pub leases: Vec<LeaseRecord>,
    pub maintenance: bool,
    /// The identity of the cluster; `None` in the file of an older program.
    pub uid: Option<String>,
}

#[derive(Debug)]
pub struct Store {
    file: File,
    path: PathBuf,
    /// Bytes in the file, and how many it had when it was last written anew.
    length: u64,
    compact: u64,
    uid: String,
}

#[derive(Serialize, Deserialize)]
enum Line {
    Lease(Box<LeaseRecord>),
    Gone(String),
    Maintenance(bool),
    Uid(String),
}

impl Store {
    /// Opens a state, or begins one.
    ///
    /// When the file is not ours, damaged in its middle, in use, or cannot be used.
    pub fn open(path: &Path) -> Result<(Self, Kept), StoreError> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(PRIVATE)
            .open(path)
            .map_err(failed("opening", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed("locking", path)(source)),
        }
        let (mut kept, good) = read(&file, path)?;
        file.set_len(good).map_err(failed("truncating", path))?;
        file.seek(SeekFrom::End(0)).map_err(failed("seeking in", path))?;
        let uid = match kept.uid.clone() {
            Some(uid) => uid,
            None => new_uid().map_err(failed("naming the cluster of", path))?,
        };
        let path_buf = path.to_owned();
        let mut store = Self { file, path: path_buf, length: good, compact: good, uid };
        if good == 0 {
            store.write(&format!("{HEAD}\n"))?;
        }
        if kept.uid.is_none() {
            store.write(&encode(&Line::Uid(store.uid.clone())))?;
            kept.uid = Some(store.uid.clone());
        }
        store.file.sync_all().map_err(failed("syncing", path))?;
        Ok((store, kept))
    }

    /// Keeps what the last step of a cluster changed.
    pub fn keep(&mut self, cluster: &SimCluster) -> Result<(), StoreError> {
        let mut text = String::new();
        for id in cluster.changed_leases() {
            text.push_str(&line(cluster, id));
        }
        if cluster.maintenance_changed() {
            text.push_str(&encode(&Line::Maintenance(cluster.maintenance())));
        }
        if text.is_empty() {
            return Ok(());
        }
        self.write(&text)?;
        self.file.sync_data().map_err(failed("syncing", &self.path))?;
        if self.length > SMALL && self.length / SLACK > self.compact {
            self.write_anew(cluster)?;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), StoreError> {
        self.file.write_all(text.as_bytes()).map_err(failed("writing", &self.path))?;
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.length = self.length.saturating_add(length);
        Ok(())
    }

    /// Writes what is left beside the file and puts it in its place.
    fn write_anew(&mut self, cluster: &SimCluster) -> Result<(), StoreError> {
        let aside = self.path.with_extension("new");
        let mut text = format!("{HEAD}\n") + &encode(&Line::Uid(self.uid.clone()));
        for record in cluster.records() {
            text.push_str(&encode(&Line::Lease(Box::new(record))));
        }
        text.push_str(&encode(&Line::Maintenance(cluster.maintenance())));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(PRIVATE)
            .open(&aside)
            .map_err(failed("writing", &aside))?;
        // Ours before it has the name that others look for.
        file.try_lock().map_err(|_| StoreError::InUse(aside.clone()))?;
        file.write_all(text.as_bytes()).map_err(failed("writing", &aside))?;
        file.sync_all().map_err(failed("syncing", &aside))?;
        std::fs::rename(&aside, &self.path).map_err(failed("replacing", &self.path))?;
        self.file = file;
        self.length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.compact = self.length;
        Ok(())
    }
}

fn line(cluster: &SimCluster, id: LeaseId) -> String {
    encode(&match cluster.record(id) {
        Some(record) => Line::Lease(Box::new(record)),
        None => Line::Gone(id.to_string()),
    })
}

fn encode(line: &Line) -> String {
    // Texts, numbers and lists only, with texts as keys: it cannot fail.
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

/// All that counts in a file, and how much of the file is good.
fn read(file: &File, path: &Path) -> Result<(Kept, u64), StoreError> {
    let mut reader = BufReader::new(file);
    let (mut leases, mut maintenance, mut uid) = (BTreeMap::new(), false, None);
    let (mut good, mut text) = (0_u64, Vec::new());
    for number in 1.. {
        text.clear();
        let size = reader.read_until(b'\n', &mut text).map_err(failed("reading", path))?;
        let is_whole = text.last() == Some(&b'\n');
        if number == 1 && size > 0 {
            let head = HEAD.as_bytes();
            let found = text.strip_suffix(b"\n").unwrap_or(&text);
            let begun = !is_whole && head.starts_with(found);
            if found != head && !begun {
                return Err(StoreError::Foreign(path.to_owned()));
            }
        }
        if !is_whole {
            break;
        }
        if number > 1 {
            let parsed = serde_json::from_slice(&text);
            let parsed = parsed.map_err(|source| StoreError::Line {
                path: path.to_owned(),
                line: number,
                source,
            })?;
            match parsed {
                Line::Lease(record) => {
                    leases.insert(record.lease().to_string(), *record);
                }
                Line::Gone(id) => drop(leases.remove(&id)),
                Line::Maintenance(on) => maintenance = on,
                Line::Uid(text) => uid = Some(text),
            }
        }
        good = good.saturating_add(u64::try_from(size).unwrap_or_default());
    }
    Ok((Kept { leases: leases.into_values().collect(), maintenance, uid }, good))
}

/// An identity that no other cluster has.
fn new_uid() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("sim-{}", hex::encode(bytes)))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { what, path, source }
}

#[cfg(test)]
mod tests;
