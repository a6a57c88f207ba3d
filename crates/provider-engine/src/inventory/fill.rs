//! Putting the replicas of one unit on nodes.

use akash_types::CpuArch;

use super::cards::KindSet;
use super::free::{ClassSet, Free, NodeFree};
use crate::cluster::view::Amounts;

/// What equal replicas ask of nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// What each takes of its node.
    pub(super) each: Amounts,
    /// Architecture that the order names.
    pub(super) arch: Option<CpuArch>,
    /// Storage classes that the node must have.
    pub(super) classes: ClassSet,
    /// Kinds of cards that do, if each takes any.
    pub(super) cards: Option<KindSet>,
    pub(super) count: u32,
}

/// Which of the nodes that would do are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefer {
    /// Those with least left of what the replica needs most of, so that large holes stay large;
    /// nodes with cards last for work that needs none.
    Tightest,
    /// The first by name, as the Go provider does.
    First,
}

/// A node that would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    spared: bool,
    left: i64,
    node: usize,
    fits: u32,
}

/// Nodes by index with how many replicas each gets; fewer than asked for if there is no room for
/// all.
pub(super) fn fill(free: &Free, ask: &Ask, prefer: Prefer) -> Vec<(usize, u32)> {
    let mut spots = spots(free, ask);
    let tightest = match prefer {
        Prefer::First => None,
        // One look suffices for most groups: they fit on one node.
        Prefer::Tightest => spots.iter().min().copied(),
    };
    if let Some(spot) = tightest.filter(|spot| spot.fits >= ask.count) {
        return vec![(spot.node, ask.count)];
    }
    if prefer == Prefer::Tightest {
        spots.sort_unstable();
    }
    let mut open = ask.count;
    let mut plan = Vec::new();
    for spot in spots {
        if open == 0 {
            break;
        }
        let here = spot.fits.min(open);
        open -= here;
        plan.push((spot.node, here));
    }
    plan
}

fn spots(free: &Free, ask: &Ask) -> Vec<Spot> {
    let mut spots = Vec::new();
    match ask.cards {
        None => {
            let most = most_needed(&ask.each, &free.capacity);
            for (index, node) in free.nodes.iter().enumerate() {
                let fits = fits_node(node, ask);
                if fits > 0 {
                    let left = most(&node.free);
                    spots.push(Spot { spared: node.has_cards, left, node: index, fits });
                }
            }
        }
        Some(kinds) => {
            for cards in &free.cards {
                let Some(node) = free.nodes.get(cards.node) else { continue };
                let left = cards.free(kinds);
                let by_cards = left.max(0) / ask.each.gpu.max(1);
                let by_cards = u32::try_from(by_cards).unwrap_or(u32::MAX);
                let fits = fits_node(node, ask).min(by_cards);
                if fits > 0 {
                    spots.push(Spot { spared: false, left, node: cards.node, fits });
                }
            }
        }
    }
    spots
}

/// How many of the replicas fit on a node, its cards not looked at one by one.
pub(super) fn fits_node(node: &NodeFree, ask: &Ask) -> u32 {
    let is_suitable = node.arch.runs(ask.arch) && node.classes.contains(ask.classes);
    if !node.schedulable || !is_suitable {
        return 0;
    }
    fits(&node.free, &ask.each, ask.count)
}

fn fits(free: &Amounts, each: &Amounts, at_most: u32) -> u32 {
    let pairs = [
        (free.cpu_milli, each.cpu_milli),
        (free.memory, each.memory),
        (free.ephemeral, each.ephemeral),
        (free.gpu, each.gpu),
    ];
    let mut count = i64::from(at_most);
    for (free, each) in pairs {
        if each > 0 && free < each.saturating_mul(count) {
            if free < each {
                return 0;
            }
            count = free / each;
        }
    }
    // Between 0 and `at_most`.
    u32::try_from(count).unwrap_or(at_most)
}

/// The resource of which `each` takes the largest share of all there is.
fn most_needed(each: &Amounts, capacity: &Amounts) -> fn(&Amounts) -> i64 {
    let fields: [fn(&Amounts) -> i64; 3] =
        [|amounts| amounts.memory, |amounts| amounts.cpu_milli, |amounts| amounts.ephemeral];
    let [mut most, rest @ ..] = fields;
    for field in rest {
        if share(field(each), field(capacity)) > share(most(each), most(capacity)) {
            most = field;
        }
    }
    most
}

/// The largest share that `each` takes of anything there is, in millionths.
pub(super) fn largest_share(each: &Amounts, capacity: &Amounts) -> i128 {
    let most = most_needed(each, capacity);
    share(most(each), most(capacity))
}

fn share(amount: i64, capacity: i64) -> i128 {
    i128::from(amount) * 1_000_000 / i128::from(capacity.max(1))
}
