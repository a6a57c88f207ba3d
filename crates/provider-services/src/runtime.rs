//! The async runtime, for the commands that talk to somebody.

use anyhow::Context;

/// Runs a future to its end on this thread.
///
/// # Errors
///
/// The future's own, or that the system has no runtime to give.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(future)
}
