//! A Ceph cluster for tests: a monitor, a manager with its metrics, OSDs on sparse files, and a
//! metadata server once there is a file system. Its programs are Debian's.
//!
//! Each cluster has a loopback address of its own, on which it takes Ceph's usual ports, and a
//! folder that goes with it. Clients need no keys. What it stores is read and written with `rados`;
//! nothing is mounted.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::daemon::Daemon;
use crate::guard::Guard;
use crate::http;

/// What brings the programs.
const ADVICE: &str = "install the Debian packages ceph-common, ceph-mon, ceph-mgr, ceph-osd \
                      and ceph-mds";

/// Where the monitor listens.
const MONITOR: u16 = 3300;

/// Where the manager serves metrics.
const METRICS: u16 = 9283;

/// Bytes of each OSD. The files are sparse.
const OSD_SIZE: u64 = 4 << 30;

/// Placement groups of a pool.
const GROUPS: &str = "8";

/// A Ceph cluster that belongs to one test.
#[derive(Debug)]
pub struct Ceph {
    // First, because it ends everything.
    guard: Guard,
    address: Ipv4Addr,
    monitor: Daemon,
    manager: Daemon,
    /// `None` where one is stopped.
    osds: Vec<Option<Daemon>>,
    metadata: Option<Daemon>,
}

impl Ceph {
    /// Starts a cluster without pools. All OSDs are up, and the manager serves metrics.
    pub async fn start(osds: usize) -> Result<Self> {
        let guard = Guard::new()?;
        let folder = guard.folder();
        // The id of a process has 22 bits.
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(127, 128, 0, 0).to_bits() | guard.id());
        let id = uuid()?;
        std::fs::write(folder.join("ceph.conf"), config(folder, &id, address))?;
        for name in ["mon", "mgr", "osd", "mds"] {
            std::fs::create_dir(folder.join(name))?;
        }
        let monitors = format!("[v2:{address}:{MONITOR}]");
        let map = ["--create", "--fsid", &id, "--addv", "a", &monitors, "monmap"];
        run(&mut program(folder, "monmaptool", &map))?;
        run(&mut program(folder, "ceph-mon", &["--mkfs", "-i", "a", "--monmap", "monmap"]))?;
        let monitor = start(folder, "mon", "a")?;
        let ip = address.to_string();
        for (option, value) in [("server_addr", ip.as_str()), ("scrape_interval", "1")] {
            let option = format!("mgr/prometheus/{option}");
            // Forced, because options are known only once a manager has run.
            ceph(folder, &["config", "set", "mgr", &option, value, "--force"])?;
        }
        let manager = start(folder, "mgr", "a")?;
        let osds = make_osds(folder, osds)?;
        let mut this = Self { guard, address, monitor, manager, osds, metadata: None };
        this.wait_for_osds().await?;
        let metrics = this.metrics_address();
        let serves = async || http::get(metrics, "/metrics").await.is_ok();
        this.manager.wait_until("it serves metrics", serves).await?;
        Ok(this)
    }

    /// The configuration of clients: `ceph --conf`.
    pub fn config(&self) -> PathBuf {
        self.guard.folder().join("ceph.conf")
    }

    /// Where the manager serves metrics, at `/metrics`.
    pub fn metrics_address(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.address, METRICS)
    }

    /// What the manager's metrics say now, as Prometheus reads them.
    pub async fn metrics(&self) -> Result<String> {
        http::get(self.metrics_address(), "/metrics").await
    }

    /// What `ceph df` says now.
    pub fn df(&self) -> Result<Value> {
        self.query(&["df"])
    }

    /// What a command of `ceph` says, as JSON.
    pub fn query(&self, words: &[&str]) -> Result<Value> {
        query(self.guard.folder(), words)
    }

    /// Makes a pool for block devices that keeps `size` copies.
    pub fn create_replicated_pool(&self, pool: &str, size: usize) -> Result<()> {
        let folder = self.guard.folder();
        let size = size.to_string();
        let kind = [GROUPS, GROUPS, "replicated", "--size", &size];
        ceph(folder, &[&["osd", "pool", "create", pool], &kind[..]].concat())?;
        ceph(folder, &["osd", "pool", "application", "enable", pool, "rbd"])
    }

    /// Makes a pool for block devices in which `data` parts are kept with `coding` more, each on
    /// another OSD.
    pub fn create_erasure_coded_pool(&self, pool: &str, data: usize, coding: usize) -> Result<()> {
        let folder = self.guard.folder();
        let (data, coding) = (format!("k={data}"), format!("m={coding}"));
        let profile = ["osd", "erasure-code-profile", "set", pool, &data, &coding];
        ceph(folder, &[&profile[..], &["crush-failure-domain=osd"]].concat())?;
        ceph(folder, &["osd", "pool", "create", pool, GROUPS, GROUPS, "erasure", pool])?;
        ceph(folder, &["osd", "pool", "set", pool, "allow_ec_overwrites", "true"])?;
        ceph(folder, &["osd", "pool", "application", "enable", pool, "rbd"])
    }

    /// Makes a file system, with its pools `<name>-metadata` and `<name>-data`, and waits until it
    /// is served.
    pub async fn create_file_system(&mut self, name: &str) -> Result<()> {
        let folder = self.guard.folder();
        let (metadata, data) = (format!("{name}-metadata"), format!("{name}-data"));
        for pool in [&metadata, &data] {
            ceph(folder, &["osd", "pool", "create", pool, GROUPS])?;
        }
        ceph(folder, &["fs", "new", name, &metadata, &data])?;
        let mut server = start(folder, "mds", "a")?;
        let active = async || {
            query(folder, &["fs", "status", name])
                .is_ok_and(|status| status.pointer("/mdsmap/0/state") == Some(&"active".into()))
        };
        server.wait_until("the file system is served", active).await?;
        self.metadata = Some(server);
        Ok(())
    }

    /// Stores an object in a pool.
    pub fn put(&self, pool: &str, object: &str, bytes: &[u8]) -> Result<()> {
        let mut command =
            program(self.guard.folder(), "rados", &["--pool", pool, "put", object, "-"]);
        let mut rados =
            command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().context(ADVICE)?;
        let written = rados.stdin.take().map(|mut input| input.write_all(bytes));
        check(&command, &rados.wait_with_output()?)?;
        Ok(written.transpose().map(drop)?)
    }

    /// Kills an OSD and waits until the monitor knows that it is down.
    pub async fn stop_osd(&mut self, osd: usize) -> Result<()> {
        *self.osds.get_mut(osd).with_context(|| format!("there is no OSD {osd}"))? = None;
        self.wait_for_osds().await
    }

    /// Starts an OSD again and waits until it is up.
    pub async fn start_osd(&mut self, osd: usize) -> Result<()> {
        let place = self.osds.get_mut(osd).with_context(|| format!("there is no OSD {osd}"))?;
        *place = Some(start(self.guard.folder(), "osd", &osd.to_string())?);
        self.wait_for_osds().await
    }

    /// Waits until as many OSDs are up as run.
    async fn wait_for_osds(&mut self) -> Result<()> {
        let (folder, running) = (self.guard.folder(), self.osds.iter().flatten().count());
        let counted = async || {
            query(folder, &["osd", "stat"])
                .is_ok_and(|stat| stat.get("num_up_osds") == Some(&running.into()))
        };
        self.monitor.wait_until(&format!("{running} OSDs are up"), counted).await
    }
}

