//! A fact as JSON, with its version and its stamp.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fact::{
    BalanceStatus, BidEngineStatus, Block, ClusterStatus, Fact, InventoryCluster, InventoryNodes,
    InventoryStatus, InventoryStorage, LeaseChange, ManifestStatus,
};

/// The version that this program writes. Newer ones are read as far as they are understood.
pub const VERSION: u32 = 1;

/// Bytes that a payload may have. A thousand nodes take a tenth of it.
pub const PAYLOAD_LIMIT: usize = 4 << 20;

/// Stamps end in the year 2248: one from beyond could never be followed by a newer one.
const LAST_TIME: u64 = 1 << 43;

/// When a message was published, and by whom: of two messages the one with the higher stamp is
/// the newer one, everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    /// Milliseconds since 1970, or one more than what was heard before.
    pub(crate) time: u64,
    /// Who published it. Decides between equal times.
    pub(crate) publisher: String,
}

/// Why a payload is not a message.
#[derive(Debug, thiserror::Error)]
pub enum MalformedMessage {
    #[error("{0} bytes are more than the {PAYLOAD_LIMIT} that a message may have")]
    TooLong(usize),
    #[error("stamp {0} is beyond any time: expected milliseconds since 1970")]
    Stamp(u64),
    #[error("the payload is not a fact of its topic")]
    Json(#[from] serde_json::Error),
    #[error("the payload is not UTF-8")]
    Text(#[from] std::str::Utf8Error),
}

#[derive(Serialize)]
struct Written<'a, F> {
    version: u32,
    stamp: u64,
    publisher: &'a str,
    fact: &'a F,
}

#[derive(Deserialize)]
struct Label {
    stamp: u64,
    publisher: String,
}

#[derive(Deserialize)]
struct Content<F> {
    #[serde(rename = "version")]
    _version: u32,
    fact: F,
}

pub(crate) fn write<F: Fact>(fact: &F, stamp: &Stamp) -> Result<String, MalformedMessage> {
    let publisher = &stamp.publisher;
    let payload =
        serde_json::to_string(&Written { version: VERSION, stamp: stamp.time, publisher, fact })?;
    within_limit(payload.len())?;
    Ok(payload)
}

/// The stamp of a payload, whatever its fact.
pub(crate) fn stamp(payload: &str) -> Result<Stamp, MalformedMessage> {
    within_limit(payload.len())?;
    let Label { stamp: time, publisher } = serde_json::from_str(payload)?;
    if time >= LAST_TIME {
        return Err(MalformedMessage::Stamp(time));
    }
    Ok(Stamp { time, publisher })
}

pub(crate) fn read<F: Fact>(payload: &str) -> Result<F, MalformedMessage> {
    let content: Content<F> = serde_json::from_str(payload)?;
    Ok(content.fact)
}

pub(crate) fn check<F: Fact>(payload: &str) -> Result<(), MalformedMessage> {
    stamp(payload)?;
    read::<F>(payload).map(drop)
}

fn within_limit(length: usize) -> Result<(), MalformedMessage> {
    if length > PAYLOAD_LIMIT { Err(MalformedMessage::TooLong(length)) } else { Ok(()) }
}

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

/// What a fact is about. Each topic has one type of fact and, by custom, one publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Leases in the cluster, counted.
    ClusterStatus,
    /// Orders and bids, counted.
    BidEngineStatus,
    ManifestStatus,
    /// Capacity as the provider computes it.
    InventoryStatus,
    /// What the provider's account holds.
    BalanceStatus,
    /// The cluster as the inventory operator sees it.
    InventoryCluster,
    InventoryNodes,
    InventoryStorage,
    ChainBlock,
    /// The lease that changed last.
    Lease,
}

impl Topic {
    pub(crate) const COUNT: usize = 10;

