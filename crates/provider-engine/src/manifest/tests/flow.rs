//! From the request to the answer.

use super::*;

#[test]
fn a_tenant_hears_accepted_only_when_every_lease_is_held() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"], &["b.example.com"]]);
    let (one, two) = (lease(id, 1, 1), lease(id, 2, 1));
    assert_eq!(world.submit(1, id, sdl.manifest()), [ManifestAction::Read(id)]);
    let effects = world.read(&facts(id, &sdl, &[1, 2]));
    assert_eq!(effects, [hold(one, &sdl, &[]), hold(two, &sdl, &[])]);
    assert_eq!(world.held(two, &sdl), []);
    assert_eq!(world.held(two, &sdl), []);
    assert_eq!(world.held(one, &sdl), [accepted(1, &[one, two])]);
    assert_eq!(world.held(one, &sdl), []);
}

#[test]
fn only_leased_groups_are_held_and_only_their_hostnames_are_taken() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"], &["b.example.com"]]);
    world.submit(1, id, sdl.manifest());
    let two = lease(id, 2, 1);
    assert_eq!(world.read(&facts(id, &sdl, &[2])), [hold(two, &sdl, &[])]);
    assert_eq!(world.hostnames.holder("b.example.com"), Some(two));
    assert_eq!(world.hostnames.holder("a.example.com"), None);
    let generated = generated_host(two, "web1", "ingress.example.com");
    assert_eq!(world.hostnames.holder(&generated), Some(two));
}

#[test]
fn equal_submissions_share_the_read_and_the_hold() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&[]]);
    let one = lease(id, 1, 1);
    assert_eq!(world.submit(1, id, sdl.manifest()).len(), 1);
    assert_eq!(world.submit(2, id, sdl.manifest()), []);
    assert_eq!(world.read(&facts(id, &sdl, &[1])), [hold(one, &sdl, &[])]);
    assert_eq!(world.submit(3, id, sdl.manifest()), []);
    let answers = [accepted(1, &[one]), accepted(2, &[one]), accepted(3, &[one])];
    assert_eq!(world.held(one, &sdl), answers);
}

#[test]
fn what_runs_already_is_accepted_without_holding_it_again() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"], &[]]);
    let (one, two) = (lease(id, 1, 1), lease(id, 2, 1));
    world.accept(id, &sdl, &[1, 2]);
    // Not visible yet: it is held again, which changes nothing.
    world.submit(1, id, sdl.manifest());
    assert_eq!(world.read(&facts(id, &sdl, &[1, 2])).len(), 2);
    world.held(one, &sdl);
    world.held(two, &sdl);
    world.show(one, &sdl, &[]);
    world.show(two, &sdl, &[]);
    assert_eq!(world.submit(2, id, sdl.manifest()), [accepted(2, &[one, two])]);
    // One of the two was kept and not deployed.
    world.leases.get_mut(&two).unwrap().held.as_mut().unwrap().deployed = false;
    assert_eq!(world.submit(3, id, sdl.manifest()), [hold(two, &sdl, &[])]);
    assert_eq!(world.held(two, &sdl), [accepted(3, &[one, two])]);
}

#[test]
fn chain_data_is_reused_for_five_seconds() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&[]]);
    let one = lease(id, 1, 1);
    world.accept(id, &sdl, &[1]);
    world.show(one, &sdl, &[]);
    world.submit(1, id, sdl.manifest());
    assert_eq!(world.read(&facts(id, &sdl, &[1])), [accepted(1, &[one])]);
    world.pass(5);
    assert_eq!(world.submit(2, id, sdl.manifest()), [accepted(2, &[one])]);
    world.pass(1);
    assert_eq!(world.submit(3, id, sdl.manifest()), [ManifestAction::Read(id)]);
}

#[test]
fn a_missed_update_does_not_lock_the_tenant_out() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (old, new) = (sdl("a", &[&[]]), sdl("b", &[&[]]));
    let one = lease(id, 1, 1);
    world.submit(1, id, old.manifest());
    world.read(&facts(id, &old, &[1]));
    world.held(one, &old);
    // Within the five seconds: what is known says that the new one is wrong, so the chain is asked.
    assert_eq!(world.submit(2, id, new.manifest()), [ManifestAction::Read(id)]);
    assert_eq!(world.read(&facts(id, &new, &[1])), [hold(one, &new, &[])]);
    assert_eq!(world.held(one, &new), [accepted(2, &[one])]);
    // And the old one is refused, once the chain was asked again.
    assert_eq!(world.submit(3, id, old.manifest()), [ManifestAction::Read(id)]);
    let on_chain = *new.version().as_bytes();
    let refusal = ManifestRefusal::Version { sent: old.version(), on_chain };
    assert_eq!(world.read(&facts(id, &new, &[1])), [refused(3, refusal)]);
}

