//! Files that are either there whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What to do about a file of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// Keep it and fail with [`io::ErrorKind::AlreadyExists`].
    Keep,
    /// Put the new one in its place, in one step.
    Replace,
}

/// Writes `content` to `path` with mode 0600: first under another name, to the disk, then under
/// its own. A crash leaves what was there before, a reader never sees half of it.
///
/// Where `path` is a symbolic link, what it points to is written and the link stays.
pub(super) fn write(path: &Path, content: &[u8], existing: Existing) -> io::Result<()> {
    let path = through_links(path)?;
    let directory = path.parent().filter(|parent| *parent != OsStr::new(""));
    let directory = directory.unwrap_or(Path::new("."));
    // The prefix is one that no keyring takes for an item.
    let mut file = tempfile::Builder::new().prefix(".writing-").tempfile_in(directory)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    match existing {
        Existing::Keep => file.persist_noclobber(&path)?,
        Existing::Replace => file.persist(&path)?,
    };
    File::open(directory)?.sync_all()
}

/// Removes a file; one that is not there is removed already.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The content of a file, `None` when there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a directory, and those above it, for the owner alone.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn through_links(path: &Path) -> io::Result<PathBuf> {
    const LIMIT: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LIMIT {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // Not a link, or nothing there yet.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_or_kept_and_nothing_is_left_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.info");
        write(&path, b"one", Existing::Keep).unwrap();
        write(&path, b"two", Existing::Replace).unwrap();
        let error = write(&path, b"three", Existing::Keep).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(read(&path).unwrap().unwrap(), b"two");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(read(&path).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn files_and_directories_are_for_the_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("deep/keyring-test");
        create_directory(&directory).unwrap();
        create_directory(&directory).unwrap();
        write(&directory.join("a"), b"", Existing::Keep).unwrap();
        assert_eq!(mode(&directory), 0o700);
        assert_eq!(mode(&directory.join("a")), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_target_is_written() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("config")).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink("config/real", &link).unwrap();
        for (content, existing) in [(b"new", Existing::Keep), (b"old", Existing::Replace)] {
            write(&link, content, existing).unwrap();
            assert_eq!(fs::read(home.path().join("config/real")).unwrap(), content);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        assert!(write(&link, b"", Existing::Keep).is_err());
        std::os::unix::fs::symlink("loop", home.path().join("loop")).unwrap();
        assert!(write(&home.path().join("loop"), b"", Existing::Replace).is_err());
    }
}
