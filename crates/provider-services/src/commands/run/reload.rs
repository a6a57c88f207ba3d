//! SIGHUP: what changed in files is taken over, or said to need a restart.

use provider_daemon::config::{Config, Given, Reload, changes};
use provider_daemon::log::LogHandle;
use tokio::sync::mpsc;

use super::gather;

/// What runs, and whoever has to hear of changes.
pub(super) struct Reloader {
    pub(super) given: Given,
    pub(super) running: Config,
    pub(super) log: LogHandle,
    pub(super) to: mpsc::Sender<Reload>,
}

impl Reloader {
    /// Reads files again and hands on what changed. A file that is wrong changes nothing.
    pub(super) async fn reload(&mut self) {
        let given = gather::again(&self.given);
        let new = match gather::judge(&given) {
            Ok((config, notes)) => {
                for note in notes {
                    tracing::warn!(setting = note.setting, "{note}");
                }
                config
            }
            Err(errors) => {
                for error in errors {
                    tracing::error!(%error, "the new settings are wrong; the old ones stay");
                }
                return;
            }
        };
        let (reload, waiting) = changes(&self.running, &new);
        for needs in waiting {
            tracing::warn!(setting = needs.setting, "{needs}");
        }
        if reload.changed.is_empty() {
            tracing::info!("reloaded: nothing changed that can change while running");
            return;
        }
        tracing::info!(changed = reload.changed.join(", "), "reloaded");
        self.log.set(&reload.levels);
        self.running = self.running.reloaded(&new);
        self.given = given;
        if self.to.send(reload).await.is_err() {
            tracing::warn!("the provider is stopping and does not take new settings");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::time::Duration;

    use provider_daemon::config::{Place, Value};
    use provider_daemon::log;

    use super::super::gather;
    use super::*;

    fn given(home: &Path, file: &Path) -> Given {
        let value = |(name, text): (&str, &str)| {
            (name.to_owned(), Value { text: text.to_owned(), place: Place::Flag })
        };
        let values = [
            ("from", "provider"),
            ("chain-id", "local"),
            ("home", home.to_str().unwrap()),
            ("bid-price-cpu-scale", "0.1"),
        ];
        Given {
            values: values.map(value).into_iter().collect::<BTreeMap<_, _>>(),
            file: Some(gather::read(file)),
            signer: Some(Ok("akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap())),
            ..Given::default()
        }
    }

    #[tokio::test]
    async fn changed_files_are_taken_over_and_wrong_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provider.yaml");
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        write("bidtimeout: 1m\n");
        let given = given(folder.path(), &file);
        let (running, _) = gather::judge(&given).unwrap();
        let log = log::start(&running.log).unwrap();
        let (to, mut reloads) = mpsc::channel(4);
        let mut reloader = Reloader { given, running, log, to };

        reloader.reload().await;
        assert!(reloads.try_recv().is_err(), "nothing changed");

        write("bidtimeout: 2m\noverallnonsense: 1\n");
        reloader.reload().await;
        let reload = reloads.try_recv().unwrap();
        assert_eq!(reload.settings.bid_timeout, Some(Duration::from_mins(2)));

        for wrong in ["bidtimeout: soon\n", "bidtimeout: [\n"] {
            write(wrong);
            reloader.reload().await;
            assert!(reloads.try_recv().is_err(), "{wrong}");
        }

        write("bidtimeout: 2m\nmetricslistener: 127.0.0.1:9\n");
        reloader.reload().await;
        assert!(reloads.try_recv().is_err(), "it needs a restart");

        write("bidtimeout: 3m\nmetricslistener: 127.0.0.1:9\n");
        reloader.reload().await;
        assert_eq!(reloads.try_recv().unwrap().changed, ["bid-timeout"]);
        assert_eq!(reloader.running.metrics, None);
    }
}
