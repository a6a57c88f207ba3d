//! What the gateway counts: connections of each listener, and limits that refused clients.

use std::sync::Arc;
use std::time::Duration;

use provider_gateway::tls::TallySnapshot;

/// How often the log looks for limits that refused clients.
const LOOK: Duration = Duration::from_secs(2);
/// Shortest time between two log lines about it.
const LOG_PERIOD: Duration = Duration::from_secs(60);

/// Label of limits that both listeners share.
const BOTH: &str = "both";

/// What the gateway counted since the start.
#[derive(Clone, Debug, Default)]
pub struct GatewayFigures {
    /// Connections, by the name of the listener.
    pub listeners: Vec<(&'static str, TallySnapshot)>,
    /// How often each limit that the listeners share refused a client.
    pub shared_limits: Vec<(&'static str, u64)>,
}

/// How often one limit refused a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitHits {
    pub(crate) listener: &'static str,
    pub(crate) limit: &'static str,
    pub(crate) count: u64,
}

impl GatewayFigures {
    /// Every limit, in the same order each time.
    pub(crate) fn limit_hits(&self) -> Vec<LimitHits> {
        let of_listeners = self.listeners.iter().flat_map(|(listener, tally)| {
            let all = tally.full.saturating_sub(tally.full_of_client);
            [("connections", all), ("connections-per-client", tally.full_of_client)]
                .map(|(limit, count)| LimitHits { listener, limit, count })
        });
        let shared = self.shared_limits.iter();
        let shared = shared.map(|&(limit, count)| LimitHits { listener: BOTH, limit, count });
        of_listeners.chain(shared).collect()
    }
}

/// Reads the counts of a gateway that serves.
#[derive(Clone, derive_more::Debug)]
#[debug("GatewayCounters")]
pub(crate) struct GatewayCounters(Arc<dyn Fn() -> GatewayFigures + Send + Sync>);

impl GatewayCounters {
    pub(crate) fn new(read: impl Fn() -> GatewayFigures + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> GatewayFigures {
        (self.0)()
    }

    /// Logs which limits refused clients, one line for all that happened since the line before.
    pub(crate) async fn log_limit_hits(self) {
        let mut logged = self.read().limit_hits();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.read().limit_hits();
            if let Some(limits) = grown(&logged, &now) {
                tracing::warn!(limits, "gateway limits refused clients");
                logged = now;
                tokio::time::sleep(LOG_PERIOD).await;
            }
        }
    }
}

/// By how much limits were hit more often, in words; `None` if none was.
fn grown(before: &[LimitHits], now: &[LimitHits]) -> Option<String> {
    let grown = before.iter().zip(now).filter_map(|(before, now)| {
        let more = now.count.saturating_sub(before.count);
        (more > 0).then(|| format!("{} ({}) {more}", now.limit, now.listener))
    });
    let grown: Vec<_> = grown.collect();
    (!grown.is_empty()).then(|| grown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_that_were_hit_since_are_named() {
        let figures = |full, streams| GatewayFigures {
            listeners: vec![(
                "rest",
                TallySnapshot { full, full_of_client: 2, ..TallySnapshot::default() },
            )],
            shared_limits: vec![("streams", streams)],
        };
        let (before, now) = (figures(5, 1).limit_hits(), figures(9, 4).limit_hits());
        assert_eq!(grown(&before, &before), None);
        assert_eq!(grown(&before, &now).unwrap(), "connections (rest) 4, streams (both) 3");
    }
}
