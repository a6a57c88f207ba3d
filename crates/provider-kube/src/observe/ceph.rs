//! What pools of a Ceph cluster can hold, from the metrics of its manager.
//!
//! A pool's `max_avail` is what is still free, after copies and parity, of disks that it shares with
//! other pools. Volumes are thin: one of 10 GiB that nothing was written to is still promised. So
//! what is sold is counted by the sizes of volumes, and what is there is `max_avail` and what
//! volumes have stored already:
//!
//! ```text
//! disk bytes of a group = free disk bytes + stored bytes of all its pools, as far as volumes have them
//! a class has           = disk bytes of its group ÷ disk bytes per stored byte
//! ```
//!
//! While disks are down, Ceph reports more for erasure-coded pools than there is: growth counts only
//! once all of them are up again.

use std::collections::BTreeMap;

use provider_engine::cluster::view::{Name, SharedDisks};

/// A pool as the manager reports it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pool {
    /// Bytes on disk for so many stored bytes.
    cost: (u32, u32),
    max_avail: i64,
    stored: i64,
}

/// The pools of one Ceph cluster, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pools {
    pools: BTreeMap<String, Pool>,
    /// Disks that are up, and disks that there are.
    disks: (u32, u32),
}

/// Why metrics say nothing of pools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the metrics of the Ceph manager have no {0}")]
pub(crate) struct NoPools(&'static str);

impl Pools {
    /// Reads metrics in Prometheus' text format.
    pub(crate) fn read(text: &str) -> Result<Self, NoPools> {
        let mut by_id: BTreeMap<&str, PartialPool<'_>> = BTreeMap::new();
        let mut disks = (0_u32, 0_u32);
        let lines = text.lines().filter(|line| line.starts_with("ceph_"));
        for sample in lines.filter_map(Sample::read) {
            if sample.name == "ceph_osd_up" {
                disks.1 = disks.1.saturating_add(1);
                disks.0 = disks.0.saturating_add(u32::from(sample.value > 0));
            }
            let Some(id) = sample.label("pool_id") else { continue };
            let pool = by_id.entry(id).or_default();
            match sample.name {
                "ceph_pool_metadata" => {
                    pool.name = sample.label("name");
                    pool.cost = sample.label("description").and_then(cost);
                }
                "ceph_pool_max_avail" => pool.max_avail = Some(sample.value),
                "ceph_pool_stored" => pool.stored = sample.value,
                _ => {}
            }
        }
        let pools = by_id.into_values().filter_map(|pool| {
            let PartialPool { name, cost, max_avail, stored } = pool;
            Some((name?.to_owned(), Pool { cost: cost?, max_avail: max_avail?, stored }))
        });
        let pools: BTreeMap<_, _> = pools.collect();
        match (pools.is_empty(), disks) {
            (true, _) => Err(NoPools("ceph_pool_metadata with ceph_pool_max_avail")),
            (_, (_, 0)) => Err(NoPools("ceph_osd_up")),
            _ => Ok(Self { pools, disks }),
        }
    }

    /// This reading, with nothing in it that is not certain: growth since `before` where disks are
    /// down, and at first what the disks that are down would have.
    pub(crate) fn after(mut self, before: Option<&Self>) -> Self {
        let (up, all) = self.disks;
        if up == all {
            return self;
        }
        for (name, pool) in &mut self.pools {
            let known = before.and_then(|before| before.pools.get(name));
            pool.max_avail = match known {
                Some(known) => {
                    let freed = known.stored.saturating_sub(pool.stored).max(0);
                    pool.max_avail.min(known.max_avail.saturating_add(freed))
                }
                None => share(pool.max_avail, up, all),
            };
        }
        self
    }

    /// What volumes in `pool` can have in all; `None` if there is no such pool. `volumes` are the
    /// bytes that volumes have in each pool, `cluster` tells this Ceph cluster from others.
    pub(crate) fn capacity(
        &self,
        cluster: &str,
        pool: &str,
        volumes: &BTreeMap<String, i64>,
    ) -> Option<(i64, SharedDisks)> {
        let own = self.pools.get(pool)?;
        let group = self.group(own);
        let same_disks = self.pools.iter().filter(|(_, other)| self.group(other) == group);
        let stored = same_disks.fold(0_i128, |sum, (name, other)| {
            let promised = volumes.get(name).copied().unwrap_or_default();
            sum + raw(other.stored.min(promised), other.cost)
        });
        let disk_bytes = raw(own.max_avail, own.cost) + stored;
        let (raw, stored) = own.cost;
        let bytes = disk_bytes * i128::from(stored) / i128::from(raw.max(1));
        let group = Name::from(format!("{cluster}/{group}"));
        let disks = SharedDisks { group, raw, stored };
        Some((i64::try_from(bytes).unwrap_or(i64::MAX), disks))
    }

    /// Which disks a pool is on: pools on the same ones have the same bytes of disk left, but for
    /// rounding. Named by the first such pool.
    fn group(&self, pool: &Pool) -> String {
        let own = raw(pool.max_avail, pool.cost);
        let is_near = |other: &Pool| {
            let other = raw(other.max_avail, other.cost);
            (own - other).abs() <= own.max(other) / 100 + i128::from(pool.cost.0.max(1)) * 1024
        };
        let first = self.pools.iter().find(|(_, other)| is_near(other));
        first.map(|(name, _)| name.clone()).unwrap_or_default()
    }
}

fn raw(stored: i64, (raw, per): (u32, u32)) -> i128 {
    i128::from(stored) * i128::from(raw) / i128::from(per.max(1))
}

fn share(bytes: i64, of: u32, all: u32) -> i64 {
    let share = i128::from(bytes) * i128::from(of) / i128::from(all.max(1));
    i64::try_from(share).unwrap_or_default()
}

/// Bytes on disk for stored bytes: `replica:3` is 3 for 1, `ec:2+1` is 3 for 2.
fn cost(description: &str) -> Option<(u32, u32)> {
    if let Some(copies) = description.strip_prefix("replica:") {
        return Some((copies.parse().ok().filter(|copies| *copies > 0)?, 1));
    }
    let (data, coding) = description.strip_prefix("ec:")?.split_once('+')?;
    let (data, coding): (u32, u32) = (data.parse().ok()?, coding.parse().ok()?);
    (data > 0).then_some((data.checked_add(coding)?, data))
}

/// What samples said of a pool so far.
#[derive(Default)]
struct PartialPool<'a> {
    name: Option<&'a str>,
    cost: Option<(u32, u32)>,
    max_avail: Option<i64>,
    stored: i64,
}

