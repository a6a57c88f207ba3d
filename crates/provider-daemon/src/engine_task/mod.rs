//! The one owner of the engine.
//!
//! ```text
//!  Inbox ──► drain ──► handle all of it ──► keep (one commit) ──► start the effects
//!    ▲                                                                 │
//!    └──────────────── answers of chain, lane, cluster, script ◄───────┘
//! ```
//!
//! The engine never waits. What it wants is started only after what it decided is kept; each kind of
//! effect has a limit of how many are out at once, and what is over it waits in its own task.
//! Status is published after a turn, not with each input: a burst costs one snapshot.
//!
//! It has a thread of its own: a turn may be long and ends with a write to the disk, and nobody who
//! is served by the others has to wait for that. It also keeps what it remembers for long in one
//! place: with threads that take turns, each leaves holes in its own part of the heap.

mod effects;
mod inbox;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use provider_engine::cluster::port::Execute;
use provider_engine::engine::Published;
use provider_engine::time::Now;
use provider_engine::{Effect, Engine, Input};
use tokio::sync::watch;
use tokio::time::Instant;

pub use effects::Script;
pub(crate) use effects::World;
pub use inbox::{Busy, Handle, Inbox, ScreenRequest, Screening};
pub(crate) use inbox::{Letter, Letters, open};

use crate::part::Stop;
use turn::Pace;

/// Letters that one turn takes at most, so that what was decided is carried out.
const TURN: usize = 4096;

/// Keeps and counts what the engine does. Convergence depends on nothing of it.
pub trait Witness: Send + 'static {
    fn told(&mut self, now: Now, input: &Input);
    fn wants(&mut self, now: Now, effect: &Effect);
    /// A turn is over, and the newest block seen in it, if there was one. What it wants is started
    /// when this returns, so what was decided is kept by then, in one commit.
    fn keep(&mut self, cursor: Option<u64>);
    /// A new status is out.
    fn published(&mut self, published: &Arc<Published>);
}

/// The engine with everything around it.
#[derive(Debug)]
pub(crate) struct EngineTask<C, S, W> {
    pub(crate) engine: Engine,
    pub(crate) letters: Letters,
    pub(crate) outside: World<C, S>,
    pub(crate) witness: W,
    pub(crate) shown: watch::Sender<Arc<Published>>,
    pub(crate) stop: Stop,
}

impl<C: Execute + Clone + 'static, S: Script, W: Witness> EngineTask<C, S, W> {
    /// Works until it is time to stop, or nobody is left to tell it anything.
    pub(crate) async fn run(mut self) {
        let origin = Instant::now();
        let now = || Now::new(origin.elapsed());
        let mut wake: Option<Now> = Some(now());
        let mut pace = Pace::new();
        let mut waiting = Vec::new();
        let mut requests = turn::Requests::default();
        loop {
            let wake_at = wake.map(|at| origin + at.since_origin());
            let alarm = earliest(wake_at, pace.due());
            waiting.clear();
            tokio::select! {
                biased;
                () = self.stop.stopped() => return,
                count = self.letters.take(&mut waiting, TURN) => {
                    if count == 0 {
                        return;
                    }
                }
                () = until(alarm) => {}
            }
            if waiting.is_empty() && wake.is_some_and(|at| at <= now()) {
                waiting.push(Letter::Input(Input::Tick));
            }
            let (mut effects, mut cursor) = (Vec::new(), None);
            for letter in waiting.drain(..) {
                let (engine, witness) = (&mut self.engine, &mut self.witness);
                let seen =
                    turn::handle(engine, witness, &mut requests, now(), letter, &mut effects);
                cursor = cursor.max(seen);
            }
            if !effects.is_empty() {
                pace.changed();
                let (wanted, next) = turn::sort(effects, now(), &mut self.witness);
                wake = next;
                self.witness.keep(cursor);
                for effect in wanted {
                    match effect {
                        Effect::Reply(request, reply) => requests.answer(request, reply),
                        effect => self.outside.start(effect).await,
                    }
                }
                self.outside.send_intents().await;
            }
            if pace.is_due(Instant::now()) {
                let began = Instant::now();
                let published = Arc::new(self.engine.published());
                self.witness.published(&published);
                self.shown.send_replace(published);
                pace.shown(Instant::now(), began.elapsed());
            }
        }
    }
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        // Looked at once a minute, so that a wish lost to a bug is not lost for ever.
        None => tokio::time::sleep(Duration::from_secs(60)).await,
    }
}
