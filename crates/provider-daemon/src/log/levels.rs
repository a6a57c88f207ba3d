//! From which level on something is logged, in all and by module.

use std::fmt;
use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// What our own modules are called, up to where their names differ.
const OURS: [&str; 2] = ["akash_", "provider_"];

/// Who logs what is handled, and logged, by those who asked: every call that an API server that is
/// away does not answer.
const TOLD_TWICE: &str = "kube_client";

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    Error,
    /// What may go wrong.
    Warn,
    Info,
    Debug,
    Trace,
}

/// How much is logged, in all and by module.
///
/// Modules of others, such as those for HTTP, are never more talkative than `info` unless they are
/// named; one that tells what is told anyway is silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    default: Level,
    modules: Vec<(String, Level)>,
}

/// A text that is not a level, or not a list of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelsError {
    #[error("{0:?} is not a level")]
    Level(String),
    #[error("{0:?} is not a module with its level")]
    Pair(String),
}

impl FromStr for Level {
    type Err = LevelsError;

    /// The names of zerolog and of Cosmos, and those of tracing.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.trim().to_ascii_lowercase().as_str() {
            "trace" => Self::Trace,
            "debug" => Self::Debug,
            "info" => Self::Info,
            "warn" | "warning" => Self::Warn,
            "error" | "fatal" | "panic" => Self::Error,
            "off" | "none" | "disabled" => Self::Off,
            _ => return Err(LevelsError::Level(text.chars().take(64).collect())),
        })
    }
}

impl FromStr for Levels {
    type Err = LevelsError;

    /// Reads `info`, or `provider_daemon:debug,*:info`. Without `*` the rest is at `info`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains(':') {
            return Ok(Self { default: text.parse()?, modules: Vec::new() });
        }
        let mut levels = Self { default: Level::Info, modules: Vec::new() };
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            // From the right: the names of modules have colons too.
            match item.rsplit_once(':') {
                Some(("*", level)) => levels.default = level.parse()?,
                Some((module, level)) if !module.is_empty() => {
                    levels.modules.push((module.to_owned(), level.parse()?));
                }
                _ => return Err(LevelsError::Pair(item.chars().take(64).collect())),
            }
        }
        Ok(levels)
    }
}

impl Levels {
    pub(super) fn filter(&self) -> Targets {
        let ours = OURS.iter().map(|prefix| (*prefix, filter(self.default)));
        let named = self.modules.iter().map(|(module, level)| (module.as_str(), filter(*level)));
        let others = filter(self.default.min(Level::Info));
        let twice = std::iter::once((TOLD_TWICE, LevelFilter::OFF));
        Targets::new().with_default(others).with_targets(ours.chain(twice).chain(named))
    }
}

const fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Off => LevelFilter::OFF,
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |level: Level| format!("{level:?}").to_ascii_lowercase();
        if self.modules.is_empty() {
            return f.write_str(&name(self.default));
        }
        for (module, level) in &self.modules {
            write!(f, "{module}:{},", name(*level))?;
        }
        write!(f, "*:{}", name(self.default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enabled(levels: &str, target: &str, level: tracing::Level) -> bool {
        levels.parse::<Levels>().unwrap().filter().would_enable(target, &level)
    }

    #[test]
    fn a_level_holds_for_ours_and_no_more_than_info_for_others() {
        assert!(enabled("debug", "provider_daemon::chain", tracing::Level::DEBUG));
        assert!(enabled("debug", "akash_chain::tx", tracing::Level::DEBUG));
        assert!(!enabled("debug", "h2::codec", tracing::Level::DEBUG));
        assert!(enabled("debug", "h2::codec", tracing::Level::INFO));
        assert!(!enabled("error", "h2::codec", tracing::Level::WARN));
        assert!(!enabled("info", "provider_daemon", tracing::Level::DEBUG));
        assert!(!enabled("none", "provider_daemon", tracing::Level::ERROR));
        assert!(!enabled("info", "kube_client::client::builder", tracing::Level::ERROR));
        assert!(enabled("kube_client:debug", "kube_client::client", tracing::Level::DEBUG));
    }

    #[test]
    fn modules_have_levels_of_their_own() {
        let levels = "provider_daemon::chain:debug,h2:trace,*:error";
        assert!(enabled(levels, "provider_daemon::chain::follow", tracing::Level::DEBUG));
        assert!(!enabled(levels, "provider_daemon::store", tracing::Level::WARN));
        assert!(enabled(levels, "h2::codec", tracing::Level::TRACE));
        assert!(enabled("state:debug", "provider_daemon", tracing::Level::INFO));
    }

    #[test]
    fn names_of_others_are_understood_and_nonsense_is_not() {
        for (text, shown) in [
            ("info", "info"),
            ("WARNING", "warn"),
            ("panic", "error"),
            ("disabled", "off"),
            ("a:debug, *:warn", "a:debug,*:warn"),
        ] {
            assert_eq!(text.parse::<Levels>().unwrap().to_string(), shown, "{text}");
        }
        for bad in ["", "loud", "a:loud", ":info", "a:debug,info", "info,debug"] {
            assert!(bad.parse::<Levels>().is_err(), "{bad}");
        }
    }
}
