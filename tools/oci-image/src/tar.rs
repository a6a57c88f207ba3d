//! Archives whose bytes depend on their files alone: no owners, no times.

use anyhow::{Context as _, Result};
use tar::{Builder, EntryType, Header};

pub struct Tar(Builder<Vec<u8>>);

impl Default for Tar {
    fn default() -> Self {
        Self(Builder::new(Vec::new()))
    }
}

impl Tar {
    pub fn folder(&mut self, name: &str, mode: u32) -> Result<()> {
        let mut header = header(EntryType::Directory, mode, 0);
        self.0.append_data(&mut header, name, &[][..]).with_context(|| name.to_owned())
    }

    pub fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> Result<()> {
        let mut header = header(EntryType::Regular, mode, content.len() as u64);
        self.0.append_data(&mut header, name, content).with_context(|| name.to_owned())
    }

    pub fn link(&mut self, name: &str, target: &str) -> Result<()> {
        let mut header = header(EntryType::Symlink, 0o777, 0);
        self.0.append_link(&mut header, name, target).with_context(|| name.to_owned())
    }

    /// The bytes of the archive.
    pub fn finish(self) -> Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn another_program_reads_what_is_written() {
        let long = format!("bin/{}", "x".repeat(150));
        let mut tar = Tar::default();
        tar.folder("bin", 0o755).unwrap();
        tar.file("bin/true", 0o755, &[b'x'; 513]).unwrap();
        tar.link("bin/yes", "true").unwrap();
        tar.file(&long, 0o644, b"").unwrap();
        let mut reader = Command::new("tar")
            .args(["-tv", "--numeric-owner", "--utc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        reader.stdin.take().unwrap().write_all(&tar.finish().unwrap()).unwrap();
        let read = reader.wait_with_output().unwrap();
        assert!(read.status.success());
        let lines = String::from_utf8(read.stdout).unwrap();
        let lines: Vec<Vec<_>> = lines.lines().map(|l| l.split_whitespace().collect()).collect();
        let date = ["1970-01-01", "00:00"];
        let expected = [
            [&["drwxr-xr-x", "0/0", "0"][..], &date, &["bin"]].concat(),
            [&["-rwxr-xr-x", "0/0", "513"][..], &date, &["bin/true"]].concat(),
            [&["lrwxrwxrwx", "0/0", "0"][..], &date, &["bin/yes", "->", "true"]].concat(),
            [&["-rw-r--r--", "0/0", "0"][..], &date, &[&long]].concat(),
        ];
        assert_eq!(lines, expected);
    }
}