#[test]
fn a_refusal_never_rests_on_a_read_that_began_before_the_request() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (old, new) = (sdl("a", &[&[]]), sdl("b", &[&[]]));
    let one = lease(id, 1, 1);
    assert_eq!(world.submit(1, id, old.manifest()).len(), 1);
    // The read is under way; then the tenant updates the deployment and sends the new manifest.
    assert_eq!(world.submit(2, id, new.manifest()), []);
    let effects = world.read(&facts(id, &old, &[1]));
    assert_eq!(effects, [hold(one, &old, &[]), ManifestAction::Read(id)]);
    let on_chain = *new.version().as_bytes();
    let superseded = ManifestRefusal::Version { sent: old.version(), on_chain };
    let effects = world.read(&facts(id, &new, &[1]));
    assert_eq!(effects, [refused(1, superseded), hold(one, &new, &[])]);
    // What the cluster says of the older one means nothing any more.
    assert_eq!(world.held(one, &old), []);
    assert_eq!(world.held(one, &new), [accepted(2, &[one])]);
}

#[test]
fn an_answer_of_a_node_that_lags_does_not_undo_what_is_known() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (old, new) = (sdl("a", &[&[]]), sdl("b", &[&[]]));
    let one = lease(id, 1, 1);
    world.submit(1, id, new.manifest());
    world.read(&facts(id, &new, &[1]));
    world.held(one, &new);
    world.submit(2, id, old.manifest());
    let late =
        ManifestInput::Read { deployment: id, height: 1, result: Ok(Some(facts(id, &old, &[1]))) };
    let on_chain = *new.version().as_bytes();
    let refusal = ManifestRefusal::Version { sent: old.version(), on_chain };
    assert_eq!(world.act(late), [refused(2, refusal)]);
}

#[test]
fn a_manifest_refused_for_want_of_a_lease_leaves_nothing_behind() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"]]);
    let one = lease(id, 1, 1);
    world.submit(1, id, sdl.manifest());
    assert_eq!(world.read(&facts(id, &sdl, &[])), [refused(1, ManifestRefusal::NoLease)]);
    assert_eq!(world.hostnames.holder("a.example.com"), None);
    // The lease appears: sent again, even within the five seconds, it is accepted.
    assert_eq!(world.submit(2, id, sdl.manifest()), [ManifestAction::Read(id)]);
    assert_eq!(world.read(&facts(id, &sdl, &[1])), [hold(one, &sdl, &[])]);
}

#[test]
fn an_unavailable_chain_or_cluster_is_told_and_is_no_promise() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&[], &[]]);
    let (one, two) = (lease(id, 1, 1), lease(id, 2, 1));
    world.submit(1, id, sdl.manifest());
    let unavailable = Unavailable("no node".to_owned());
    let read = ManifestInput::Read { deployment: id, height: 0, result: Err(unavailable.clone()) };
    assert_eq!(world.act(read), [refused(1, unavailable.into())]);
    world.submit(2, id, sdl.manifest());
    world.read(&facts(id, &sdl, &[1, 2]));
    let effects = world.hold_ended(one, &sdl, Err(CommandFailure::Unavailable("etcd".to_owned())));
    assert_eq!(effects, [refused(2, ManifestRefusal::ClusterUnavailable("etcd".to_owned()))]);
    assert_eq!(world.held(two, &sdl), []);
    // Sent again, both are held again.
    assert_eq!(world.submit(3, id, sdl.manifest()).len(), 2);
}

#[test]
fn what_the_cluster_refuses_takes_no_hostname() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (old, new) = (sdl("a", &[&["a.example.com"]]), sdl("b", &[&["b.example.com"]]));
    let one = lease(id, 1, 1);
    world.accept(id, &old, &[1]);
    world.show(one, &old, &[]);
    world.submit(1, id, new.manifest());
    world.read(&facts(id, &new, &[1]));
    assert_eq!(world.hostnames.holder("b.example.com"), Some(one));
    let no = Err(CommandFailure::Refused("too large".to_owned()));
    let refusal = ManifestRefusal::ClusterRefused("too large".to_owned());
    assert_eq!(world.hold_ended(one, &new, no), [refused(1, refusal)]);
    assert_eq!(world.hostnames.holder("b.example.com"), None);
    assert_eq!(world.hostnames.holder("a.example.com"), Some(one));
}

