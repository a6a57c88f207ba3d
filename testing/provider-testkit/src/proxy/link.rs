//! One connection through the proxy.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use super::mode::{Direction, Mode};
use super::seeded::Seeded;

const BUFFER: usize = 16 * 1024;
/// Largest piece of chopped bytes, and the longest pause after one.
const PIECE: u64 = 512;
const PAUSE_MICROS: u64 = 1_000;

/// Ends a connection without saying goodbye.
pub(super) fn reset(stream: &TcpStream) {
    // Whatever fails here, the connection ends with the stream.
    let _ = stream.set_zero_linger();
}

/// Forwards both ways until both are at their end, or the connection is to be reset.
pub(super) async fn forward(
    mut client: TcpStream,
    mut server: TcpStream,
    mode: watch::Receiver<Mode>,
    number: u64,
) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let both = async {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        tokio::try_join!(
            pump(from_client, to_server, Direction::ToServer, mode.clone(), number),
            pump(from_server, to_client, Direction::ToClient, mode.clone(), number),
        )
    };
    let mut watched = mode.clone();
    let broken = tokio::select! {
        ended = both => ended.is_err(),
        () = told(&mut watched, |mode| mode == Mode::Reset) => true,
    };
    if broken {
        reset(&client);
        reset(&server);
    }
}

async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    direction: Direction,
    mut mode: watch::Receiver<Mode>,
    number: u64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        told(&mut mode, |mode| !mode.holds(direction)).await;
        let read = from.read(&mut buffer).await?;
        // What arrived while nothing may pass waits too, and so does the end.
        told(&mut mode, |mode| !mode.holds(direction)).await;
        if read == 0 {
            return to.shutdown().await;
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        let now = *mode.borrow();
        match now {
            Mode::Delay(delay) => {
                sleep(delay).await;
                to.write_all(bytes).await?;
            }
            Mode::Chop { seed } => {
                chop(&mut to, bytes, Seeded::new(seed ^ number ^ (read as u64) << 32)).await?;
            }
            Mode::Pass | Mode::Blackhole(_) | Mode::Reset | Mode::Refuse => {
                to.write_all(bytes).await?;
            }
        }
    }
}

async fn chop(to: &mut WriteHalf<'_>, mut bytes: &[u8], mut chance: Seeded) -> io::Result<()> {
    while !bytes.is_empty() {
        let wanted = usize::try_from(1 + chance.below(PIECE)).unwrap_or(1).min(bytes.len());
        let Some((piece, rest)) = bytes.split_at_checked(wanted) else { break };
        to.write_all(piece).await?;
        bytes = rest;
        if chance.below(4) == 0 {
            sleep(Duration::from_micros(chance.below(PAUSE_MICROS))).await;
        }
    }
    Ok(())
}

/// Waits until the mode is as wanted; for ever once the proxy is gone and it is not.
async fn told(mode: &mut watch::Receiver<Mode>, wanted: impl Fn(Mode) -> bool) {
    if mode.wait_for(|mode| wanted(*mode)).await.is_err() {
        std::future::pending::<()>().await;
    }
}
