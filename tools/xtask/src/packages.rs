//! Programs that tests start and that the system's package manager has to bring.
//!
//! Where xtask may install them, it does; elsewhere it says what to install, and the tests that
//! need them fail.

use std::env;
use std::ffi::OsStr;

use anyhow::{Result, bail};

use crate::process;

/// A program, on the path or where its package puts it, and the Debian package it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needed {
    program: &'static str,
    package: &'static str,
}

/// For the keyring of a desktop session, for the bus over Redis, for a Kubernetes node, and for what
/// guides type.
const NEEDED: [Needed; 14] = [
    Needed { program: "dbus-daemon", package: "dbus" },
    Needed { program: "gnome-keyring-daemon", package: "gnome-keyring" },
    Needed { program: "redis-server", package: "redis-server" },
    Needed { program: "redis-sentinel", package: "redis-sentinel" },
    Needed { program: "containerd", package: "containerd" },
    Needed { program: "runc", package: "runc" },
    Needed { program: "/usr/lib/cni/bridge", package: "containernetworking-plugins" },
    Needed { program: "iptables", package: "iptables" },
    Needed { program: "ipset", package: "ipset" },
    Needed { program: "ip", package: "iproute2" },
    Needed { program: "busybox", package: "busybox-static" },
    Needed { program: "dropbear", package: "dropbear-bin" },
    Needed { program: "curl", package: "curl" },
    Needed { program: "openssl", package: "openssl" },
];

/// For a Ceph cluster, which only tests on real components start: a minute to install.
const NEEDED_BY_REAL: [Needed; 5] = [
    Needed { program: "ceph", package: "ceph-common" },
    Needed { program: "ceph-mon", package: "ceph-mon" },
    Needed { program: "ceph-mgr", package: "ceph-mgr" },
    Needed { program: "ceph-osd", package: "ceph-osd" },
    Needed { program: "ceph-mds", package: "ceph-mds" },
];

/// What to do about programs that are missing.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// Nothing: all are there, or no test here needs them.
    Nothing,
    Install(Vec<&'static str>),
    Tell(Vec<&'static str>),
}

/// Sees to it that the programs of the first tier are there, or says that they are not.
pub(crate) fn provide() -> Result<()> {
    provide_needed(&NEEDED)
}

/// The same for both tiers.
pub(crate) fn provide_real() -> Result<()> {
    provide_needed(&[&NEEDED[..], &NEEDED_BY_REAL].concat())
}

fn provide_needed(needed: &[Needed]) -> Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let have = |program: &str| on_path(&path, program);
    let may_install = have("apt-get") && is_root();
    match plan(needed, have, cfg!(target_os = "linux"), may_install) {
        Plan::Nothing => Ok(()),
        Plan::Install(packages) => install(&packages),
        Plan::Tell(packages) => {
            eprintln!("tests will fail without the Debian packages {}", packages.join(", "));
            eprintln!("install them: sudo apt-get install {}", packages.join(" "));
            Ok(())
        }
    }
}

fn plan(needed: &[Needed], have: impl Fn(&str) -> bool, linux: bool, may_install: bool) -> Plan {
    let missing = needed.iter().filter(|needed| linux && !have(needed.program));
    let packages: Vec<_> = missing.map(|needed| needed.package).collect();
    match (packages.is_empty(), may_install) {
        (true, _) => Plan::Nothing,
        (false, true) => Plan::Install(packages),
        (false, false) => Plan::Tell(packages),
    }
}

fn install(packages: &[&str]) -> Result<()> {
    let apt = |arguments: &[&str]| {
        let mut apt = process::program("apt-get");
        process::succeeds(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let packages = [&["install", "-qq", "-y", "--no-install-recommends"], packages].concat();
    // The lists of a fresh container are missing or old; those of others are tried as they are.
    if apt(&packages)? || (apt(&["update", "-qq"])? && apt(&packages)?) {
        Ok(())
    } else {
        bail!("apt-get did not install what the tests start")
    }
}

fn on_path(path: &OsStr, program: &str) -> bool {
    env::split_paths(path).any(|directory| directory.join(program).is_file())
}

/// Whether this process may install packages for everyone.
fn is_root() -> bool {
    process::stdout_of(process::program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_installed_or_told_and_only_where_it_is_needed() {
        let all = |_: &str| true;
        let no_keyring = |program: &str| program != "gnome-keyring-daemon";
        assert_eq!(plan(&NEEDED, all, true, true), Plan::Nothing);
        assert_eq!(plan(&NEEDED, no_keyring, true, true), Plan::Install(vec!["gnome-keyring"]));
        assert_eq!(plan(&NEEDED, no_keyring, true, false), Plan::Tell(vec!["gnome-keyring"]));
        assert_eq!(plan(&NEEDED, no_keyring, false, false), Plan::Nothing);
        let packages = NEEDED_BY_REAL.map(|needed| needed.package).to_vec();
        assert_eq!(plan(&NEEDED_BY_REAL, |_| false, true, false), Plan::Tell(packages));
    }

    #[test]
    fn a_program_is_looked_for_in_every_directory_of_the_path() {
        assert!(on_path(OsStr::new("/nonexistent:/bin:/usr/bin"), "sh"));
        assert!(!on_path(OsStr::new("/nonexistent"), "sh"));
        assert!(on_path(OsStr::new("/nonexistent"), "/bin/sh"));
    }
}
