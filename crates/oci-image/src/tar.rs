//! An archive in the format of 1988 that every reader takes: no long names, no owners, no times.

use anyhow::{Result, ensure};

const BLOCK: usize = 512;

/// An archive that is being written.
#[derive(Debug, Default)]
pub struct Tar(Vec<u8>);

impl Tar {
    /// Adds a folder.
    ///
    /// # Errors
    ///
    /// When its name is too long.
    pub fn folder(&mut self, name: &str, mode: u32) -> Result<()> {
        self.entry(name, mode, b'5', "", &[])
    }

    /// Adds a file.
    ///
    /// # Errors
    ///
    /// When its name is too long.
    pub fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> Result<()> {
        self.entry(name, mode, b'0', "", content)
    }

    /// Adds a symbolic link.
    ///
    /// # Errors
    ///
    /// When a name is too long.
    pub fn link(&mut self, name: &str, target: &str) -> Result<()> {
        self.entry(name, 0o777, b'2', target, &[])
    }

    /// The bytes of the archive. Two empty blocks are the end.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.0.extend([0; 2 * BLOCK]);
        self.0
    }

    fn entry(
        &mut self,
        name: &str,
        mode: u32,
        kind: u8,
        target: &str,
        content: &[u8],
    ) -> Result<()> {
        ensure!(name.len() < 100 && target.len() < 100, "{name}: too long a name for an archive");
        let mut header = Vec::with_capacity(BLOCK);
        let field = |header: &mut Vec<u8>, text: &str, end: usize| {
            header.extend(text.as_bytes());
            header.resize(end, 0);
        };
        field(&mut header, name, 100);
        field(&mut header, &format!("{mode:07o}"), 108);
        field(&mut header, "0000000", 116);
        field(&mut header, "0000000", 124);
        field(&mut header, &format!("{:011o}", content.len()), 136);
        field(&mut header, "00000000000", 148);
        let sum_at = header.len();
        header.extend(b"        ");
        header.push(kind);
        field(&mut header, target, 257);
        field(&mut header, "ustar\x0000", BLOCK);
        // The sum is taken with spaces in its own place.
        let sum: u32 = header.iter().copied().map(u32::from).sum();
        header.splice(sum_at..sum_at + 8, format!("{sum:06o}\0 ").into_bytes());
        self.0.extend(header);
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(BLOCK), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn another_program_reads_what_is_written() {
        let mut tar = Tar::default();
        tar.folder("bin", 0o755).unwrap();
        tar.file("bin/true", 0o755, &[b'x'; 513]).unwrap();
        tar.link("bin/yes", "true").unwrap();
        let mut reader = Command::new("tar")
            .args(["-tv", "--numeric-owner", "--utc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        reader.stdin.take().unwrap().write_all(&tar.finish()).unwrap();
        let read = reader.wait_with_output().unwrap();
        assert!(read.status.success());
        let lines = String::from_utf8(read.stdout).unwrap();
        let lines: Vec<Vec<_>> = lines.lines().map(|l| l.split_whitespace().collect()).collect();
        let date = ["1970-01-01", "00:00"];
        let expected = [
            [&["drwxr-xr-x", "0/0", "0"][..], &date, &["bin"]].concat(),
            [&["-rwxr-xr-x", "0/0", "513"][..], &date, &["bin/true"]].concat(),
            [&["lrwxrwxrwx", "0/0", "0"][..], &date, &["bin/yes", "->", "true"]].concat(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        assert!(Tar::default().file(&"x".repeat(100), 0o644, b"").is_err());
    }
}
