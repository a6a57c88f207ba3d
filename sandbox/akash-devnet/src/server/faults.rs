//! Faults that a test switches on and off while the node runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Context;
use std::time::Duration;

use futures_util::task::AtomicWaker;

/// What goes wrong. Everything is right by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub stop_blocks: bool,
    pub block_delay: Duration,
    /// The results of the newest block are not there yet, as happens on a real node that is asked
    /// right after `status`.
    pub late_results: bool,
    pub drop_block_events: bool,
    /// This many of the next frames to subscribers are lost.
    pub drop_frames: u64,
    /// Frames to subscribers come this much later.
    pub frame_delay: Duration,
    /// The node knows nothing of this many of the newest blocks.
    pub lag: u64,
    /// The node says that it is catching up, and takes no transactions.
    pub catching_up: bool,
    pub mempool_full: bool,
    /// Methods of JSON-RPC by name, and of gRPC by path, that answer with an error.
    pub failing: BTreeMap<String, Failing>,
    /// Connections before this number are neither read nor written, and stay open.
    frozen_before: u64,
    /// Connections before this number are cut.
    cut_before: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    pub text: String,
    /// How often; `None` for always.
    pub times: Option<u32>,
}

/// The switches, shared between a test and the node.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Whether the plan differs from the default; if not, nobody needs to look at it.
    active: AtomicBool,
    connections: AtomicU64,
    plan: Mutex<Plan>,
    /// Wakes each connection, so that it looks at the plan again.
    links: Mutex<Vec<Weak<AtomicWaker>>>,
}

#[derive(Debug)]
pub(super) struct Connection {
    faults: Faults,
    number: u64,
    waker: Arc<AtomicWaker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Send,
    Late(Duration),
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Works,
    Frozen,
    Cut,
}

impl Faults {
    /// Changes what goes wrong, from now on.
    pub fn change(&self, change: impl FnOnce(&mut Plan)) {
        let mut plan = self.plan();
        change(&mut plan);
        self.0.active.store(*plan != Plan::default(), Ordering::Release);
        drop(plan);
        for link in lock(&self.0.links).iter().filter_map(Weak::upgrade) {
            link.wake();
        }
    }

    /// Makes everything right again.
    pub fn clear(&self) {
        self.change(|plan| *plan = Plan::default());
    }

    /// Makes a method answer with an error a number of times; `None` for always.
    pub fn fail(&self, method: &str, text: &str, times: Option<u32>) {
        let failing = Failing { text: text.to_owned(), times };
        self.change(|plan| drop(plan.failing.insert(method.to_owned(), failing)));
    }

    /// Freezes the connections that are open now: they stay open, and nothing passes. New ones work.
    pub fn freeze_open_connections(&self) {
        let opened = self.0.connections.load(Ordering::Acquire);
        self.change(|plan| plan.frozen_before = opened);
    }

    pub fn thaw_connections(&self) {
        self.change(|plan| plan.frozen_before = 0);
    }

    pub fn cut_open_connections(&self) {
        let opened = self.0.connections.load(Ordering::Acquire);
        self.change(|plan| plan.cut_before = opened);
    }

    /// One value of the plan, or of the default at no cost.
    pub(super) fn get<T: Default>(&self, read: impl FnOnce(&Plan) -> T) -> T {
        if self.0.active.load(Ordering::Acquire) { read(&self.plan()) } else { T::default() }
    }

    /// The error that a method answers with now.
    pub(super) fn failure(&self, method: &str) -> Option<String> {
        if !self.0.active.load(Ordering::Acquire) {
            return None;
        }
        let mut plan = self.plan();
        let failing = plan.failing.get_mut(method)?;
        match &mut failing.times {
            None => {}
            Some(0) => return None,
            Some(times) => *times -= 1,
        }
        Some(failing.text.clone())
    }

    pub(super) fn frame(&self) -> Frame {
        if !self.0.active.load(Ordering::Acquire) {
            return Frame::Send;
        }
        let mut plan = self.plan();
        if plan.drop_frames > 0 {
            plan.drop_frames -= 1;
            return Frame::Lost;
        }
        if plan.frame_delay.is_zero() { Frame::Send } else { Frame::Late(plan.frame_delay) }
    }

    pub(super) fn connected(&self) -> Connection {
        let waker = Arc::new(AtomicWaker::new());
        let mut links = lock(&self.0.links);
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(&waker));
        // Counted under the lock: whoever freezes what is open now finds it in the list.
        let number = self.0.connections.fetch_add(1, Ordering::AcqRel);
        drop(links);
        Connection { faults: self.clone(), number, waker }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        lock(&self.0.plan)
    }
}

impl Connection {
    /// Whether the connection works now; whoever asks is woken when that may have changed.
    pub(super) fn link(&self, context: &Context<'_>) -> Link {
        self.waker.register(context.waker());
        let (frozen, cut) = self.faults.get(|plan| (plan.frozen_before, plan.cut_before));
        match self.number {
            number if number < cut => Link::Cut,
            number if number < frozen => Link::Frozen,
            _ => Link::Works,
        }
    }
}

/// A panic elsewhere leaves plain values behind, which are as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wrong_until_told_and_after_clearing() {
        let faults = Faults::default();
        assert_eq!(faults.get(|plan| plan.lag), 0);
        faults.change(|plan| plan.lag = 3);
        assert_eq!(faults.get(|plan| plan.lag), 3);
        faults.clear();
        assert_eq!(faults.get(|plan| plan.lag), 0);
        assert_eq!(faults.frame(), Frame::Send);
    }

    #[test]
    fn a_method_fails_as_often_as_told() {
        let faults = Faults::default();
        faults.fail("status", "no", Some(2));
        faults.fail("block", "never", None);
        let told = [(); 3].map(|()| faults.failure("status"));
        assert_eq!(told, [Some("no".to_owned()), Some("no".to_owned()), None]);
        assert_eq!([(); 3].map(|()| faults.failure("block").is_some()), [true; 3]);
        assert_eq!(faults.failure("other"), None);
    }

    #[test]
    fn only_so_many_frames_are_lost() {
        let faults = Faults::default();
        let delay = Duration::from_millis(5);
        faults.change(|plan| (plan.drop_frames, plan.frame_delay) = (1, delay));
        assert_eq!([faults.frame(), faults.frame()], [Frame::Lost, Frame::Late(delay)]);
    }

    #[test]
    fn frozen_connections_are_those_that_were_open() {
        let faults = Faults::default();
        let old = faults.connected();
        faults.freeze_open_connections();
        let new = faults.connected();
        let context = Context::from_waker(std::task::Waker::noop());
        assert_eq!(old.link(&context), Link::Frozen);
        assert_eq!(new.link(&context), Link::Works);
        faults.thaw_connections();
        assert_eq!(old.link(&context), Link::Works);
        faults.cut_open_connections();
        assert_eq!(new.link(&context), Link::Cut);
    }
}
