//! Whether the API server answers at all.
//!
//! A watch can be silent because nothing happens. So the API server is asked every few seconds, and
//! at once when somebody got no answer.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::client::{Calls, Failure};

/// How often it is asked while it answers, and while it does not.
const EVERY: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(1));
/// How long an answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(4);

/// Asks for good.
pub(super) async fn pulse(calls: Calls, shared: Arc<Shared>) {
    loop {
        let answers = match calls.ping().await {
            Err(Failure::Unavailable { why, .. }) => {
                shared.health().is_silent(&why);
                shared.changed.notify_one();
                false
            }
            // Also who will not tell us how it is does answer.
            _ => {
                if shared.health().answers() {
                    shared.again.notify_waiters();
                    shared.changed.notify_one();
                }
                true
            }
        };
        let (well, silent) = EVERY;
        tokio::select! {
            () = tokio::time::sleep(if answers { well } else { silent }) => {}
            () = shared.doubt.notified(), if answers => {}
        }
    }
}
