//! `cargo xtask programs`: the programs of `testing/components`, built with Go into the cache.
//!
//! All that are missing of a Go module are built at once: they share most of what is compiled, and two
//! processors have something to do while one program is linked.

use std::fs;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use components::{GO_MODULES, GoModule, PROGRAMS, Program};

use crate::process;
use crate::tools;

/// Build the programs that tests start
///
/// Tests that find none call this by themselves. Prints where they are.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Build only these programs
    #[arg(value_name = "PROGRAM", value_parser = PROGRAMS.map(|program| program.name))]
    programs: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let wanted = |program: &Program| {
        args.programs.is_empty() || args.programs.iter().any(|name| name == program.name)
    };
    let programs: Vec<_> = PROGRAMS.into_iter().filter(wanted).collect();
    provide(&programs)?;
    for program in programs {
        println!("{}", program.place()?.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds those that the cache lacks, where tests start them: on Linux. Returns how many.
pub(crate) fn provide_all() -> Result<usize> {
    if cfg!(target_os = "linux") { provide(&PROGRAMS) } else { Ok(0) }
}

fn provide(programs: &[Program]) -> Result<usize> {
    if missing(programs)?.is_empty() {
        return Ok(0);
    }
    let _lock = tools::lock(&components::cache()?, "programs")?;
    // Another process may have built them meanwhile.
    let missing = missing(programs)?;
    for module in GO_MODULES {
        let of_module: Vec<_> =
            missing.iter().copied().filter(|program| program.built_in == module).collect();
        if !of_module.is_empty() {
            build(module, &of_module)?;
        }
    }
    Ok(missing.len())
}

fn missing(programs: &[Program]) -> Result<Vec<Program>> {
    let mut missing = Vec::new();
    for program in programs {
        if !program.place()?.is_file() {
            missing.push(*program);
        }
    }
    Ok(missing)
}

/// Builds programs of one Go module together and moves them where they are looked for once they are
/// whole.
fn build(module: GoModule, programs: &[Program]) -> Result<()> {
    let names = programs.iter().map(|program| program.name).collect::<Vec<_>>().join(", ");
    let cache = components::cache()?.join("programs");
    eprintln!("building {names} once, into {}: up to 20 minutes on two cores", cache.display());
    let begun = Instant::now();
    let unfinished = cache.join(".unfinished");
    tools::remove(&unfinished)?;
    fs::create_dir_all(&unfinished).with_context(|| format!("create {}", unfinished.display()))?;
    let mut go = go()?;
    go.current_dir(module.folder)
        .envs([("CGO_ENABLED", "0"), ("GOWORK", "off"), ("GOFLAGS", "")])
        .args(["build", "-trimpath", "-ldflags", &linker_flags()?, "-o"])
        .arg(&unfinished)
        .args(programs.iter().map(|program| program.package));
    if !process::succeeds(&mut go)? {
        bail!("go build failed; it needs Go 1.25 or newer and a connection to a Go module proxy");
    }
    for program in programs {
        let built = unfinished.join(built_name(program.package));
        let place = program.place()?;
        let folder = place.parent().unwrap_or(&cache);
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        fs::rename(&built, &place).with_context(|| format!("rename to {}", place.display()))?;
    }
    tools::remove(&unfinished)?;
    eprintln!("built {names} in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// What `go build` calls a program: the last part of its package that is not a version.
fn built_name(package: &str) -> &str {
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    package.rsplit('/').find(|part| !is_version(part)).unwrap_or(package)
}

/// No symbols, and the version that Kubernetes says it is. Programs without its packages ignore it.
fn linker_flags() -> Result<String> {
    let version = Program::named("kube-apiserver").context("no kube-apiserver")?.version()?;
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let mut flags = "-s -w".to_owned();
    for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
        for (name, value) in [
            ("gitVersion", format!("v{version}").as_str()),
            ("gitMajor", major),
            ("gitMinor", minor),
        ] {
            flags += &format!(" -X {package}.{name}={value}");
        }
    }
    Ok(flags)
}

/// Go, from the path or from where its own installer puts it.
fn go() -> Result<Command> {
    ["go", "/usr/local/go/bin/go"]
        .into_iter()
        .find(|go| process::captured(process::program(go).arg("version")).is_ok())
        .map(process::program)
        .context("tests on real components need Go 1.25 or newer: https://go.dev/dl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_says_the_version_that_is_built() {
        assert!(linker_flags().unwrap().contains(".gitVersion=v1."));
    }

    #[test]
    fn a_program_is_called_after_its_package() {
        assert_eq!(built_name("go.etcd.io/etcd/server/v3"), "server");
        assert_eq!(built_name("k8s.io/kubernetes/cmd/kubelet"), "kubelet");
    }
}
