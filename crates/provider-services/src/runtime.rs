//! The async runtime, for the commands that talk to somebody.

use std::time::Duration;

use anyhow::Context;

/// How long threads have to end once everything is over.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(future)
}

/// Runs a future to its end, with a thread for each core to help.
pub(crate) fn block_on_threads<T>(
    future: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    let ended = runtime.block_on(future);
    // A thread that does not end by itself keeps nobody from leaving.
    runtime.shutdown_timeout(LAST_WORDS);
    ended
}

/// Ready when somebody wants the program to stop.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let context = "cannot listen for signals";
    let mut interrupt = signal(SignalKind::interrupt()).context(context)?;
    let mut terminate = signal(SignalKind::terminate()).context(context)?;
    let mut hangup = signal(SignalKind::hangup()).context(context)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
