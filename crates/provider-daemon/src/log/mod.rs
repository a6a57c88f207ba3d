//! Logs: what is logged, in which form, and changing the former while running.
//!
//! Everything goes to standard error, a line each. Must not know who logs what.

mod json;
mod levels;

use std::str::FromStr;

use json::JsonLine;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

pub use levels::{Level, Levels, LevelsError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    pub levels: Levels,
    pub format: LogFormat,
    pub colour: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Plain,
    /// An object for programs.
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a form of logs")]
pub struct LogFormatError(String);

impl FromStr for LogFormat {
    type Err = LogFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "plain" | "text" => Ok(Self::Plain),
            "json" => Ok(Self::Json),
            _ => Err(LogFormatError(text.chars().take(64).collect())),
        }
    }
}

/// Changes what is logged.
#[derive(Clone, Debug)]
pub struct LogHandle {
    filter: reload::Handle<Targets, Registry>,
}

impl LogHandle {
    /// Logs at these levels from now on.
    pub fn set(&self, levels: &Levels) {
        // It fails only when nobody logs any more, and then nobody misses it.
        let _ = self.filter.reload(levels.filter());
    }
}

/// Something else has begun to log in this process.
#[derive(Debug, thiserror::Error)]
#[error("logging was started before in this process")]
pub struct AlreadyLogging;

/// Begins to log to standard error, for the whole process.
pub fn start(settings: &LogSettings) -> Result<LogHandle, AlreadyLogging> {
    begin(settings, std::io::stderr)
}

/// Begins to log to a file, for the whole process.
pub fn start_in(settings: &LogSettings, file: std::fs::File) -> Result<LogHandle, AlreadyLogging> {
    begin(settings, std::sync::Mutex::new(file))
}

fn begin<W>(settings: &LogSettings, to: W) -> Result<LogHandle, AlreadyLogging>
where
    W: for<'a> fmt::MakeWriter<'a> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(settings.levels.filter());
    let lines = lines(settings, to);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
    subscriber.try_init().map_err(|_| AlreadyLogging)?;
    Ok(LogHandle { filter: handle })
}

fn lines<W>(settings: &LogSettings, to: W) -> Box<dyn Layer<Registry> + Send + Sync>
where
    W: for<'a> fmt::MakeWriter<'a> + Send + Sync + 'static,
{
    match settings.format {
        LogFormat::Plain => fmt::layer().with_ansi(settings.colour).with_writer(to).boxed(),
        LogFormat::Json => fmt::layer()
            .event_format(JsonLine)
            .fmt_fields(JsonFields::new())
            .with_writer(to)
            .boxed(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::log::LogFormat;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is written while `act` runs.
    fn logged(format: LogFormat, levels: &str, act: impl FnOnce(&LogHandle)) -> Vec<String> {
        let settings = LogSettings { levels: levels.parse().unwrap(), format, colour: false };
        let written = Lines::default();
        let to = written.clone();
        let (filter, handle) = reload::Layer::new(settings.levels.filter());
        let lines = lines(&settings, move || to.clone());
        let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
        let handle = LogHandle { filter: handle };
        tracing::subscriber::with_default(subscriber, || act(&handle));
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn json_lines_carry_time_level_message_and_the_fields_of_spans() {
        let lines = logged(LogFormat::Json, "info", |_| {
            let outer = tracing::info_span!("lease", dseq = 101_u64, state = "open");
            let _outer = outer.enter();
            let inner = tracing::info_span!("deploy", try_ = 2_u64);
            let _inner = inner.enter();
            tracing::warn!(state = "won", cost = "5 \"uakt\"", "it \n works");
        });
        let line: serde_json::Value = serde_json::from_str(&lines.join("")).unwrap();
        let time = line["ts"].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
        assert_eq!(line["level"], "warn");
        assert_eq!(line["message"], "it \n works");
        assert_eq!(line["dseq"], 101);
        assert_eq!(line["try_"], 2);
        assert_eq!(line["state"], "won", "the event knows better than what it happened in");
        assert_eq!(line["cost"], "5 \"uakt\"");
        assert_eq!(line["span"], "lease:deploy");
        assert_eq!(line["module"], "provider_daemon::log::tests");
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn plain_lines_carry_the_same() {
        let lines = logged(LogFormat::Plain, "info", |_| {
            let _span = tracing::info_span!("lease", dseq = 101_u64).entered();
            tracing::info!(price = "5uakt", "bid");
        });
        assert_eq!(lines.len(), 1);
        for wanted in ["INFO", "dseq=101", "bid", "price=\"5uakt\""] {
            assert!(lines[0].contains(wanted), "{lines:?}");
        }
    }

    #[test]
    fn levels_can_change_while_logging() {
        let lines = logged(LogFormat::Json, "warn", |handle| {
            tracing::info!("one");
            handle.set(&"debug".parse().unwrap());
            tracing::debug!("two");
            handle.set(&"error".parse().unwrap());
            tracing::warn!("three");
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("two"));
    }
}
