//! Which of two messages on a topic is the newer one. No IO, no clock.
//!
//! Every process keeps the newest message of each topic. Stamps are the same wherever a message
//! is heard, so all processes end up with the same one, in whatever order they hear them, and
//! however often. A stamp is the time of its publisher, or one more than the newest it knew: a
//! clock that is behind does not make a publisher inaudible.

use std::sync::Arc;

use crate::message::Stamp;

/// The newest message of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) stamp: Stamp,
    pub(crate) payload: Arc<str>,
    /// Published here, hence ours to bring into Redis.
    pub(crate) own: bool,
}

/// What to make of a message that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Newer than what is held: hold it.
    Newer,
    /// The one that is held, or older than another publisher's: nothing to do.
    Known,
    /// Older than what was published here, which Redis has lost or never had: tell it again.
    Outdated,
}

pub(crate) fn next_stamp(held: Option<&Held>, now_ms: u64, publisher: &str) -> Stamp {
    let after = held.map_or(0, |held| held.stamp.time.saturating_add(1));
    Stamp { time: now_ms.max(after), publisher: publisher.to_owned() }
}

pub(crate) fn hear(held: Option<&Held>, stamp: &Stamp) -> Heard {
    match held {
        None => Heard::Newer,
        Some(held) if *stamp > held.stamp => Heard::Newer,
        Some(held) if *stamp < held.stamp && held.own => Heard::Outdated,
        Some(_) => Heard::Known,
    }
}

/// What to make of Redis holding nothing.
pub(crate) fn hear_nothing(held: Option<&Held>) -> Heard {
    if held.is_some_and(|held| held.own) { Heard::Outdated } else { Heard::Known }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn held(time: u64, publisher: &str, own: bool) -> Held {
        let stamp = Stamp { time, publisher: publisher.into() };
        Held { stamp, payload: "{}".into(), own }
    }

    #[test]
    fn a_clock_that_is_behind_still_makes_newer_stamps() {
        assert_eq!(next_stamp(None, 50, "b").time, 50);
        assert_eq!(next_stamp(Some(&held(90, "a", false)), 50, "b").time, 91);
        assert_eq!(next_stamp(Some(&held(90, "a", false)), 100, "b").time, 100);
    }

    #[test]
    fn only_the_publisher_repeats_what_redis_has_lost() {
        let stamp = |time, publisher: &str| Stamp { time, publisher: publisher.into() };
        for (name, held, heard, expected) in [
            ("nothing held", None, Some(stamp(1, "b")), Heard::Newer),
            ("newer", Some(held(5, "a", true)), Some(stamp(6, "b")), Heard::Newer),
            ("equal time", Some(held(5, "a", true)), Some(stamp(5, "b")), Heard::Newer),
            ("its echo", Some(held(5, "a", true)), Some(stamp(5, "a")), Heard::Known),
            ("older than own", Some(held(5, "a", true)), Some(stamp(4, "b")), Heard::Outdated),
            ("older than other's", Some(held(5, "a", false)), Some(stamp(4, "b")), Heard::Known),
            ("own lost", Some(held(5, "a", true)), None, Heard::Outdated),
            ("other's lost", Some(held(5, "a", false)), None, Heard::Known),
            ("nothing anywhere", None, None, Heard::Known),
        ] {
            let got = match heard {
                Some(stamp) => hear(held.as_ref(), &stamp),
                None => hear_nothing(held.as_ref()),
            };
            assert_eq!(got, expected, "{name}");
        }
    }

    proptest! {
        /// Processes that publish and hear in any order, through a Redis that forgets now and
        /// then, agree once everything was heard.
        #[test]
        fn all_agree_on_one_newest(
            steps in prop::collection::vec((0_usize..3, 0_u8..4, 0_u64..20), 1..60),
        ) {
            let mut processes: Vec<Option<Held>> = vec![None; 3];
            let mut redis: Option<Held> = None;
            for (who, action, now) in steps {
                match action {
                    0 => {
                        let name = format!("p{who}");
                        let stamp = next_stamp(processes[who].as_ref(), now, &name);
                        if let Some(before) = &processes[who] {
                            prop_assert!(stamp > before.stamp);
                        }
                        processes[who] = Some(Held { stamp, payload: "{}".into(), own: true });
                    }
                    1 => redis = processes[who].clone().filter(|held| held.own).or(redis),
                    2 => redis = None,
                    _ => sync(&mut processes[who], &mut redis),
                }
            }
            for _ in 0..3 {
                processes.iter_mut().for_each(|process| sync(process, &mut redis));
            }
            let stamps: Vec<_> = processes.iter().flatten().map(|held| &held.stamp).collect();
            prop_assert!(stamps.iter().all(|stamp| Some(*stamp) == stamps.first().copied()));
            if let Some(own) = processes.iter().flatten().find(|held| held.own) {
                prop_assert_eq!(Some(&own.stamp), redis.as_ref().map(|held| &held.stamp));
            }
        }
    }

    fn sync(process: &mut Option<Held>, redis: &mut Option<Held>) {
        let heard = match redis.as_ref() {
            Some(message) => hear(process.as_ref(), &message.stamp),
            None => hear_nothing(process.as_ref()),
        };
        match heard {
            Heard::Newer => *process = redis.clone().map(|held| Held { own: false, ..held }),
            Heard::Known => {}
            Heard::Outdated => *redis = process.clone(),
        }
    }
}
