//! The Kubernetes programs that tests start, built from Go modules into the cache.
//!
//! `e2e/kube/components/` has a Go module for each origin, which says the version of everything it
//! is built from and the checksums. Kubernetes itself can only be built through such a module: its
//! own go.mod looks for parts of it in folders that are not published with it.
//! The file `version` there names the folder of the cache: a change of what is built, or of how,
//! counts it up.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::tools;

const VERSION: &str = include_str!("../../e2e/kube/components/version");
const TRAEFIK_VERSION: &str = include_str!("../../e2e/kube/components/traefik/version");

struct Program {
    name: &'static str,
    /// The Go module of ours that builds it.
    module: &'static str,
    package: &'static str,
}

/// What tests start, in the order of how many need it.
const PROGRAMS: [Program; 8] = [
    Program { name: "etcd", module: "etcd", package: "go.etcd.io/etcd/server/v3" },
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    kubernetes("kubelet", "k8s.io/kubernetes/cmd/kubelet"),
    kubernetes("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"),
    kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    Program {
        name: TRAEFIK,
        module: "traefik",
        package: "github.com/traefik/traefik/v3/cmd/traefik",
    },
];

/// The one that takes longest, and without which the tests only leave something out.
const TRAEFIK: &str = "traefik";

const fn kubernetes(name: &'static str, package: &'static str) -> Program {
    Program { name, module: "kubernetes", package }
}

/// Build the Kubernetes programs that tests start
///
/// Tests that find none call this by themselves. Prints the folder they are in.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these; all but traefik if none is named
    #[arg(value_name = "PROGRAM", value_parser = PROGRAMS.map(|program| program.name))]
    programs: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let wanted = |program: &&Program| match args.programs.as_slice() {
        [] => program.name != TRAEFIK,
        named => named.iter().any(|name| name == program.name),
    };
    for place in provide(&PROGRAMS.iter().filter(wanted).collect::<Vec<_>>())? {
        println!("{}", place.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds those that the cache lacks, where tests start them: on Linux. `full` is with Traefik.
///
/// # Errors
///
/// When Go is missing, or one does not build.
pub(crate) fn provide_all(full: bool) -> Result<()> {
    if cfg!(target_os = "linux") {
        let wanted = |program: &&Program| full || program.name != TRAEFIK;
        provide(&PROGRAMS.iter().filter(wanted).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The folders that they are in.
fn provide(programs: &[&Program]) -> Result<BTreeSet<PathBuf>> {
    let cache = tools::cache()?;
    let bin = |program: &Program| cache.join(folder(program.module)).join("bin");
    let missing = || programs.iter().filter(|program| !bin(program).join(program.name).is_file());
    let modules: BTreeSet<&str> = missing().map(|program| program.module).collect();
    for module in modules {
        let name = folder(module);
        let _lock = tools::lock(&cache, &name)?;
        // Whoever was waited for may have built them.
        let programs: Vec<_> = missing().filter(|it| it.module == module).copied().collect();
        if !programs.is_empty() {
            build(&cache.join(name), module, &programs)?;
        }
    }
    Ok(programs.iter().map(|program| bin(program)).collect())
}

/// What the cache calls the place of a module's programs.
fn folder(module: &str) -> String {
    match module {
        TRAEFIK => format!("traefik-{}", TRAEFIK_VERSION.trim_end()),
        _ => format!("kube-{}", VERSION.trim_end()),
    }
}

/// Builds the programs of one module together, so that two processors have something to do while
/// one program is linked, and moves them where they are looked for once they are whole.
fn build(place: &Path, module: &str, programs: &[&Program]) -> Result<()> {
    let names: Vec<_> = programs.iter().map(|program| program.name).collect();
    let names = names.join(", ");
    let patience = match module {
        "etcd" => "a minute",
        TRAEFIK => "a quarter of an hour",
        _ => "six minutes",
    };
    eprintln!("building {names} once, into {}: {patience} on two free cores", place.display());
    let begun = Instant::now();
    let unfinished = place.join(format!(".{module}.unfinished"));
    tools::remove(&unfinished)?;
    for folder in [&unfinished, &place.join("bin")] {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let mut go = go()?;
    go.current_dir(process::root().join("e2e/kube/components").join(module))
        .envs([("CGO_ENABLED", "0"), ("GOWORK", "off"), ("GOFLAGS", "")])
        .args(["build", "-trimpath", "-ldflags", &linker_flags(), "-o"])
        .arg(&unfinished)
        .args(programs.iter().map(|program| program.package));
    if !process::succeeds(&mut go)? {
        bail!("go build failed; it needs Go 1.24 or newer and a connection to a Go module proxy");
    }
    for program in programs {
        let built = unfinished.join(built_name(program.package));
        let place = place.join("bin").join(program.name);
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

/// No symbols, and the version that Kubernetes says it is.
fn linker_flags() -> String {
    let (version, _) = VERSION.split_once('-').unwrap_or((VERSION, ""));
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
    flags
}

/// Go, from the path or from where its own installer puts it.
fn go() -> Result<Command> {
    ["go", "/usr/local/go/bin/go"]
        .into_iter()
        .find(|go| process::captured(process::program(go).arg("version")).is_ok())
        .map(process::program)
        .context("the tests on Kubernetes need Go 1.24 or newer: https://go.dev/dl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_says_the_version_that_is_built() {
        let module = include_str!("../../e2e/kube/components/kubernetes/go.mod");
        let (version, _) = VERSION.split_once('-').unwrap();
        assert!(module.contains(&format!("\tk8s.io/kubernetes v{version}")));
        assert!(linker_flags().contains(&format!(".gitVersion=v{version} ")));
        let module = include_str!("../../e2e/kube/components/traefik/go.mod");
        let version = TRAEFIK_VERSION.trim_end();
        assert!(module.contains(&format!("github.com/traefik/traefik/v3 v{version}")));
    }

    #[test]
    fn modules_name_what_is_built_from_them() {
        for program in &PROGRAMS {
            let module = process::root().join("e2e/kube/components").join(program.module);
            let module = fs::read_to_string(module.join("go.mod")).unwrap();
            assert!(module.contains(program.package), "{}", program.name);
        }
    }

    #[test]
    fn a_program_is_called_after_its_package() {
        assert_eq!(built_name("go.etcd.io/etcd/server/v3"), "server");
        assert_eq!(built_name("k8s.io/kubernetes/cmd/kubelet"), "kubelet");
    }
}