    /// All of them, in the order in which they are declared.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ClusterStatus,
        Self::BidEngineStatus,
        Self::ManifestStatus,
        Self::InventoryStatus,
        Self::BalanceStatus,
        Self::InventoryCluster,
        Self::InventoryNodes,
        Self::InventoryStorage,
        Self::ChainBlock,
        Self::Lease,
    ];

    /// Its name: the key that holds the newest message, and the channel that announces it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClusterStatus => "akash.provider.cluster.status",
            Self::BidEngineStatus => "akash.provider.bidengine.status",
            Self::ManifestStatus => "akash.provider.manifest.status",
            Self::InventoryStatus => "akash.provider.inventory.status",
            Self::BalanceStatus => "akash.provider.balance.status",
            Self::InventoryCluster => "inventory.cluster",
            Self::InventoryNodes => "inventory.nodes",
            Self::InventoryStorage => "inventory.storage",
            Self::ChainBlock => "akash.provider.chain.block",
            Self::Lease => "akash.provider.lease",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.name() == name)
    }

    /// Whether a payload holds a fact of this topic.
    pub fn check(self, payload: &str) -> Result<(), MalformedMessage> {
        let check = match self {
            Self::ClusterStatus => check::<ClusterStatus>,
            Self::BidEngineStatus => check::<BidEngineStatus>,
            Self::ManifestStatus => check::<ManifestStatus>,
            Self::InventoryStatus => check::<InventoryStatus>,
            Self::BalanceStatus => check::<BalanceStatus>,
            Self::InventoryCluster => check::<InventoryCluster>,
            Self::InventoryNodes => check::<InventoryNodes>,
            Self::InventoryStorage => check::<InventoryStorage>,
            Self::ChainBlock => check::<Block>,
            Self::Lease => check::<LeaseChange>,
        };
        check(payload)
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{LeaseChange, LeaseState, ManifestStatus};
    use crate::message::Topic;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_reads_back() {
        let stamp_written = Stamp { time: 7, publisher: "a".into() };
        let fact = ManifestStatus { deployments: 4, awaited: 1 };
        let payload = write(&fact, &stamp_written).unwrap();
        assert_eq!(
            payload,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{"deployments":4,"awaited":1}}"#
        );
        assert_eq!(stamp(&payload).unwrap(), stamp_written);
        assert_eq!(read::<ManifestStatus>(&payload).unwrap(), fact);
    }

    #[test]
    fn newer_versions_and_unknown_fields_and_words_are_tolerated() {
        let newer = r#"{"version":9,"stamp":7,"publisher":"a","more":[],"fact":{
            "owner":"akash1o","dseq":1,"gseq":1,"oseq":1,"provider":"akash1p",
            "state":"hibernating","since":{"block":5}}}"#;
        Topic::Lease.check(newer).unwrap();
        assert_eq!(read::<LeaseChange>(newer).unwrap().state, LeaseState::Unknown);
    }

    #[test]
    fn what_is_not_a_message_is_an_error() {
        let beyond = format!(
            r#"{{"version":1,"stamp":{},"publisher":"a","fact":{{"deployments":4}}}}"#,
            u64::MAX
        );
        let long = " ".repeat(PAYLOAD_LIMIT + 1);
        for wrong in [
            "",
            "{}",
            "null",
            "\u{0}",
            r#"{"stamp":7,"publisher":"a","fact":{"deployments":4}}"#,
            r#"{"version":1,"publisher":"a","fact":{"deployments":4}}"#,
            r#"{"version":1,"stamp":7,"fact":{"deployments":4}}"#,
            r#"{"version":1,"stamp":7,"publisher":"a"}"#,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{}}"#,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{"deployments":-4}}"#,
            &beyond,
            &long,
        ] {
            assert!(Topic::ManifestStatus.check(wrong).is_err(), "{wrong:.60}");
        }
    }

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

    #[test]
    fn every_topic_is_found_by_its_name_and_stands_at_its_index() {
        for (index, topic) in Topic::ALL.into_iter().enumerate() {
            assert_eq!(Topic::named(topic.name()), Some(topic));
            assert_eq!(topic.index(), index);
        }
        assert_eq!(Topic::named("akash.provider.nothing"), None);
    }
}
