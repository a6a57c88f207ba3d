//! The program itself, as it was built with the tests, run as processes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// Where the program is: where `PROVIDER_SERVICES` says, or beside the folder of the running test.
pub fn path() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("PROVIDER_SERVICES") {
        return Ok(given.into());
    }
    let test = std::env::current_exe().context("finding the running test")?;
    let folder = test.parent().and_then(Path::parent).context("the test is in no folder")?;
    let program = folder.join("provider-services");
    ensure!(
        program.is_file(),
        "{} is not there: build it with `cargo build -p provider-services`",
        program.display()
    );
    Ok(program)
}

/// A command of the program, with nothing in its environment but what it is given.
pub fn command(args: &[&str], variables: &[(&str, &str)]) -> Result<Command> {
    let mut command = Command::new(path()?);
    command.args(args).env_clear().envs(variables.iter().copied()).stdin(Stdio::null());
    Ok(command)
}

/// Runs a command to its end; what it printed, if it succeeded.
pub fn run(args: &[&str], variables: &[(&str, &str)]) -> Result<String> {
    let Output { status, stdout, stderr } = command(args, variables)?.output()?;
    if !status.success() {
        let said = [stderr, stdout].concat();
        bail!("`{}` {status}: {}", args.join(" "), String::from_utf8_lossy(&said));
    }
    String::from_utf8(stdout).context("what it printed is not text")
}

/// A process of the program that runs until it is killed or dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a command. What it says goes to the end of `log`.
    pub fn start(args: &[&str], variables: &[(&str, &str)], log: &Path) -> Result<Self> {
        let log = append(log)?;
        let child = command(args, variables)?.stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { child })
    }

    /// Starts a command with a soft and a hard limit of open files, by `prlimit` of util-linux.
    pub fn start_limited(args: &[&str], (soft, hard): (u64, u64), log: &Path) -> Result<Self> {
        let log = append(log)?;
        let mut command = Command::new("prlimit");
        command.arg(format!("--nofile={soft}:{hard}")).arg(path()?).args(args);
        command.env_clear().stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(Self { child: command.spawn().context("starting prlimit, of util-linux")? })
    }

    /// The soft limit of its open files.
    pub fn descriptor_limit(&self) -> Result<u64> {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id()))?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_whitespace().next()).context("no limit")?;
        Ok(soft.parse()?)
    }

    /// Starts a command and reads what it prints up to a line that begins with `last`.
    pub fn start_and_read(
        args: &[&str],
        variables: &[(&str, &str)],
        log: &Path,
        last: &str,
    ) -> Result<(Self, Vec<String>)> {
        let mut command = command(args, variables)?;
        let child = command.stdout(Stdio::piped()).stderr(append(log)?).spawn()?;
        let mut process = Self { child };
        let stdout = process.child.stdout.take().context("its output is not ours")?;
        let mut lines = Vec::new();
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if line.trim_start().starts_with(last) {
                return Ok((process, lines));
            }
            lines.push(line);
        }
        bail!("`{}` ended at once: {}", args.join(" "), std::fs::read_to_string(log)?)
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Sends a signal by name, such as `STOP`.
    pub fn signal(&self, name: &str) -> Result<()> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status()?;
        ensure!(sent.success(), "signal {name} could not be sent");
        Ok(())
    }

    /// Waits for it to end by itself.
    pub fn wait(&mut self) -> Result<std::process::ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> Result<u64> {
        self.memory("VmRSS:")
    }

    /// The most resident memory that it ever had, in bytes.
    pub fn peak(&self) -> Result<u64> {
        self.memory("VmHWM:")
    }

    fn memory(&self, name: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(kib.context("no resident size")?.trim().parse::<u64>()? * 1024)
    }

    /// How many descriptors it has open.
    pub fn descriptors(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn append(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("opening {}", path.display()))
}

/// The second word of the first line whose first word is `name`.
pub fn word_after(lines: &[String], name: &str) -> Option<String> {
    lines.iter().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next().map(str::to_owned))?
    })
}
