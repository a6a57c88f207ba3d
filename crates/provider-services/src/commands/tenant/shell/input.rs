//! What is typed.

use std::io::Read;

use bytes::Bytes;
use tokio::sync::mpsc;

/// Largest piece that is sent at once, as in the Go program.
const PIECE: usize = 4096;
/// How many pieces may wait.
const WAITING: usize = 16;

/// Pieces as they are typed; `None` at the end of input.
pub(super) type Typed = mpsc::Receiver<Bytes>;

/// Reads standard input on a thread of its own, which nobody waits for: a read cannot be ended.
pub(super) fn typed() -> Typed {
    let (to, typed) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut piece = vec![0; PIECE];
        loop {
            let count = match stdin.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            let bytes = Bytes::copy_from_slice(piece.get(..count).unwrap_or_default());
            if to.blocking_send(bytes).is_err() {
                return;
            }
        }
    });
    typed
}
