//! What attackers can take from a provider and from its other tenants: the program as it is
//! shipped, a devnet and a simulated cluster, and all attacks at once from one core.
//!
//! `cargo xtask bench attack -- SECONDS` attacks for so long (30 unless given); `-- SECONDS each`
//! also runs each attack alone, on a provider that was started for it.
#![allow(clippy::print_stderr)]

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::attack::{Attack, Attackers, Honest, Stage, Waits, raise_descriptors};
use e2e::network::Settings;
use figures::print;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let seconds: u64 = match words.first() {
        Some(word) => word.parse().context("how many seconds")?,
        None => 30,
    };
    let each = words.get(1).is_some_and(|word| word == "each");
    raise_descriptors()?;
    let folder = tempfile::tempdir()?;
    let mut stage = Stage::start(folder.path(), Settings::default())?;
    let mut unanswered = 0_usize;
    if each {
        for attack in Attack::ALL {
            stage.restart()?;
            let figures = Figures::measure(&stage, &[attack], seconds)?;
            let name = attack.name();
            print(&format!("{name}_peak_rss_mb"), figures.peak, "MB");
            print(&format!("{name}_tenant_p99_ms"), figures.attacked, "ms");
            unanswered = unanswered.saturating_add(figures.unanswered);
        }
    }
    stage.restart()?;
    let figures = Figures::measure(&stage, &Attack::ALL, seconds)?;
    print("peak_rss_mb", figures.peak, "MB");
    print("tenant_p99_ms", figures.attacked, "ms");
    print("tenant_p99_quiet_ms", figures.quiet, "ms");
    unanswered = unanswered.saturating_add(figures.unanswered);
    ensure!(unanswered == 0, "{unanswered} requests of the honest tenant were not answered");
    Ok(())
}

struct Figures {
    peak: String,
    quiet: String,
    attacked: String,
    /// Requests of the honest tenant under attack.
    unanswered: usize,
}

impl Figures {
    /// Half of the time quiet, then under attack.
    fn measure(stage: &Stage, attacks: &[Attack], seconds: u64) -> Result<Self> {
        let target = stage.target()?;
        let waits = |seconds| {
            let honest = Honest::start(target.rest, &stage.token, stage.lease);
            std::thread::sleep(Duration::from_secs(seconds));
            honest.stop()
        };
        let quiet = waits((seconds / 2).max(1))?;
        let attackers = Attackers::start(&target, attacks);
        let attacked = waits(seconds)?;
        let acts = attackers.stop()?;
        for (attack, acts) in &acts {
            eprintln!("{}: {acts} acts", attack.name());
        }
        let idle = acts.iter().find(|(_, acts)| *acts == 0);
        ensure!(idle.is_none(), "an attack did nothing");
        eprintln!("{} answers quiet, {} attacked", quiet.count(), attacked.count());
        for failure in &attacked.failures {
            eprintln!("not answered: {failure}");
        }
        let provider = stage.network.provider.as_ref().context("the provider does not run")?;
        Ok(Self {
            peak: megabytes(provider.peak()?),
            quiet: millis(&quiet)?,
            attacked: millis(&attacked)?,
            unanswered: attacked.failures.len(),
        })
    }
}

fn millis(waits: &Waits) -> Result<String> {
    Ok(format!("{:.2}", waits.percentile_99()?.as_secs_f64() * 1e3))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}
