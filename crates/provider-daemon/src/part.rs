//! The parts of a running provider, and how each is.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use akash_types::Backoff;
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{}", self.as_str())]
pub enum Lifecycle {
    /// It is not ready for its work yet.
    Initializing,
    Running,
    /// It was told to end.
    Stopping,
    Done,
}

impl Lifecycle {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Done => "done",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartStatus {
    pub name: &'static str,
    pub lifecycle: Lifecycle,
    /// How often it was started again.
    pub restarts: u32,
    /// What went wrong last, if it did not come right since.
    pub problem: Option<String>,
}

/// All parts, for whoever shows them.
#[derive(Clone, Debug, Default)]
pub struct Parts(Arc<Mutex<BTreeMap<&'static str, PartStatus>>>);

impl Parts {
    /// How every part is, by name.
    pub fn all(&self) -> Vec<PartStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub fn begin(&self, name: &'static str) -> Part {
        let part = Part { name, parts: self.clone() };
        part.change(|_| {});
        part
    }
}

/// One part, for whoever runs it.
#[derive(Clone, Debug)]
pub struct Part {
    name: &'static str,
    parts: Parts,
}

impl Part {
    /// It is somewhere else in its life.
    pub fn is(&self, lifecycle: Lifecycle) {
        self.change(|status| {
            status.lifecycle = lifecycle;
            if lifecycle == Lifecycle::Running {
                status.problem = None;
            }
        });
    }

    /// Something is wrong with it.
    pub fn has_problem(&self, problem: impl Into<String>) {
        let problem = problem.into();
        self.change(|status| status.problem = Some(problem));
    }

    fn restarted(&self) {
        self.change(|status| {
            status.lifecycle = Lifecycle::Initializing;
            status.restarts = status.restarts.saturating_add(1);
        });
    }

    fn change(&self, change: impl FnOnce(&mut PartStatus)) {
        let mut parts = self.parts.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(parts.entry(self.name).or_insert(PartStatus {
            name: self.name,
            lifecycle: Lifecycle::Initializing,
            restarts: 0,
            problem: None,
        }));
    }
}

/// Says when to stop, to any number of tasks.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// Tells everybody to stop; so does dropping it.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stop {
    pub fn new() -> (Stopper, Self) {
        let (sender, receiver) = watch::channel(false);
        (Stopper(sender), Self(receiver))
    }

    /// Waits until it is time.
    pub async fn stopped(&mut self) {
        // An error means that the stopper is gone.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

impl Stopper {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Before a part is started again.
const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(250), most: Duration::from_secs(30) };
/// A part that worked this long begins with short pauses again.
const GOOD_WHILE: Duration = Duration::from_secs(60);

/// Runs a part until it is time to stop, again and again if it ends or breaks down, with pauses that
/// grow. It calls [`Part::is`] itself once it works.
pub async fn keep_running<F, E>(part: Part, mut stop: Stop, mut run: impl FnMut(Part) -> F)
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: fmt::Display + Send + 'static,
{
    let mut failures = 0_u32;
    loop {
        let began = tokio::time::Instant::now();
        let mut task = Bound(tokio::spawn(run(part.clone())));
        let ended = tokio::select! {
            ended = &mut task.0 => ended,
            () = stop.stopped() => {
                part.is(Lifecycle::Done);
                return;
            }
        };
        let problem = match ended {
            Ok(Ok(())) => "it ended by itself".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => format!("it broke down, which is a bug: {panic}"),
        };
        tracing::error!(part = part.name, problem, "a part ended and is started again");
        part.has_problem(problem);
        if began.elapsed() >= GOOD_WHILE {
            failures = 0;
        }
        failures = failures.saturating_add(1);
        let pause = BACKOFF.within(failures, u64::from(std::process::id()));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.stopped() => {
                part.is(Lifecycle::Done);
                return;
            }
        }
        part.restarted();
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
pub(crate) struct Bound<T>(pub(crate) tokio::task::JoinHandle<T>);

impl<T> Drop for Bound<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_part_that_ends_or_breaks_down_is_started_again_until_it_is_time_to_stop() {
        let parts = Parts::default();
        let (stopper, stop) = Stop::new();
        let lives = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&lives);
        let task = tokio::spawn(keep_running(parts.begin("clock"), stop, move |part| {
            let life = counted.fetch_add(1, Ordering::Relaxed);
            async move {
                match life {
                    0 => Err("out of ticks".to_owned()),
                    1 => panic!("a spring broke"),
                    _ => {
                        part.is(Lifecycle::Running);
                        std::future::pending().await
                    }
                }
            }
        }));
        tokio::time::sleep(Duration::from_secs(5)).await;
        let [clock] = parts.all().try_into().unwrap();
        assert_eq!(lives.load(Ordering::Relaxed), 3);
        assert_eq!((clock.lifecycle, clock.restarts), (Lifecycle::Running, 2));
        assert_eq!(clock.problem, None, "it works again");
        stopper.stop();
        task.await.unwrap();
        assert_eq!(parts.all()[0].lifecycle, Lifecycle::Done);
    }
}
