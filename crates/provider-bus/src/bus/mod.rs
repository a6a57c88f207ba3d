//! What everyone holds: publish, subscribe, latest, record, events, status.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, watch};

use crate::event::{EVENTS_KEPT, Event, EventSubscription};
use crate::fact::Fact;
use crate::link::{Link, Outbox, Target};
use crate::message::{self, Heard, Held, MalformedMessage, Topic};
use crate::status::{BusStatus, Connection};

/// A handle to the bus. Clones are the same bus.
///
/// ```text
/// let bus = Bus::in_process();
/// bus.publish(&Block { height: 7, ..Block::default() });
///
/// let mut blocks = bus.subscribe::<Block>();
/// assert_eq!(blocks.next().await?.height, 7);
/// ```
#[derive(Clone, Debug)]
pub struct Bus {
    shared: Arc<Shared>,
}

/// The newest fact of a topic, and each newer one.
#[derive(Debug)]
pub struct Subscription<F> {
    messages: watch::Receiver<Option<Held>>,
    fact: PhantomData<fn() -> F>,
}

/// The bus is gone; nothing will be told any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("every handle to the bus was dropped")]
pub struct Closed;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) publisher: String,
    slots: [watch::Sender<Option<Held>>; Topic::COUNT],
    events: broadcast::Sender<Arc<Event>>,
    status: watch::Sender<BusStatus>,
    /// What Redis has yet to take; none without Redis.
    pub(crate) outbox: Option<Outbox>,
}

impl Bus {
    pub fn in_process() -> Self {
        let shared = Shared::new(String::from("here"), Connection::InProcess, None);
        Self { shared: Arc::new(shared) }
    }

    /// A bus that reaches other processes through Redis, for as long as its [`Link`] is run.
    ///
    /// `name` says who publishes, for people who read the messages; it need not be unique.
    pub fn over_redis(target: Target, name: &str) -> Result<(Self, Link), getrandom::Error> {
        let mut id = [0; 8];
        getrandom::fill(&mut id)?;
        let connection = Connection::Reconnecting {
            since: SystemTime::now(),
            attempts: 0,
            reason: String::new(),
        };
        let publisher = format!("{name}-{}", hex::encode(id));
        let shared = Arc::new(Shared::new(publisher, connection, Some(Outbox::default())));
        Ok((Self { shared: Arc::clone(&shared) }, Link::new(target, shared)))
    }

    /// Tells a fact. Never waits and never fails: what cannot be told is counted in the status.
    pub fn publish<F: Fact>(&self, fact: &F) {
        let now_ms = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        let mut outcome = Ok(());
        self.shared.slot(F::TOPIC).send_if_modified(|held| {
            let stamp = message::next_stamp(held.as_ref(), now_ms, &self.shared.publisher);
            match message::write(fact, &stamp) {
                Ok(payload) => {
                    *held = Some(Held { stamp, payload: payload.into(), own: true });
                    true
                }
                Err(error) => {
                    outcome = Err(error);
                    false
                }
            }
        });
        match outcome {
            Ok(()) => self.shared.send_out(F::TOPIC),
            Err(_) => self.shared.count_undecodable(),
        }
    }

    /// Hears the facts of a topic: the newest first, if there is one, then each newer one.
    /// Who is slow misses what lies between.
    pub fn subscribe<F: Fact>(&self) -> Subscription<F> {
        let mut messages = self.shared.slot(F::TOPIC).subscribe();
        if messages.borrow().is_some() {
            messages.mark_changed();
        }
        Subscription { messages, fact: PhantomData }
    }

    /// The newest fact of a topic, if any was heard yet.
    pub fn latest<F: Fact>(&self) -> Option<F> {
        let held = self.shared.slot(F::TOPIC).borrow();
        held.as_ref().and_then(|held| message::read(&held.payload).ok())
    }

    /// Adds an event to the log. Never waits and never fails: while Redis is away or slow a bounded
    /// number is kept for it, and what has to be dropped, oldest first, is counted in the status.
    pub fn record(&self, event: Event) {
        let event = Arc::new(event);
        if let Some(outbox) = &self.shared.outbox {
            match serde_json::to_string(&*event) {
                Ok(data) => {
                    if !outbox.events.push(event.event.name(), data) {
                        self.shared.change_status(|status| status.events_dropped += 1);
                    }
                }
                Err(_) => self.shared.count_undecodable(),
            }
        }
        // An error means that there are no subscribers.
        let _ = self.shared.events.send(event);
    }

