//! Parts of logs on their way to a reader, bounded by number and by bytes.

use std::sync::Arc;

use provider_engine::cluster::port::{LogPart, ReadFailure};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Parts that may wait.
const PARTS: usize = 64;
/// Bytes of text that may wait. A longer part waits alone.
const BYTES: u32 = 128 * 1024;

type Part = Result<LogPart, ReadFailure>;

#[derive(Clone, Debug)]
pub(super) struct Sender {
    parts: mpsc::Sender<(Part, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
pub(super) struct Receiver(mpsc::Receiver<(Part, OwnedSemaphorePermit)>);

/// The receiver is gone.
#[derive(Debug)]
pub(super) struct Deaf;

pub(super) fn queue() -> (Sender, Receiver) {
    let (parts, received) = mpsc::channel(PARTS);
    let room = usize::try_from(BYTES).unwrap_or(usize::MAX);
    (Sender { parts, room: Arc::new(Semaphore::new(room)) }, Receiver(received))
}

impl Sender {
    /// Waits while there is no room.
    pub(super) async fn send(&self, part: Part) -> Result<(), Deaf> {
        let bytes = match &part {
            Ok(LogPart::Text { text, .. }) => text.len(),
            Ok(LogPart::Break { note, .. }) => note.len(),
            Err(_) => 0,
        };
        let bytes = u32::try_from(bytes).unwrap_or(BYTES).min(BYTES);
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.map_err(|_| Deaf)?;
        self.parts.send((part, room)).await.map_err(|_| Deaf)
    }

    /// Waits until the receiver is gone.
    pub(super) async fn closed(&self) {
        self.parts.closed().await;
    }
}

impl Receiver {
    pub(super) async fn next_part(&mut self) -> Option<Part> {
        self.0.recv().await.map(|(part, _room)| part)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn text(bytes: usize) -> Part {
        let (service, replica) = ("web".to_owned(), "web-0".to_owned());
        Ok(LogPart::Text { service, replica, text: "x".repeat(bytes), continues: false })
    }

    /// How many parts of a size are taken while nobody reads.
    fn taken(sender: &Sender, bytes: usize) -> usize {
        (0..1_000)
            .take_while(|_| {
                sender.send(text(bytes)).now_or_never().is_some_and(|sent| sent.is_ok())
            })
            .count()
    }

    #[test]
    fn long_parts_wait_by_their_bytes_and_short_ones_by_their_number() {
        for (bytes, expected) in [(32 << 10, 4), (1 << 20, 1), (10, PARTS)] {
            let (sender, mut parts) = queue();
            assert_eq!(taken(&sender, bytes), expected, "{bytes}");
            // What is read makes room for as much.
            assert_eq!(parts.next_part().now_or_never(), Some(Some(text(bytes))));
            assert_eq!(taken(&sender, bytes), 1, "{bytes}");
        }
    }

    #[tokio::test]
    async fn who_waits_for_room_hears_that_nobody_reads_any_more() {
        let (sender, parts) = queue();
        taken(&sender, 32 << 10);
        let (sent, ()) = tokio::join!(sender.send(text(32 << 10)), async { drop(parts) });
        assert!(sent.is_err());
    }
}
