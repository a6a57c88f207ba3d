//! What is told while things take their time.

use std::time::Instant;

use crate::streams::Streams;

/// Tells each step with the time since the beginning.
#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    pub(crate) fn done(&self, text: &str, streams: &mut Streams<'_>) {
        let good = streams.stderr_palette.good;
        self.tell(&format!("{good}✓{good:#}"), text, streams);
    }

    pub(crate) fn waiting(&self, text: &str, streams: &mut Streams<'_>) {
        let frame = streams.stderr_palette.frame;
        self.tell(&format!("{frame}…{frame:#}"), text, streams);
    }

    fn tell(&self, mark: &str, text: &str, streams: &mut Streams<'_>) {
        let elapsed = self.began.elapsed();
        let (seconds, tenths) = (elapsed.as_secs(), elapsed.subsec_millis() / 100);
        streams.tell(&format!("{seconds:>4}.{tenths} s  {mark} {text}\n"));
    }
}
