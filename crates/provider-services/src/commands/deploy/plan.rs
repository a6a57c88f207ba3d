//! What to do next with a deployment, from what is seen of it. Pure: chain and time are given.
//!
//! ```text
//! not on chain ─ Create ─► waits for bids ─┬─ Lease ──────┬─► leased ─ Run ─► (manifest, readiness)
//!                               │          └─ Ask ────────┘
//!                               └─ nobody bids in time: GiveUp
//! ```
//!
//! Nothing else is remembered, so a deployment that was left anywhere goes on from there.

use std::fmt;
use std::time::Duration;

use akash_types::{Address, BidId, DecCoin, LeaseId};

/// What the chain has of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    /// Something that has ended.
    Closed,
    /// Something of another SDL than the one at hand.
    Other,
    /// What is to be run.
    Active(Vec<GroupSeen>),
}

/// What the chain has of a group of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupSeen {
    pub(super) gseq: u32,
    pub(super) name: String,
    /// Whether it is neither paused nor closed.
    pub(super) is_open: bool,
    /// Open bids on it.
    pub(super) offers: Vec<Offer>,
    /// The lease that is paid for.
    pub(super) lease: Option<LeaseId>,
}

/// A bid that can become a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) bid: BidId,
    /// Per block, for the whole group.
    pub(super) price: DecCoin,
}

/// How bids are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The least price.
    Cheapest,
    /// By whoever is in front of the terminal.
    Ask,
    Provider(Address),
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// For more bids, once there is one for every group.
    pub(super) more: Duration,
    pub(super) first: Duration,
}

/// How long was waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waited {
    /// Since bids were possible.
    pub(super) at_all: Duration,
    /// Since there was one for every group; `None` before.
    pub(super) for_more: Option<Duration>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Create,
    /// Look again soon. `complete`: whether every group has a bid that would do.
    Wait {
        complete: bool,
    },
    /// Make leases of these bids.
    Lease(Vec<Offer>),
    /// Have somebody choose, for each group without a lease.
    Ask(Vec<GroupSeen>),
    /// Bring to life what is leased.
    Run(Vec<LeaseId>),
    /// There is no way on.
    GiveUp(Reason),
}

/// Why there is no way on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The deployment has ended.
    Closed,
    /// The chain has the hash of another SDL.
    OtherSdl,
    /// These groups have neither lease nor order.
    NoOrder(Vec<String>),
    /// Nobody bids on these groups, or not who should.
    NoBids { groups: Vec<String>, by: Option<Address>, waited: Duration },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the deployment was closed; deploy the SDL again"),
            Self::OtherSdl => f.write_str(
                "the chain has the hash of another SDL for this deployment: give the SDL that it \
                 was made with, or announce this one with `tx deployment update`",
            ),
            Self::NoOrder(groups) => write!(
                f,
                "group {} has neither a lease nor an order: was it paused or closed? `tx \
                 deployment group start` orders it again",
                groups.join(", ")
            ),
            Self::NoBids { groups, by: None, waited } => write!(
                f,
                "no provider bids on group {} within {} s: ask for less, offer more, or wait",
                groups.join(", "),
                waited.as_secs()
            ),
            Self::NoBids { groups, by: Some(provider), waited } => write!(
                f,
                "{provider} does not bid on group {} within {} s: pick another provider, or wait",
                groups.join(", "),
                waited.as_secs()
            ),
        }
    }
}

pub(super) fn next(seen: &Seen, pick: Pick, patience: Patience, waited: Waited) -> Step {
    let groups = match seen {
        Seen::Nothing => return Step::Create,
        Seen::Closed => return Step::GiveUp(Reason::Closed),
        Seen::Other => return Step::GiveUp(Reason::OtherSdl),
        Seen::Active(groups) => groups,
    };
    let open: Vec<&GroupSeen> = groups.iter().filter(|group| group.lease.is_none()).collect();
    if open.is_empty() {
        return Step::Run(groups.iter().filter_map(|group| group.lease).collect());
    }
    let names = |groups: &[&GroupSeen]| groups.iter().map(|group| group.name.clone()).collect();
    let lost: Vec<&GroupSeen> = open.iter().copied().filter(|group| !group.is_open).collect();
    if !lost.is_empty() {
        return Step::GiveUp(Reason::NoOrder(names(&lost)));
    }
    let wanted = |group: &&GroupSeen| best(group, pick).is_none();
    let missing: Vec<&GroupSeen> = open.iter().copied().filter(wanted).collect();
    if !missing.is_empty() {
        let by = match pick {
            Pick::Provider(provider) => Some(provider),
            Pick::Cheapest | Pick::Ask => None,
        };
        let waited = waited.at_all;
        return match waited >= patience.first {
            true => Step::GiveUp(Reason::NoBids { groups: names(&missing), by, waited }),
            false => Step::Wait { complete: false },
        };
    }
    let long_enough = waited.for_more.is_some_and(|waited| waited >= patience.more);
    match pick {
        Pick::Cheapest | Pick::Ask if !long_enough => Step::Wait { complete: true },
        Pick::Ask => Step::Ask(open.into_iter().cloned().collect()),
        Pick::Cheapest | Pick::Provider(_) => {
            Step::Lease(open.iter().filter_map(|group| best(group, pick)).cloned().collect())
        }
    }
}

