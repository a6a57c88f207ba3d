//! Why nothing is sent for a while.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::Class;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// What keeps the lane, or a class of it, from sending.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoldReason {
    /// The node has too many transactions waiting.
    #[error("the node's mempool is full: {log}")]
    MempoolFull {
        /// The node's words.
        log: String,
    },
    /// The node wants a higher fee than may be paid.
    #[error("the node wants a higher fee than the settings allow; raise gas prices: {log}")]
    FeeTooLow {
        /// The node's words.
        log: String,
    },
    /// The account cannot pay.
    #[error("the account has not enough money; send it some: {log}")]
    InsufficientFunds {
        /// The node's words.
        log: String,
    },
    /// Nobody pays the fee any more.
    #[error("the fee granter does not pay; renew its allowance: {log}")]
    FeeGrant {
        /// The node's words.
        log: String,
    },
    /// Signatures do not fit.
    #[error("the node refuses our signature; check chain id and key: {log}")]
    BadSignature {
        /// The node's words.
        log: String,
    },
    /// The fixed gas limit is too low.
    #[error("the configured gas is too low; set it to auto or higher: {log}")]
    GasTooLow {
        /// The node's words.
        log: String,
    },
}

#[derive(Clone, Debug)]
struct Hold {
    reason: HoldReason,
    until: Duration,
    strikes: u32,
}

impl Hold {
    fn again(before: Option<&Self>, reason: HoldReason, now: Duration) -> Self {
        // Only a reason that comes back waits longer.
        let same =
            |hold: &&Self| std::mem::discriminant(&hold.reason) == std::mem::discriminant(&reason);
        let strikes = match before.filter(same) {
            // Several transactions of one round may be refused for one reason.
            Some(hold) if hold.until > now => hold.strikes,
            Some(hold) => hold.strikes.saturating_add(1),
            None => 0,
        };
        let first = if matches!(reason, HoldReason::BadSignature { .. }) { LONGEST } else { FIRST };
        let wait = first.saturating_mul(1 << strikes.min(10)).min(LONGEST);
        Self { until: now.saturating_add(wait), reason, strikes }
    }
}

/// What is held now.
#[derive(Debug, Default)]
pub(super) struct Holds {
    all: Option<Hold>,
    classes: BTreeMap<Class, Hold>,
}

impl Holds {
    pub(super) fn hold(&mut self, reason: HoldReason, now: Duration) {
        self.all = Some(Hold::again(self.all.as_ref(), reason, now));
    }

    pub(super) fn hold_class(&mut self, class: Class, reason: HoldReason, now: Duration) {
        let hold = Hold::again(self.classes.get(&class), reason, now);
        self.classes.insert(class, hold);
    }

    /// A node took a transaction.
    pub(super) fn accepted(&mut self) {
        self.all = None;
    }

    /// A transaction of a class succeeded.
    pub(super) fn succeeded(&mut self, class: Class) {
        self.classes.remove(&class);
    }

    pub(super) fn is_held(&self, now: Duration) -> bool {
        self.all.as_ref().is_some_and(|hold| hold.until > now)
    }

    pub(super) fn is_class_held(&self, class: Class, now: Duration) -> bool {
        self.classes.get(&class).is_some_and(|hold| hold.until > now)
    }

    /// When the next hold ends.
    pub(super) fn next_end(&self, now: Duration) -> Option<Duration> {
        self.all
            .iter()
            .chain(self.classes.values())
            .map(|hold| hold.until)
            .filter(|until| *until > now)
            .min()
    }

    /// Everything that is held, for all classes or for one; also what is being tried again.
    pub(super) fn reasons(&self) -> Vec<(Option<Class>, HoldReason)> {
        let all = self.all.iter().map(|hold| (None, hold.reason.clone()));
        let classes = self.classes.iter();
        all.chain(classes.map(|(class, hold)| (Some(*class), hold.reason.clone()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> HoldReason {
        HoldReason::MempoolFull { log: String::new() }
    }

    #[test]
    fn a_reason_that_comes_back_waits_longer_and_success_forgets_it() {
        let mut holds = Holds::default();
        let mut now = Duration::ZERO;
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            holds.hold(full(), now);
            holds.hold(full(), now);
            let end = holds.next_end(now).unwrap();
            assert_eq!(end - now, Duration::from_secs(seconds));
            assert!(holds.is_held(now));
            now = end;
            assert!(!holds.is_held(now));
            assert_eq!(holds.reasons().len(), 1, "still shown while it is tried again");
        }
        holds.accepted();
        assert!(holds.reasons().is_empty());
        holds.hold(full(), now);
        assert_eq!(holds.next_end(now), Some(now + FIRST));
    }

    #[test]
    fn a_class_is_held_alone_and_a_bad_signature_is_tried_slowly() {
        let mut holds = Holds::default();
        let poor = HoldReason::InsufficientFunds { log: String::new() };
        holds.hold_class(Class::Bid, poor, Duration::ZERO);
        assert!(holds.is_class_held(Class::Bid, Duration::ZERO));
        assert!(!holds.is_class_held(Class::Close, Duration::ZERO));
        assert!(!holds.is_held(Duration::ZERO));
        holds.succeeded(Class::Bid);
        assert!(!holds.is_class_held(Class::Bid, Duration::ZERO));
        holds.hold(HoldReason::BadSignature { log: String::new() }, Duration::ZERO);
        assert_eq!(holds.next_end(Duration::ZERO), Some(LONGEST));
    }
}