/// What all programs read. One machine is enough for all copies; what would warn of a full disk looks
/// at the developer's own.
fn config(folder: &Path, id: &str, address: Ipv4Addr) -> String {
    let folder = folder.display();
    format!(
        "[global]
fsid = {id}
mon host = [v2:{address}:{MONITOR}]
public addr = {address}
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}
admin socket =
crash dir = {folder}
log file =
mon cluster log file =
log to stderr = true
err to stderr = true
osd crush chooseleaf type = 0
osd pool default size = 2
osd pool default min size = 1
osd pool default pg autoscale mode = off
[mon]
mon data = {folder}/mon
mgr initial modules = prometheus
mon data avail warn = 2
mon data avail crit = 1
[mgr]
mgr data = {folder}/mgr
mgr stats period = 1
[osd]
osd data = {folder}/osd/$id
bluestore block size = {OSD_SIZE}
osd memory target = 939524096
[mds]
mds data = {folder}/mds
"
    )
}

/// Makes OSDs with the ids from 0 on, and starts them.
fn make_osds(folder: &Path, count: usize) -> Result<Vec<Option<Daemon>>> {
    let mut making = Vec::new();
    for number in 0..count {
        let (osd, id) = (number.to_string(), uuid()?);
        std::fs::create_dir(folder.join("osd").join(&osd))?;
        let mut make = program(folder, "ceph-osd", &["--mkfs", "-i", &osd, "--osd-uuid", &id]);
        let made = make.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context(ADVICE)?;
        making.push((osd.clone(), make, made));
        let given = query(folder, &["osd", "new", &id])?;
        ensure!(given.get("osdid") == Some(&number.into()), "OSD {number} is {given}");
    }
    let start_made = |(osd, make, made): (String, Command, std::process::Child)| {
        check(&make, &made.wait_with_output()?)?;
        Ok(Some(start(folder, "osd", &osd)?))
    };
    making.into_iter().map(start_made).collect()
}

fn start(folder: &Path, kind: &str, id: &str) -> Result<Daemon> {
    let command = program(folder, &format!("ceph-{kind}"), &["-f", "-i", id]);
    Daemon::start(folder, &format!("{kind}.{id}"), &command)
}

fn query(folder: &Path, words: &[&str]) -> Result<Value> {
    let said = run(program(folder, "ceph", words).args(["--format", "json"]))?;
    serde_json::from_str(&said).with_context(|| format!("ceph {} says {said}", words.join(" ")))
}

fn ceph(folder: &Path, words: &[&str]) -> Result<()> {
    run(&mut program(folder, "ceph", words)).map(drop)
}

fn program(folder: &Path, name: &str, words: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(words).current_dir(folder).env("CEPH_CONF", folder.join("ceph.conf"));
    command
}

/// Runs a program that has to succeed; what it says.
fn run(command: &mut Command) -> Result<String> {
    let done = command.output().context(ADVICE)?;
    check(command, &done)?;
    Ok(String::from_utf8(done.stdout)?)
}

fn check(command: &Command, done: &Output) -> Result<()> {
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{command:?}: {said}");
    Ok(())
}

fn uuid() -> Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/uuid")?.trim().to_owned())
}