#[test]
fn what_the_cluster_may_keep_has_its_hostnames_until_it_plainly_does_not() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"]]);
    let one = lease(id, 1, 1);
    world.submit(1, id, sdl.manifest());
    world.read(&facts(id, &sdl, &[1]));
    world.hold_ended(one, &sdl, Err(CommandFailure::Unavailable("etcd".to_owned())));
    world.pass(119);
    assert_eq!(world.hostnames.holder("a.example.com"), Some(one));
    world.pass(1);
    assert_eq!(world.hostnames.holder("a.example.com"), None);
}

#[test]
fn requests_end_after_two_minutes_in_every_state() {
    let mut world = World::new();
    let (reading, holding) = (deployment(1, 7), deployment(1, 8));
    let sdl = sdl("a", &[&[]]);
    world.submit(1, reading, sdl.manifest());
    world.pass(1);
    world.submit(2, holding, sdl.manifest());
    world.read(&facts(holding, &sdl, &[1]));
    // First, what the chain said is forgotten.
    assert_eq!(world.submissions.next_deadline(), Some(Now::new(Duration::from_secs(12))));
    assert_eq!(world.pass(11), []);
    assert_eq!(world.submissions.next_deadline(), Some(Now::new(Duration::from_secs(120))));
    assert_eq!(world.pass(107), []);
    let why = "context deadline exceeded".to_owned();
    let unread = ManifestRefusal::Chain(Unavailable(why));
    assert_eq!(world.pass(1), [refused(1, unread)]);
    assert_eq!(world.pass(1), [refused(2, ManifestRefusal::TimedOut)]);
    assert_eq!(world.submissions.next_deadline(), None);
    assert_eq!(world.held(lease(holding, 1, 1), &sdl), []);
    // A read that never came back does not hold up the next request.
    assert_eq!(world.submit(3, reading, sdl.manifest()).len(), 1);
}

#[test]
fn a_lease_that_ends_meanwhile_is_not_waited_for() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&[], &[]]);
    let (one, two) = (lease(id, 1, 1), lease(id, 2, 1));
    world.submit(1, id, sdl.manifest());
    world.read(&facts(id, &sdl, &[1, 2]));
    world.held(one, &sdl);
    let effects = world.act(ManifestInput::LeaseEnded { lease: two });
    assert_eq!(effects, [accepted(1, &[one])]);
    // A read from before the end says otherwise, and is not believed.
    world.submit(2, id, sdl.manifest());
    world.act(ManifestInput::LeaseEnded { lease: one });
    let effects = world.read(&facts(id, &sdl, &[1]));
    assert_eq!(effects, [refused(2, ManifestRefusal::NoLease)]);
}

#[test]
fn the_last_lease_that_ends_refuses_the_manifest() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&[]]);
    world.submit(1, id, sdl.manifest());
    world.read(&facts(id, &sdl, &[1]));
    let effects = world.act(ManifestInput::LeaseEnded { lease: lease(id, 1, 1) });
    assert_eq!(effects, [refused(1, ManifestRefusal::NoLease)]);
}

#[test]
fn going_back_to_a_manifest_that_the_cluster_still_shows_holds_it_again() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let (old, new) = (sdl("a", &[&[]]), sdl("b", &[&[]]));
    let one = lease(id, 1, 1);
    world.accept(id, &old, &[1]);
    world.show(one, &old, &[]);
    world.accept(id, &new, &[1]);
    world.submit(1, id, old.manifest());
    assert_eq!(world.read(&facts(id, &old, &[1])), [hold(one, &old, &[])]);
}

#[test]
fn decisions_are_written_down() {
    let mut world = World::new();
    let id = deployment(1, 7);
    let sdl = sdl("a", &[&["a.example.com"]]);
    world.accept(deployment(1, 6), &sdl, &[1]);
    world.submit(1, id, sdl.manifest());
    let read =
        ManifestInput::Read { deployment: id, height: 9, result: Ok(Some(facts(id, &sdl, &[1]))) };
    let effects = world.handle(read);
    let (lease, hostnames) = (lease(id, 1, 1), vec!["a.example.com".to_owned()]);
    let subject = journal::Subject::Order(lease.order_id());
    let note = ManifestAction::Note(subject, Decision::Withheld(hostnames));
    assert_eq!(effects, [note, hold(lease, &sdl, &["a.example.com"])]);
    let version = sdl.version();
    let ended = ManifestInput::HoldEnded { lease, version, result: Ok(()) };
    let note = ManifestAction::Note(subject, Decision::Accepted { version: Some(version) });
    assert_eq!(world.handle(ended), [accepted(1, &[lease]), note]);
}
