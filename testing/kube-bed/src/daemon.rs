//! One running program of a bed.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long a program may take before it does its work. Machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// Programs written in Go look for garbage when this much more, in percent, is in use. Machines that
/// test have few cores and memory to spare.
const GARBAGE: &str = "400";

/// Writes down who it is, for the guard, and becomes the program. So no moment is left in which a
/// program runs that the guard does not know of.
const BECOME: &str = r#"echo $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" >"$1" && shift && exec "$@""#;

/// A program that runs until it is killed or dropped.
#[derive(Debug)]
pub(crate) struct Daemon {
    name: String,
    command: Command,
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Starts a program in the folder of a bed. What it says goes to the end of its log.
    pub(crate) fn start(folder: &Path, name: &str, program: &Command) -> Result<Self> {
        let log = folder.join("log").join(name);
        let output = File::options().create(true).append(true).open(&log)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", BECOME, "sh"])
            .arg(folder.join("pids").join(name))
            .arg(program.get_program())
            .args(program.get_args())
            .current_dir(folder)
            .env("GOGC", GARBAGE)
            .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = command.spawn().with_context(|| format!("starting {name}"))?;
        Ok(Self { name: name.to_owned(), command, child, log })
    }

    /// Kills the program and starts it again.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = self.command.spawn().with_context(|| format!("starting {}", self.name))?;
        Ok(())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks until the answer is yes.
    pub(crate) async fn wait_until(
        &mut self,
        what: &str,
        yes: impl AsyncFn() -> bool,
    ) -> Result<()> {
        let begun = Instant::now();
        while !yes().await {
            let ended = self.child.try_wait()?.map(|status| format!("it ended ({status})"));
            let late = (begun.elapsed() > PATIENCE).then(|| format!("not after {PATIENCE:?}"));
            if let Some(why) = ended.or(late) {
                bail!("{}: waiting until {what}: {why}\n{}", self.name, self.last_words());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    fn last_words(&self) -> String {
        let said = std::fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<_> = said.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
