//! Names that move.

use super::*;

const HOST: &str = "a.example.com";

/// Tenant 1 has `HOST` at deployment 6, and lists it at 7, where it was withheld.
fn withheld() -> (World, LeaseId, LeaseId, Sdl) {
    let mut world = World::new();
    let sdl = sdl("a", &[&[HOST]]);
    let (from, to) = (lease(deployment(1, 6), 1, 1), lease(deployment(1, 7), 1, 1));
    world.accept(from.deployment_id(), &sdl, &[1]);
    world.show(from, &sdl, &[]);
    world.submit(1, to.deployment_id(), sdl.manifest());
    let effects = world.read(&facts(to.deployment_id(), &sdl, &[1]));
    assert_eq!(effects, [hold(to, &sdl, &[HOST])]);
    world.held(to, &sdl);
    (world, from, to, sdl)
}

fn migrate(world: &mut World, owner: u8, hosts: &[&str], dseq: u64) -> Vec<ManifestAction> {
    let hostnames = hosts.iter().map(|host| (*host).to_owned()).collect();
    let (owner, gseq) = (account(owner), 1);
    let wanted = TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq };
    world.act(ManifestInput::Tenant(RequestId(9), wanted))
}

fn migrate_endpoints(world: &mut World, names: &[&str], dseq: u64) -> Vec<ManifestAction> {
    let endpoints = names.iter().map(|name| (*name).to_owned()).collect();
    let (owner, gseq) = (account(1), 1);
    let wanted = TenantRequest::MigrateEndpoints { endpoints, owner, dseq, gseq };
    world.act(ManifestInput::Tenant(RequestId(9), wanted))
}

fn deployed(
    world: &mut World,
    lease: LeaseId,
    sdl: &Sdl,
    withheld: &[&str],
    result: Result<(), CommandFailure>,
) -> Vec<ManifestAction> {
    world.act(ManifestInput::DeployEnded { workload: workload(lease, sdl, withheld), result })
}

fn answered(answer: MigrationAnswer) -> ManifestAction {
    ManifestAction::Reply(RequestId(9), Reply::Migration(answer))
}

fn moved() -> ManifestAction {
    answered(MigrationAnswer::Transferred(vec![HOST.to_owned()]))
}

#[test]
fn a_name_moves_when_the_destination_is_deployed_with_it() {
    let (mut world, from, to, sdl) = withheld();
    assert_eq!(migrate(&mut world, 1, &["A.Example.com"], 7), [ManifestAction::Redeploy(to)]);
    assert_eq!(world.hostnames.holder(HOST), Some(to));
    // The one that was under way when the request came does not count.
    assert_eq!(deployed(&mut world, to, &sdl, &[HOST], Ok(())), []);
    let effects = deployed(&mut world, to, &sdl, &[], Ok(()));
    assert_eq!(effects, [moved(), ManifestAction::Redeploy(from)]);
    let group = sdl.manifest().groups[0].clone();
    assert_eq!(world.submissions.withheld(to, &group, &mut world.hostnames), [] as [&str; 0]);
    assert_eq!(world.submissions.withheld(from, &group, &mut world.hostnames), [HOST]);
}

#[test]
fn what_is_there_already_is_answered_at_once() {
    let (mut world, ..) = withheld();
    assert_eq!(migrate(&mut world, 1, &[HOST], 6), [moved()]);
}

#[test]
fn a_failed_move_is_told_and_may_be_repeated() {
    let (mut world, _, to, sdl) = withheld();
    migrate(&mut world, 1, &[HOST], 7);
    let failure = CommandFailure::Unavailable("etcd".to_owned());
    let effects = deployed(&mut world, to, &sdl, &[], Err(failure));
    let [ManifestAction::Reply(_, Reply::Migration(MigrationAnswer::Refused(refusal)))] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    let text = "failed transferring \"a.example.com\": the cluster does not answer: etcd";
    assert_eq!((refusal.status(), refusal.to_string().as_str()), (500, text));
    assert_eq!(migrate(&mut world, 1, &[HOST], 7), [ManifestAction::Redeploy(to)]);
}

