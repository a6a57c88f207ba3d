#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::super::tests::{deployment, lease, sdl};
use super::*;
use crate::cluster::view::Held;

fn set(hosts: &[&str]) -> BTreeSet<String> {
    hosts.iter().map(|host| (*host).to_owned()).collect()
}

fn shown(lease: LeaseId, hosts: &[&str]) -> LeaseView {
    let mut view = LeaseView::empty(lease);
    view.hostnames = hosts.iter().map(|host| (*host).to_owned()).collect();
    view
}

#[test]
fn what_the_cluster_shows_is_held_whatever_its_case() {
    let mut hostnames = Hostnames::default();
    let one = lease(deployment(1, 1), 1, 1);
    hostnames.see(&shown(one, &["A.Example.com"]));
    assert_eq!(hostnames.holder("a.example.com"), Some(one));
    hostnames.see(&shown(one, &[]));
    assert_eq!(hostnames.holder("a.example.com"), None);
}

#[test]
fn after_a_restart_a_manifest_that_is_kept_and_not_deployed_has_its_names() {
    let sdl = sdl("a", &[&["a.example.com"]]);
    let (one, two) = (lease(deployment(1, 1), 1, 1), lease(deployment(2, 1), 1, 1));
    let mut view = LeaseView::empty(one);
    let group = std::sync::Arc::new(sdl.manifest().groups[0].clone());
    view.held = Some(Held {
        version: None,
        group,
        cards: BTreeMap::new(),
        deployed: false,
        ignored: BTreeMap::new(),
    });
    let mut hostnames = Hostnames::default();
    hostnames.see(&view);
    assert_eq!(hostnames.ask(two, set(&["a.example.com"])), ["a.example.com"]);
    assert_eq!(hostnames.ask(one, set(&["a.example.com"])), [] as [&str; 0]);
}

#[test]
fn names_of_an_older_manifest_are_kept_until_the_newer_is_deployed() {
    let mut hostnames = Hostnames::default();
    let (one, two) = (lease(deployment(1, 1), 1, 1), lease(deployment(2, 1), 1, 1));
    hostnames.ask(one, set(&["old"]));
    hostnames.ask(one, set(&["new"]));
    // The older may be being deployed just now.
    assert_eq!(hostnames.ask(two, set(&["old"])), ["old"]);
    hostnames.settle(one, &set(&["old"]));
    assert_eq!(hostnames.holder("old"), Some(one));
    hostnames.settle(one, &set(&["new"]));
    assert_eq!(hostnames.holder("old"), None);
    assert_eq!(hostnames.holder("new"), Some(one));
}

#[test]
fn a_manifest_that_is_sent_again_and_refused_takes_no_name_from_what_was_deployed() {
    let mut hostnames = Hostnames::default();
    let (one, two) = (lease(deployment(1, 1), 1, 1), lease(deployment(1, 2), 1, 1));
    hostnames.ask(one, set(&["a"]));
    // Sent again while the first is deployed, which is done before the cluster shows it.
    hostnames.ask(one, set(&["a"]));
    hostnames.settle(one, &set(&["a"]));
    hostnames.refuse(one, &set(&[]));
    assert_eq!(hostnames.holder("a"), Some(one));
    assert_eq!(hostnames.ask(two, set(&["a"])), ["a"]);
    hostnames.see(&shown(one, &["a"]));
    hostnames.see(&shown(one, &[]));
    assert_eq!(hostnames.holder("a"), Some(one), "it is still the last that was asked for");
}

#[test]
fn names_of_manifests_that_were_all_refused_are_free() {
    let mut hostnames = Hostnames::default();
    let (one, two) = (lease(deployment(1, 1), 1, 1), lease(deployment(1, 2), 1, 1));
    hostnames.ask(one, set(&["a"]));
    hostnames.ask(one, set(&["b"]));
    hostnames.refuse(one, &set(&[]));
    assert_eq!(hostnames.ask(two, set(&["a"])), ["a"], "the older may be held");
    hostnames.stop_lingering(one, &set(&[]));
    assert_eq!(hostnames.holder("a"), None);
    assert_eq!(hostnames.give_freed(), [(two, "a".to_owned())]);
}

#[test]
fn the_next_lease_of_a_group_takes_its_names_over() {
    let mut hostnames = Hostnames::default();
    let (first, next) = (lease(deployment(1, 1), 1, 1), lease(deployment(1, 1), 1, 2));
    hostnames.ask(first, set(&["a"]));
    hostnames.see(&shown(first, &["a"]));
    hostnames.end(first);
    assert_eq!(hostnames.ask(next, set(&["a"])), [] as [&str; 0]);
    hostnames.gone(first);
    assert_eq!(hostnames.holder("a"), Some(next));
}

#[test]
fn an_ended_lease_keeps_its_names_until_nothing_of_it_is_left() {
    let mut hostnames = Hostnames::default();
    let one = lease(deployment(1, 1), 1, 1);
    hostnames.ask(one, set(&["a"]));
    // Not in the cluster yet, which is no end.
    hostnames.gone(one);
    assert_eq!(hostnames.holder("a"), Some(one));
    hostnames.end(one);
    assert_eq!(hostnames.holder("a"), Some(one));
    hostnames.see_all([]);
    assert_eq!(hostnames.holder("a"), None);
    assert!(hostnames.leases.is_empty() && hostnames.names.is_empty());
}

proptest! {
    /// What is known after many changes is what a fresh start would see.
    #[test]
    fn seeing_one_by_one_is_seeing_all(
        changes in prop::collection::vec((0..4u64, prop::collection::vec(0..4u8, 0..3)), 0..40),
    ) {
        let mut by_change = Hostnames::default();
        let mut views = BTreeMap::new();
        for (dseq, hosts) in changes {
            let id = lease(deployment(1, dseq + 1), 1, 1);
            if hosts.is_empty() {
                views.remove(&id);
                by_change.gone(id);
            } else {
                let hosts: Vec<String> = hosts.iter().map(|host| format!("H{host}")).collect();
                let mut view = LeaseView::empty(id);
                view.hostnames = hosts;
                by_change.see(&view);
                views.insert(id, view);
            }
        }
        let mut at_once = Hostnames::default();
        at_once.see_all(views.values());
        for host in 0..4 {
            let host = format!("h{host}");
            prop_assert_eq!(by_change.holder(&host), at_once.holder(&host));
        }
        prop_assert_eq!(by_change.names.len(), at_once.names.len());
        prop_assert_eq!(by_change.leases.len(), at_once.leases.len());
    }
}
