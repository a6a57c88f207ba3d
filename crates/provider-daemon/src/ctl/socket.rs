//! The socket's file: ours alone, and never taken from somebody who uses it.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

const LONGEST: usize = 107;

/// What stands behind the path until the socket is ready.
const UNREADY: &str = ".new";

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error(
        "{} is in use: another provider runs with this home; stop it, or give --ctl-socket another \
         path", .0.display()
    )]
    InUse(PathBuf),
    #[error("{} is there and is not a socket; remove it, or give --ctl-socket another path", .0.display())]
    NotASocket(PathBuf),
    #[error("{} is too long for a socket; give --ctl-socket a path of at most 103 bytes", .0.display())]
    TooLong(PathBuf),
    #[error("cannot listen on {}", .path.display())]
    Listen {
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A socket that listens; its file goes with it.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    /// The user that it belongs to.
    pub(super) owner: u32,
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Listens at `path`, which is replaced if it was left behind by a process that is gone. From
    /// the moment on that others can find it, only its owner may connect.
    pub(super) async fn bind(path: &Path) -> Result<Self, BindError> {
        let unready = PathBuf::from(format!("{}{UNREADY}", path.display()));
        if unready.as_os_str().len() > LONGEST {
            return Err(BindError::TooLong(path.to_owned()));
        }
        if_free(path).await?;
        let wrong = |source| BindError::Listen { path: path.to_owned(), source };
        match std::fs::remove_file(&unready) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&unready).map_err(wrong)?;
        std::fs::set_permissions(&unready, PermissionsExt::from_mode(0o600)).map_err(wrong)?;
        let file = std::fs::metadata(&unready).map_err(wrong)?;
        std::fs::rename(&unready, path).map_err(wrong)?;
        Ok(Self { listener, owner: file.uid(), path: path.to_owned(), inode: file.ino() })
    }
}

/// Nobody uses the path, or what is there is nobody's any more.
async fn if_free(path: &Path) -> Result<(), BindError> {
    let wrong = |source| BindError::Listen { path: path.to_owned(), source };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(error)),
        Ok(file) if !file.file_type().is_socket() => {
            return Err(BindError::NotASocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path).await {
        Ok(_) => Err(BindError::InUse(path.to_owned())),
        // Nobody listens: whoever did is gone.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(wrong(error)),
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another provider may have put its own there since.
        let ours = std::fs::metadata(&self.path).is_ok_and(|file| file.ino() == self.inode);
        if ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
