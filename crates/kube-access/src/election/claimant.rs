//! Whether to take the Lease, keep it, or wait.

use std::time::Duration;

/// How long a Lease counts after it was last renewed.
pub(super) const LEASE_DURATION: Duration = Duration::from_secs(15);

/// Who has the Lease, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The holder; empty if it was given back.
    pub(super) holder: String,
    pub(super) version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take,
    /// Ask again later: somebody else has it.
    Wait,
}

#[derive(Clone, Debug)]
pub(super) struct Claimant {
    name: String,
    /// What was seen last, and since when it is so.
    seen: Option<(Option<Seen>, Duration)>,
    /// When it was last written to be ours.
    renewed: Option<Duration>,
}

impl Claimant {
    pub(super) const fn new(name: String) -> Self {
        Self { name, seen: None, renewed: None }
    }

    /// The Lease was read; `None` if there is none.
    pub(super) fn sees(&mut self, seen: Option<Seen>, now: Duration) -> Step {
        let is_ours = seen.as_ref().is_none_or(|seen| seen.holder == self.name);
        let is_free = seen.as_ref().is_some_and(|seen| seen.holder.is_empty());
        let since = match &self.seen {
            Some((known, since)) if *known == seen => *since,
            _ => {
                self.seen = Some((seen, now));
                now
            }
        };
        if is_ours || is_free || now.saturating_sub(since) >= LEASE_DURATION {
            return Step::Take;
        }
        self.renewed = None;
        Step::Wait
    }

    /// The Lease was written to be ours, by a call that began then.
    pub(super) const fn took(&mut self, began: Duration) {
        self.renewed = Some(began);
    }

    /// Until when it leads unless it renews: nobody else takes a Lease that was renewed so lately.
    pub(super) fn until(&self) -> Option<Duration> {
        Some(self.renewed?.saturating_add(LEASE_DURATION * 2 / 3))
    }

    pub(super) fn leads(&self, now: Duration) -> bool {
        self.until().is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(holder: &str, version: u32) -> Option<Seen> {
        Some(Seen { holder: holder.to_owned(), version: version.to_string() })
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_lease_is_taken_when_it_is_free_ours_or_silent() {
        let new = || Claimant::new("me".to_owned());
        assert_eq!(new().sees(None, at(0)), Step::Take);
        assert_eq!(new().sees(by("", 1), at(0)), Step::Take);
        assert_eq!(new().sees(by("me", 1), at(0)), Step::Take);
        let mut waits = new();
        assert_eq!(waits.sees(by("you", 1), at(0)), Step::Wait);
        assert_eq!(waits.sees(by("you", 1), at(14)), Step::Wait);
        assert_eq!(waits.sees(by("you", 2), at(14)), Step::Wait);
        assert_eq!(waits.sees(by("you", 2), at(28)), Step::Wait);
        assert_eq!(waits.sees(by("you", 2), at(29)), Step::Take);
    }

    #[test]
    fn who_cannot_renew_stops_before_anybody_else_begins() {
        let (mut old, mut new) = (Claimant::new("old".to_owned()), Claimant::new("new".to_owned()));
        old.took(at(0));
        assert_eq!(new.sees(by("old", 1), at(0)), Step::Wait);
        for now in 0..60 {
            let takes = new.sees(by("old", 1), at(now)) == Step::Take;
            assert!(!(takes && old.leads(at(now))), "both at {now}");
        }
        assert!(old.leads(at(9)) && !old.leads(at(10)));
    }

    #[test]
    fn who_sees_another_holder_leads_no_longer() {
        let mut me = Claimant::new("me".to_owned());
        me.took(at(0));
        assert!(me.leads(at(1)));
        assert_eq!(me.sees(by("you", 2), at(1)), Step::Wait);
        assert!(!me.leads(at(1)));
    }
}