#[test]
fn migrations_are_refused_in_the_known_words() {
    let (mut world, ..) = withheld();
    let other = sdl("b", &[&["other.example.com"]]);
    let theirs = lease(deployment(2, 1), 1, 1);
    world.show(theirs, &other, &[]);
    // Listed by tenant 1 before tenant 2 had it, as after a restart.
    let both = sdl("c", &[&["other.example.com"]]);
    world.show(lease(deployment(1, 8), 1, 1), &both, &["other.example.com"]);
    let long = format!("{}\u{e4}\n", "x".repeat(300));
    let cut = format!("the hostname \"{}…\" is not used by this deployment", "x".repeat(255));
    for (owner, hosts, dseq, text) in [
        (1, &[][..], 7, ""),
        (1, &[HOST], 99, "destination deployment does not exist"),
        (1, &[HOST], 0, "destination deployment does not exist"),
        (2, &[HOST], 7, "destination deployment does not exist"),
        (
            1,
            &[HOST, "nope.example.com"],
            7,
            "the hostname \"nope.example.com\" is not used by this deployment",
        ),
        (1, &["a\"b\n"], 7, "the hostname \"a\\\"b\\n\" is not used by this deployment"),
        (1, &[&long], 7, &cut),
        (1, &["other.example.com"], 8, "hostname not allowed: host \"other.example.com\" in use"),
    ] {
        match migrate(&mut world, owner, hosts, dseq).as_slice() {
            [ManifestAction::Reply(_, Reply::Migration(MigrationAnswer::Refused(refusal)))] => {
                assert_eq!((refusal.status(), refusal.to_string().as_str()), (400, text));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(world.hostnames.holder(HOST), Some(lease(deployment(1, 6), 1, 1)));
}

#[test]
fn endpoints_move_with_a_deployment_of_the_destination() {
    let (mut world, from, to, sdl) = withheld();
    let addr = vec!["addr".to_owned()];
    let takes = |world: &World, lease| {
        world.submissions.endpoints_to_take(lease, &sdl.manifest().groups[0])
    };
    let deployed_with = |world: &mut World, result| {
        let workload = Workload::clone(&workload(to, &sdl, &[HOST]));
        let workload = Arc::new(Workload { endpoints_to_take: addr.clone(), ..workload });
        world.act(ManifestInput::DeployEnded { workload, result })
    };
    assert_eq!(takes(&world, to), [""; 0]);
    assert_eq!(migrate_endpoints(&mut world, &["addr"], 7), [ManifestAction::Redeploy(to)]);
    assert_eq!((takes(&world, to), takes(&world, from)), (addr.clone(), vec![]));
    // A deployment from before the request takes nothing.
    assert_eq!(deployed(&mut world, to, &sdl, &[HOST], Ok(())), []);
    let done = answered(MigrationAnswer::Transferred(addr.clone()));
    assert_eq!(deployed_with(&mut world, Ok(())), [done]);
    assert_eq!(takes(&world, to), [""; 0]);
    migrate_endpoints(&mut world, &["addr"], 7);
    let failure = CommandFailure::Unavailable("etcd".to_owned());
    let refusal = MigrationRefusal::Cluster(failure.clone());
    assert_eq!((refusal.status(), refusal.to_string()), (503, failure.to_string()));
    let effects = deployed_with(&mut world, Err(failure));
    assert_eq!(effects, [answered(MigrationAnswer::Refused(refusal))]);
    let refusal = MigrationRefusal::EndpointNotUsed("nope".to_owned());
    let text = "the endpoint \"nope\" does not exist in the destination deployment";
    assert_eq!((refusal.status(), refusal.to_string().as_str()), (400, text));
    let effects = migrate_endpoints(&mut world, &["addr", "nope"], 7);
    assert_eq!(effects, [answered(MigrationAnswer::Refused(refusal))]);
}

#[test]
fn a_migration_that_nobody_answers_ends() {
    let (mut world, _, to, _) = withheld();
    migrate(&mut world, 1, &[HOST], 7);
    assert_eq!(world.pass(119), []);
    let refusal = MigrationRefusal::Failed {
        name: HOST.to_owned(),
        why: "the cluster does not answer: it took too long".to_owned(),
    };
    assert_eq!(world.pass(1), [answered(MigrationAnswer::Refused(refusal))]);
    migrate(&mut world, 1, &[HOST], 7);
    let effects = world.act(ManifestInput::LeaseEnded { lease: to });
    assert_eq!(effects, [answered(MigrationAnswer::Refused(MigrationRefusal::NoDestination))]);
    let again = migrate(&mut world, 1, &[HOST], 7);
    assert_eq!(again, [answered(MigrationAnswer::Refused(MigrationRefusal::NoDestination))]);
}

#[test]
fn a_withheld_name_goes_to_who_waits_when_its_lease_is_gone() {
    let (mut world, from, to, _) = withheld();
    assert_eq!(world.act(ManifestInput::LeaseEnded { lease: from }), []);
    assert_eq!(world.hostnames.holder(HOST), Some(from));
    world.hostnames.gone(from);
    assert_eq!(world.pass(1), [ManifestAction::Redeploy(to)]);
    assert_eq!(world.hostnames.holder(HOST), Some(to));
    assert_eq!(world.pass(1), []);
}

#[test]
fn a_deployment_from_before_the_move_does_not_take_the_name_back_for_good() {
    let (mut world, from, to, sdl) = withheld();
    migrate(&mut world, 1, &[HOST], 7);
    deployed(&mut world, to, &sdl, &[], Ok(()));
    // It was under way all the time, with the name; whether it was done does not matter.
    let again = [ManifestAction::Redeploy(from), ManifestAction::Redeploy(to)];
    assert_eq!(deployed(&mut world, from, &sdl, &[], Ok(())), again);
    let unknown = Err(CommandFailure::Unavailable(String::new()));
    assert_eq!(deployed(&mut world, from, &sdl, &[], unknown), again);
    assert_eq!(deployed(&mut world, from, &sdl, &[HOST], Ok(())), []);
    assert_eq!(deployed(&mut world, to, &sdl, &[], Ok(())), []);
}
