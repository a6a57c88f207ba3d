//! The chain's side of the daemon: blocks come in, questions are answered, intents end.
//!
//! ```text
//! Follower ── block ──► lane, then engine          (follow)
//! FollowStatus ───────► which node is asked         (choose)
//! engine ── Query ────► node ──► Chain              (reader, read)
//! lane ── outcome ────► engine                      (follow)
//! ```
//!
//! Nothing is decided here but whom to ask.

mod follow;
pub mod read;

use akash_chain::follow::{FollowStatus, Health};

pub(crate) use follow::{follow, keep_choosing};
pub use read::Reader;

/// The node to ask, by its place in the configuration: the one that is asked now as long as it is
/// well, else the one that is furthest. `None` if no node is known to be well.
pub fn choose(status: &FollowStatus, current: usize) -> Option<usize> {
    let usable =
        |index: usize| status.nodes.get(index).is_some_and(|node| node.health == Health::Usable);
    if usable(current) {
        return Some(current);
    }
    let nodes = status.nodes.iter().enumerate().filter(|(index, _)| usable(*index));
    // Of several at the same height the first in the configuration.
    nodes.max_by_key(|(index, node)| (node.height, usize::MAX - index)).map(|(index, _)| index)
}

/// What is wrong with the nodes, in words.
pub fn troubles(status: &FollowStatus) -> String {
    let words = status.nodes.iter().map(|node| match &node.health {
        Health::Usable => format!("{} is well", node.name),
        Health::Unknown => format!("{} has not answered yet", node.name),
        Health::Unusable(why) => format!("{} {why}", node.name),
    });
    words.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use akash_chain::follow::{NodeHealth, Unusable};

    use super::*;

    fn status(nodes: &[(u64, Health)]) -> FollowStatus {
        let nodes = nodes.iter().enumerate().map(|(index, (height, health))| NodeHealth {
            name: format!("node{index}").into(),
            height: *height,
            subscribed: false,
            health: health.clone(),
        });
        FollowStatus { nodes: nodes.collect(), ..FollowStatus::default() }
    }

    #[test]
    fn a_node_that_is_well_is_kept_and_the_furthest_replaces_one_that_is_not() {
        let lagging = Health::Unusable(Unusable::Lagging { height: 5, best: 9 });
        let cases = [
            (vec![(5, Health::Usable), (9, Health::Usable)], 0, Some(0)),
            (vec![(5, lagging.clone()), (8, Health::Usable), (9, Health::Usable)], 0, Some(2)),
            (vec![(5, lagging.clone()), (9, Health::Usable), (9, Health::Usable)], 0, Some(1)),
            (vec![(5, lagging), (0, Health::Unknown)], 0, None),
            (vec![], 3, None),
        ];
        for (nodes, current, wanted) in cases {
            assert_eq!(choose(&status(&nodes), current), wanted, "{nodes:?}");
        }
    }
}
