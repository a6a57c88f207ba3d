//! The libraries that a program loads when it starts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Where the libraries of a program are, its loader included, in order; none if it has all in
/// itself.
pub(crate) fn needed_by(program: &Path) -> Result<Vec<PathBuf>> {
    let said = Command::new("ldd").arg(program).output().context("running ldd")?;
    let (out, error) =
        (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    if format!("{out}{error}").contains("not a dynamic executable") {
        return Ok(Vec::new());
    }
    if !said.status.success() {
        bail!("ldd {}: {error}", program.display());
    }
    read(&out)
}

/// Lines such as `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f…)`; the loader stands there
/// without a name, and what the kernel itself brings without a path.
fn read(lines: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for line in lines.lines().map(str::trim) {
        let (name, place) = line.split_once(" => ").unwrap_or(("", line));
        let place = place.split(" (").next().unwrap_or_default().trim();
        if place.starts_with('/') {
            found.push(PathBuf::from(place));
        } else if !name.is_empty() {
            bail!("the library {name} is {place}");
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn libraries_and_the_loader_are_found_and_what_the_kernel_brings_is_not() {
        let lines = "\tlinux-vdso.so.1 (0x00007ffe)\n\
                     \tlibgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007f)\n\
                     \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                     \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let wanted = [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib/x86_64-linux-gnu/libgcc_s.so.1",
            "/lib64/ld-linux-x86-64.so.2",
        ];
        assert_eq!(read(lines).unwrap(), wanted.map(PathBuf::from));
        assert_eq!(read("\tstatically linked\n").unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_library_that_is_missing_is_named() {
        let error = read("\tlibx.so.1 => not found\n").unwrap_err().to_string();
        assert_eq!(error, "the library libx.so.1 is not found");
    }
}