    /// Follows the events that this process records, from now on.
    pub fn events(&self) -> EventSubscription {
        EventSubscription(self.shared.events.subscribe())
    }

    /// How the bus is doing, now and whenever that changes.
    pub fn status(&self) -> watch::Receiver<BusStatus> {
        self.shared.status.subscribe()
    }
}

impl<F: Fact> Subscription<F> {
    /// The next fact, once there is one that this subscription has not given yet. Safe to cancel.
    pub async fn next(&mut self) -> Result<F, Closed> {
        loop {
            self.messages.changed().await.map_err(|_| Closed)?;
            // Everything in a slot was checked on its way in.
            let held = self.messages.borrow_and_update();
            if let Some(fact) = held.as_ref().and_then(|held| message::read(&held.payload).ok()) {
                return Ok(fact);
            }
        }
    }
}

impl Shared {
    fn new(publisher: String, connection: Connection, outbox: Option<Outbox>) -> Self {
        let slots = Topic::ALL.map(|_| watch::Sender::new(None));
        let status = watch::Sender::new(BusStatus::new(connection));
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        Self { publisher, slots, events, status, outbox }
    }

    #[expect(clippy::indexing_slicing, reason = "a topic's index is below their number")]
    fn slot(&self, topic: Topic) -> &watch::Sender<Option<Held>> {
        &self.slots[topic.index()]
    }

    /// The newest payload of a topic, if it was published here.
    pub(crate) fn own(&self, topic: Topic) -> Option<Arc<str>> {
        let held = self.slot(topic).borrow();
        held.as_ref().filter(|held| held.own).map(|held| Arc::clone(&held.payload))
    }

    /// Takes what Redis has on a topic, and sends out what it should have instead.
    pub(crate) fn hear(&self, topic: Topic, payload: Option<&[u8]>) {
        let Some(payload) = payload else {
            if message::hear_nothing(self.slot(topic).borrow().as_ref()) == Heard::Outdated {
                self.send_again(topic);
            }
            return;
        };
        match self.weigh(topic, payload) {
            Ok(Heard::Newer | Heard::Known) => {}
            Ok(Heard::Outdated) => self.send_again(topic),
            Err(_) => self.count_undecodable(),
        }
    }

    fn weigh(&self, topic: Topic, payload: &[u8]) -> Result<Heard, MalformedMessage> {
        let payload = std::str::from_utf8(payload)?;
        let stamp = message::stamp(payload)?;
        // Most of what is heard is what was said; only news is read whole.
        let first = message::hear(self.slot(topic).borrow().as_ref(), &stamp);
        if first != Heard::Newer {
            return Ok(first);
        }
        topic.check(payload)?;
        let mut heard = first;
        self.slot(topic).send_if_modified(|held| {
            heard = message::hear(held.as_ref(), &stamp);
            if heard == Heard::Newer {
                *held = Some(Held { stamp, payload: payload.into(), own: false });
            }
            heard == Heard::Newer
        });
        Ok(heard)
    }

    fn send_out(&self, topic: Topic) {
        if self.outbox.as_ref().is_some_and(|outbox| !outbox.put(topic)) {
            self.change_status(|status| status.superseded += 1);
        }
    }

    fn send_again(&self, topic: Topic) {
        if let Some(outbox) = &self.outbox {
            outbox.put(topic);
        }
    }

    fn count_undecodable(&self) {
        self.change_status(|status| status.undecodable += 1);
    }

    pub(crate) fn change_status(&self, change: impl FnOnce(&mut BusStatus)) {
        self.status.send_modify(change);
    }

    /// Notes why Redis does not take events, or that it does.
    pub(crate) fn events_refused(&self, why: Option<String>) {
        self.status.send_if_modified(|status| {
            let is_new = status.events_refused != why;
            status.events_refused = why;
            is_new
        });
    }
}

#[cfg(test)]
mod tests;