/// The bid that would be taken. Of equal prices the older bid, which the chain lists first.
fn best(group: &GroupSeen, pick: Pick) -> Option<&Offer> {
    let fits = |offer: &&Offer| match pick {
        Pick::Cheapest | Pick::Ask => true,
        Pick::Provider(provider) => offer.bid.provider() == provider,
    };
    group.offers.iter().filter(fits).min_by_key(|offer| offer.price.amount())
}

#[cfg(test)]
mod tests {
    use akash_types::{DeploymentId, GroupId, OrderId};

    use super::*;

    const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
    const FIRST: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
    const SECOND: &str = "akash10z3dccmx6ysj58tn4sgk95tv0xy84mwcj5ypkx";
    const PATIENCE: Patience =
        Patience { more: Duration::from_secs(5), first: Duration::from_secs(60) };

    fn bid(gseq: u32, provider: &str) -> BidId {
        let deployment = DeploymentId::new(OWNER.parse().unwrap(), 7).unwrap();
        let order = OrderId::new(GroupId::new(deployment, gseq).unwrap(), 1).unwrap();
        BidId::new(order, provider.parse().unwrap())
    }

    fn offer(gseq: u32, provider: &str, price: &str) -> Offer {
        Offer { bid: bid(gseq, provider), price: price.parse().unwrap() }
    }

    fn group(gseq: u32, offers: Vec<Offer>) -> GroupSeen {
        GroupSeen { gseq, name: format!("g{gseq}"), is_open: true, offers, lease: None }
    }

    fn leased(gseq: u32) -> GroupSeen {
        GroupSeen {
            is_open: false,
            lease: Some(bid(gseq, FIRST).lease_id()),
            ..group(gseq, vec![])
        }
    }

    fn waited(at_all: u64, for_more: Option<u64>) -> Waited {
        let for_more = for_more.map(Duration::from_secs);
        Waited { at_all: Duration::from_secs(at_all), for_more }
    }

    fn step(groups: Vec<GroupSeen>, pick: Pick, waited: Waited) -> Step {
        next(&Seen::Active(groups), pick, PATIENCE, waited)
    }

    #[test]
    fn what_is_not_there_is_created_and_what_has_ended_is_not_revived() {
        let step = |seen| next(&seen, Pick::Cheapest, PATIENCE, Waited::default());
        assert_eq!(step(Seen::Nothing), Step::Create);
        assert_eq!(step(Seen::Closed), Step::GiveUp(Reason::Closed));
        assert_eq!(step(Seen::Other), Step::GiveUp(Reason::OtherSdl));
    }

    #[test]
    fn bids_are_waited_for_so_long_and_no_longer() {
        let none = || vec![group(1, vec![offer(1, FIRST, "5uact")]), group(2, vec![])];
        let some = |at_all| step(none(), Pick::Cheapest, waited(at_all, None));
        assert_eq!(some(59), Step::Wait { complete: false });
        let reason =
            Reason::NoBids { groups: vec!["g2".to_owned()], by: None, waited: PATIENCE.first };
        assert_eq!(some(60), Step::GiveUp(reason));
    }

    #[test]
    fn more_bids_are_waited_for_before_the_cheapest_is_taken() {
        let offers = vec![offer(1, FIRST, "5uact"), offer(1, SECOND, "4.9uact")];
        let at =
            |for_more| step(vec![group(1, offers.clone())], Pick::Cheapest, waited(1000, for_more));
        assert_eq!(at(None), Step::Wait { complete: true });
        assert_eq!(at(Some(4)), Step::Wait { complete: true });
        assert_eq!(at(Some(5)), Step::Lease(vec![offer(1, SECOND, "4.9uact")]));
    }

    #[test]
    fn a_named_provider_is_taken_at_once_and_nobody_else() {
        let pick = Pick::Provider(FIRST.parse().unwrap());
        let offers = vec![offer(1, SECOND, "1uact"), offer(1, FIRST, "5uact")];
        let taken = step(vec![group(1, offers)], pick, waited(0, None));
        assert_eq!(taken, Step::Lease(vec![offer(1, FIRST, "5uact")]));
        let other = vec![group(1, vec![offer(1, SECOND, "1uact")])];
        assert_eq!(step(other.clone(), pick, waited(1, None)), Step::Wait { complete: false });
        let gave_up = step(other, pick, waited(60, None));
        assert!(matches!(gave_up, Step::GiveUp(Reason::NoBids { by: Some(_), .. })), "{gave_up:?}");
    }

    #[test]
    fn only_groups_without_a_lease_are_asked_about() {
        let open = group(2, vec![offer(2, FIRST, "5uact")]);
        let asked = step(vec![leased(1), open.clone()], Pick::Ask, waited(9, Some(5)));
        assert_eq!(asked, Step::Ask(vec![open]));
    }

    #[test]
    fn what_is_leased_is_run() {
        let leases = vec![bid(1, FIRST).lease_id(), bid(2, FIRST).lease_id()];
        let run = step(vec![leased(1), leased(2)], Pick::Ask, Waited::default());
        assert_eq!(run, Step::Run(leases));
    }

    #[test]
    fn a_group_that_nobody_can_bid_on_is_told() {
        let paused = GroupSeen { is_open: false, ..group(1, vec![]) };
        let told = step(vec![paused], Pick::Cheapest, Waited::default());
        assert_eq!(told, Step::GiveUp(Reason::NoOrder(vec!["g1".to_owned()])));
    }
}
