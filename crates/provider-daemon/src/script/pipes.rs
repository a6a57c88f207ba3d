//! What a script reads and writes, within limits.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Most bytes of standard output. A price takes twenty.
pub(super) const STDOUT: usize = 64 * 1024;

/// Bytes of standard error that are kept: the last ones say why.
pub(super) const STDERR: usize = 4 * 1024;

/// Gives the script its input. One that does not read it may know its price all the same.
pub(super) async fn give(mut to: impl AsyncWrite + Unpin, input: &[u8]) {
    let _ = to.write_all(input).await;
    let _ = to.shutdown().await;
}

/// More came than is allowed.
#[derive(Debug)]
pub(super) struct TooMuch;

/// Reads to the end into `kept`, which holds what came so far whenever this is dropped.
pub(super) async fn read_all(
    mut from: impl AsyncRead + Unpin,
    kept: &mut Vec<u8>,
) -> Result<(), TooMuch> {
    let mut piece = [0; 4096];
    while let Some(new) = read_some(&mut from, &mut piece).await {
        kept.extend_from_slice(new);
        if kept.len() > STDOUT {
            return Err(TooMuch);
        }
    }
    Ok(())
}

/// The same, keeping only the end.
pub(super) async fn read_tail(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let mut piece = [0; 4096];
    while let Some(new) = read_some(&mut from, &mut piece).await {
        kept.extend_from_slice(new);
        let excess = kept.len().saturating_sub(STDERR);
        kept.drain(..excess);
    }
}

/// Some bytes; `None` at the end, or when there is nothing more to be had.
async fn read_some<'p>(
    from: &mut (impl AsyncRead + Unpin),
    piece: &'p mut [u8],
) -> Option<&'p [u8]> {
    loop {
        return match from.read(piece).await {
            Ok(0) => None,
            Ok(count) => piece.get(..count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => None,
        };
    }
}
