//! Programs that tests start and that no package manager brings: which, and where they are.
//!
//! `go/go.mod` says of what most are built, in one Go module, so that what they share is compiled
//! once. `calico/go.mod` is a module of its own: its programs need older versions of what the others
//! are made of. `cargo xtask programs` builds them into a cache outside the tree, where every program
//! has a folder of its name and version: another version, or one more program, leaves the others as
//! they are.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// A Go module that programs are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoModule {
    /// Its folder.
    pub folder: &'static str,
    /// Its `go.mod`.
    requirements: &'static str,
}

const MAIN: GoModule = GoModule {
    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/go"),
    requirements: include_str!("../go/go.mod"),
};

const CALICO: GoModule = GoModule {
    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/calico"),
    requirements: include_str!("../calico/go.mod"),
};

/// All Go modules.
pub const GO_MODULES: [GoModule; 2] = [MAIN, CALICO];

/// A program, and the Go package that it is built of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of its file.
    pub name: &'static str,
    /// The import path of its main package.
    pub package: &'static str,
    /// The part of that path which names the Go module that it is published in.
    module: &'static str,
    /// The Go module that it is built in.
    pub built_in: GoModule,
}

/// All of them.
pub const PROGRAMS: [Program; 12] = [
    Program {
        name: "etcd",
        package: "go.etcd.io/etcd/server/v3",
        module: "go.etcd.io/etcd/server/v3",
        built_in: MAIN,
    },
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    kubernetes("kubelet", "k8s.io/kubernetes/cmd/kubelet"),
    kubernetes("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"),
    kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    Program {
        name: "traefik",
        package: "github.com/traefik/traefik/v3/cmd/traefik",
        module: "github.com/traefik/traefik/v3",
        built_in: MAIN,
    },
    Program {
        name: "pebble",
        package: "github.com/letsencrypt/pebble/v2/cmd/pebble",
        module: "github.com/letsencrypt/pebble/v2",
        built_in: MAIN,
    },
    Program {
        name: "grpcurl",
        package: "github.com/fullstorydev/grpcurl/cmd/grpcurl",
        module: "github.com/fullstorydev/grpcurl",
        built_in: MAIN,
    },
    calico("calico-felix", "github.com/projectcalico/calico/felix/cmd/calico-felix"),
    calico("calico", "github.com/projectcalico/calico/cni-plugin/cmd/calico"),
];

const fn kubernetes(name: &'static str, package: &'static str) -> Program {
    Program { name, package, module: "k8s.io/kubernetes", built_in: MAIN }
}

const fn calico(name: &'static str, package: &'static str) -> Program {
    Program { name, package, module: "github.com/projectcalico/calico", built_in: CALICO }
}

impl Program {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        PROGRAMS.into_iter().find(|program| program.name == name)
    }

    /// Its version in `go.mod`, such as `1.34.3`.
    pub fn version(&self) -> Result<&'static str> {
        let version = |line: &'static str| {
            let mut words = line.trim().trim_start_matches("require ").split_whitespace();
            (words.next() == Some(self.module)).then(|| words.next()?.strip_prefix('v'))?
        };
        let version = self.built_in.requirements.lines().find_map(version);
        version.with_context(|| format!("go.mod requires no {}", self.module))
    }

    /// Where the cache has it, once it is built.
    pub fn place(&self) -> Result<PathBuf> {
        let folder = format!("{}-{}", self.name, self.version()?);
        Ok(cache()?.join("programs").join(folder).join(self.name))
    }

    /// Where it is: in `KUBEBUILDER_ASSETS`, where others keep programs of Kubernetes for tests, or
    /// in the cache.
    fn find(&self) -> Result<Option<PathBuf>> {
        let assets = set("KUBEBUILDER_ASSETS").map(|assets| assets.join(self.name));
        let places = assets.into_iter().chain([self.place()?]);
        Ok(places.into_iter().find(|place| place.is_file()))
    }
}

/// Where a program is; built if it is nowhere, which takes minutes.
pub fn provide(name: &str) -> Result<PathBuf> {
    let program = Program::named(name).with_context(|| format!("there is no program {name}"))?;
    if let Some(found) = program.find()? {
        return Ok(found);
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let status = Command::new(cargo)
        .args(["--locked", "xtask", "programs", name])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        // Tests are told times by it; build scripts would run again.
        .env_remove("RUSTC_BOOTSTRAP")
        // Progress is on standard error; this one is our caller's.
        .stdout(Stdio::null())
        .status()
        .context("running cargo xtask programs")?;
    ensure!(status.success(), "building {name} failed: see above");
    program.find()?.with_context(|| format!("{name} is not where it was built"))
}

/// Where big things are kept between runs: `$AKASH_PROVIDER_CACHE`, or `akash-provider` in the
/// user's cache directory.
pub fn cache() -> Result<PathBuf> {
    cache_of(set)
}

fn cache_of(set: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    let cache = if let Some(own) = set("AKASH_PROVIDER_CACHE") {
        own
    } else if let Some(caches) = set("XDG_CACHE_HOME") {
        caches.join("akash-provider")
    } else if let Some(home) = set("HOME") {
        home.join(".cache/akash-provider")
    } else {
        bail!("no place for a cache: set AKASH_PROVIDER_CACHE to a directory");
    };
    std::path::absolute(&cache).with_context(|| format!("resolve {}", cache.display()))
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_it_was_asked_for_else_where_caches_are() {
        let cache_with = |variables: &[(&str, &str)]| {
            cache_of(|name| {
                let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
                Some(value.into())
            })
        };
        let own = ("AKASH_PROVIDER_CACHE", "/c");
        let xdg = ("XDG_CACHE_HOME", "/x");
        let home = ("HOME", "/h");
        assert_eq!(cache_with(&[own, xdg, home]).unwrap(), Path::new("/c"));
        assert_eq!(cache_with(&[xdg, home]).unwrap(), Path::new("/x/akash-provider"));
        assert_eq!(cache_with(&[home]).unwrap(), Path::new("/h/.cache/akash-provider"));
        assert!(cache_with(&[]).is_err());
    }

    #[test]
    fn go_modules_name_every_program_and_its_version() {
        for program in PROGRAMS {
            let tool = format!("\t{}\n", program.package);
            assert!(program.built_in.requirements.contains(&tool), "{}", program.name);
            assert!(GO_MODULES.contains(&program.built_in), "{}", program.name);
            assert!(program.package.starts_with(program.module), "{}", program.name);
            let version = program.version().unwrap();
            assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{version}");
        }
        assert_eq!(Program::named("kubelet").unwrap().version().unwrap(), "1.34.3");
        assert!(Program::named("etcd").unwrap().place().unwrap().ends_with("etcd-3.6.5/etcd"));
    }
}