/// A sample with a whole number. Names of pools have no quotes and no commas.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: i64,
}

impl<'a> Sample<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (rest, value) = line.trim_end().rsplit_once(' ')?;
        let (name, labels) = match rest.split_once('{') {
            Some((name, labels)) => (name, labels.trim_end().strip_suffix('}')?),
            None => (rest, ""),
        };
        Some(Self { name, labels, value: number(value)? })
    }

    fn label(&self, wanted: &str) -> Option<&'a str> {
        let pairs = self.labels.split(',').filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(name, _)| name.trim() == wanted);
        found.next().map(|(_, value)| value.trim().trim_matches('"'))
    }
}

/// A whole number as Prometheus writes it, `1.1282777088e+10` included; less than nothing is none.
fn number(text: &str) -> Option<i64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = i32::try_from(fraction.len()).ok()?;
    let shift = exponent.parse::<i32>().ok()?.checked_sub(places)?;
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let power = 10_i128.checked_pow(shift.unsigned_abs())?;
    let value = if shift < 0 { digits / power } else { digits.checked_mul(power)? };
    i64::try_from(value).ok().filter(|value| *value >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: i64 = 1 << 30;

    /// Metrics of pools: name, description, GiB left and GiB stored. Of three disks, `up` are up.
    fn metrics(pools: &[(&str, &str, i64, i64)], up: u32) -> String {
        let mut text = "# TYPE ceph_osd_up untyped\n".to_owned();
        for disk in 0..3 {
            let up = f64::from(u8::from(disk < up));
            text += &format!("ceph_osd_up{{ceph_daemon=\"osd.{disk}\"}} {up:.1}\n");
        }
        for (id, (name, description, left, stored)) in pools.iter().enumerate() {
            let (left, stored) = (left * GIB, stored * GIB);
            text += &format!(
                "ceph_pool_metadata{{pool_id=\"{id}\",name=\"{name}\",type=\"t\",\
                 description=\"{description}\",compression_mode=\"none\"}} 1.0\n\
                 ceph_pool_max_avail{{pool_id=\"{id}\"}} {left}.0\n\
                 ceph_pool_stored{{pool_id=\"{id}\"}} {stored}.0\n"
            );
        }
        text
    }

    fn read(pools: &[(&str, &str, i64, i64)], up: u32) -> Pools {
        Pools::read(&metrics(pools, up)).unwrap()
    }

    fn gib(pools: &Pools, pool: &str, volumes: &[(&str, i64)]) -> i64 {
        let volumes = volumes.iter().map(|(pool, gib)| ((*pool).to_owned(), gib * GIB)).collect();
        pools.capacity("rook-ceph", pool, &volumes).unwrap().0 / GIB
    }

    #[test]
    fn a_pool_has_what_is_left_and_what_volumes_have_stored() {
        let pools = read(&[("copies", "replica:3", 30, 10)], 3);
        // 10 GiB are stored, in volumes of 25 GiB.
        assert_eq!(gib(&pools, "copies", &[("copies", 25)]), 40);
        // More is stored than volumes could have: it is of somebody else, and not for sale.
        assert_eq!(gib(&pools, "copies", &[("copies", 4)]), 34);
        assert_eq!(gib(&pools, "copies", &[]), 30);
        assert_eq!(pools.capacity("rook-ceph", "gone", &BTreeMap::new()), None);
    }

    #[test]
    fn pools_on_the_same_disks_are_one_group_by_what_their_bytes_cost() {
        let pools = read(
            &[
                ("copies", "replica:3", 30, 10),
                ("coded", "ec:2+1", 60, 20),
                ("fast", "replica:2", 7, 0),
            ],
            3,
        );
        let disks = |pool: &str| pools.capacity("c", pool, &BTreeMap::new()).unwrap().1;
        assert_eq!(disks("copies").group, disks("coded").group);
        assert_ne!(disks("copies").group, disks("fast").group);
        assert_eq!((disks("coded").raw, disks("coded").stored), (3, 2));
        // 90 GiB of disk are left, 30 and 30 are stored.
        let volumes = [("copies", 50), ("coded", 50)];
        assert_eq!(gib(&pools, "copies", &volumes), 50);
        assert_eq!(gib(&pools, "coded", &volumes), 100);
        assert_eq!(gib(&pools, "fast", &volumes), 7);
    }

    #[test]
    fn growth_counts_only_while_all_disks_are_up() {
        let well = read(&[("coded", "ec:2+1", 60, 10)], 3);
        let down = read(&[("coded", "ec:2+1", 90, 10)], 2).after(Some(&well));
        assert_eq!(gib(&down, "coded", &[]), 60);
        // What shrinks does so at once, and what was deleted is free again.
        assert_eq!(
            gib(&read(&[("coded", "ec:2+1", 40, 10)], 2).after(Some(&well)), "coded", &[]),
            40
        );
        assert_eq!(
            gib(&read(&[("coded", "ec:2+1", 90, 4)], 2).after(Some(&down)), "coded", &[]),
            66
        );
        assert_eq!(
            gib(&read(&[("coded", "ec:2+1", 90, 10)], 3).after(Some(&down)), "coded", &[]),
            90
        );
        // Read for the first time: as much as the disks that are up have.
        assert_eq!(gib(&read(&[("coded", "ec:2+1", 90, 10)], 2).after(None), "coded", &[]), 60);
    }

    #[test]
    fn what_is_no_metric_of_pools_is_refused() {
        assert!(Pools::read("").is_err());
        assert!(Pools::read("<html>").is_err());
        let without_disks: String = (metrics(&[("p", "replica:1", 1, 0)], 3).lines())
            .filter(|line| !line.starts_with("ceph_osd_up"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(Pools::read(&without_disks), Err(NoPools("ceph_osd_up")));
        for text in
            ["ceph_pool_metadata{pool_id=\"1\"", "ceph_osd_up", "ceph_osd_up NaN", "ceph_x{} 1e999"]
        {
            assert!(Pools::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_read_exactly() {
        for (text, value) in [
            ("0.0", Some(0)),
            ("11282777088.0", Some(11_282_777_088)),
            ("1.1282777088e+10", Some(11_282_777_088)),
            ("2.9042410005786223e-06", Some(0)),
            ("-1", None),
            ("NaN", None),
            ("+Inf", None),
            ("1e30", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
        assert_eq!(cost("replica:0"), None);
        assert_eq!(cost("ec:4+2"), Some((6, 4)));
        assert_eq!(cost("ec:0+2"), None);
    }
}
