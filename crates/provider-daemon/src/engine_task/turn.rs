//! One letter, and what is left after a turn.

use std::collections::HashMap;
use std::time::Duration;

use provider_engine::bidding::facts::Ask;
use provider_engine::engine::Screened;
use provider_engine::time::Now;
use provider_engine::{Effect, Engine, Input, Reply, RequestId};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Witness;
use super::inbox::{Letter, ScreenRequest, Screening};

/// Who waits for an answer.
#[derive(Debug, Default)]
pub(super) struct Requests {
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

    pub(super) fn answer(&mut self, id: RequestId, reply: Reply) {
        if let Some(answer) = self.waiting.remove(&id) {
            // Who does not wait any more is not told.
            let _ = answer.send(reply);
        }
    }
}

/// Lets the engine deal with one letter. The height that it has seen with it, if it is a block.
pub(super) fn handle(
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
pub(super) fn sort(
    effects: Vec<Effect>,
    now: Now,
    witness: &mut impl Witness,
) -> (Vec<Effect>, Option<Now>) {
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
pub(super) struct Pace {
    changed: bool,
    not_before: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { changed: false, not_before: Instant::now() }
    }

    /// Something may look different.
    pub(super) const fn changed(&mut self) {
        self.changed = true;
    }

    /// When the next one is due, if one is.
    pub(super) fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.not_before)
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.changed && now >= self.not_before
    }

    /// One is out, and took so long to make.
    pub(super) fn shown(&mut self, now: Instant, took: Duration) {
        self.changed = false;
        self.not_before = now + SHORTEST.max(took * SHARE);
    }
}
