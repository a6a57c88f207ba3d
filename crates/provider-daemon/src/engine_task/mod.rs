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

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use provider_engine::cluster::port::Execute;
use provider_engine::engine::{Published, Screened};
use provider_engine::order::facts::Ask;
use provider_engine::time::Now;
use provider_engine::{Effect, Engine, Input, Reply, RequestId};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::part::Stop;

pub use effects::Script;
pub(crate) use effects::World;
pub use inbox::{Busy, Handle, Inbox, ScreenRequest, Screening};
pub(crate) use inbox::{Letter, Letters, open};

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
        let mut requests = Requests::default();
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
                let seen = handle(engine, witness, &mut requests, now(), letter, &mut effects);
                cursor = cursor.max(seen);
            }
            if !effects.is_empty() {
                pace.changed();
                let (wanted, next) = sort(effects, now(), &mut self.witness);
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

/// Who waits for an answer.
#[derive(Debug, Default)]
struct Requests {
    next: u64,
    waiting: HashMap<RequestId, oneshot::Sender<Reply>>,
}

impl Requests {
    fn add(&mut self, answer: oneshot::Sender<Reply>) -> RequestId {
        // Those who gave up need no answer.
        if self.waiting.len() >= 1024 {
            self.waiting.retain(|_, answer| !answer.is_closed());
        }
        self.next += 1;
        let id = RequestId(self.next);
        self.waiting.insert(id, answer);
        id
    }

    fn answer(&mut self, id: RequestId, reply: Reply) {
        if let Some(answer) = self.waiting.remove(&id) {
            // Who does not wait any more is not told.
            let _ = answer.send(reply);
        }
    }
}

/// Lets the engine deal with one letter. The height that it has seen with it, if it is a block.
fn handle(
    engine: &mut Engine,
    witness: &mut impl Witness,
    requests: &mut Requests,
    now: Now,
    letter: Letter,
    effects: &mut Vec<Effect>,
) -> Option<u64> {
    let input = match letter {
        Letter::Input(input) => input,
        Letter::Tenant(request, answer) => Input::Tenant(requests.add(answer), request),
        Letter::Operator(request, answer) => Input::Operator(requests.add(answer), request),
        Letter::Screen(request, answer) => {
            let _ = answer.send(screen(engine, &request));
            return None;
        }
    };
    witness.told(now, &input);
    let height = match &input {
        Input::Block(block) => Some(block.height),
        Input::Resync { height, .. } => Some(*height),
        _ => None,
    };
    effects.extend(engine.handle(now, input));
    height
}

fn screen(engine: &mut Engine, request: &ScreenRequest) -> Screening {
    let ScreenRequest { spec, hostnames, owner, reclamation_min_window } = request;
    let (owner, reclamation_min_window) = (*owner, *reclamation_min_window);
    let screened = engine.screen(&Ask { owner, spec, reclamation_min_window });
    let (bid, declines) = match screened {
        Screened::NotReady(why) => return Screening::NotReady(why),
        Screened::Bid(bid) => (Some(bid), Vec::new()),
        Screened::Declined(declines) => (None, declines),
    };
    let named = engine.check_hostnames(hostnames).err();
    match bid.filter(|_| named.is_none()) {
        Some(bid) => Screening::Yes(bid),
        None => {
            let reasons = declines.iter().map(ToString::to_string);
            Screening::No(reasons.chain(named.map(|refusal| refusal.to_string())).collect())
        }
    }
}

/// What is to be started, and when to look again: of several the newest wish. The witness sees all
/// of it.
fn sort(effects: Vec<Effect>, now: Now, witness: &mut impl Witness) -> (Vec<Effect>, Option<Now>) {
    let (mut wanted, mut wake) = (Vec::new(), None);
    for effect in effects {
        witness.wants(now, &effect);
        match effect {
            Effect::WakeAt(at) => wake = Some(at),
            Effect::Record(_) | Effect::Publish(_) => {}
            other => wanted.push(other),
        }
    }
    (wanted, wake)
}

/// Shortest time between two.
const SHORTEST: Duration = Duration::from_millis(50);
/// The share of time that making them may take, as a divisor.
const SHARE: u32 = 20;

/// Says when a status is due: soon after something changed, never so often that making them takes
/// more than a twentieth of the time.
#[derive(Debug)]
struct Pace {
    changed: bool,
    not_before: Instant,
}

impl Pace {
    fn new() -> Self {
        Self { changed: false, not_before: Instant::now() }
    }

    /// Something may look different.
    const fn changed(&mut self) {
        self.changed = true;
    }

    /// When the next one is due, if one is.
    fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.not_before)
    }

    fn is_due(&self, now: Instant) -> bool {
        self.changed && now >= self.not_before
    }

    /// One is out, and took so long to make.
    fn shown(&mut self, now: Instant, took: Duration) {
        self.changed = false;
        self.not_before = now + SHORTEST.max(took * SHARE);
    }
}
