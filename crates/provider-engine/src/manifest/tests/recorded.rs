//! The answers of a Go provider to the same requests.

use std::path::PathBuf;

use akash_sdl::manifest::Service;

use super::*;

fn fixture(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Status and body of a recorded answer, without the line end that Go adds.
fn recorded(name: &str) -> (u16, String) {
    let text = fixture(&format!("gateway/rest/{name}.http")).replace("\r\n", "\n");
    let (_, answer) = text.split_once("\nHTTP/1.1 ").unwrap();
    let (head, body) = answer.split_once("\n\n").unwrap();
    let body = body.trim_end_matches('\n').to_owned();
    (head.split(' ').next().unwrap().parse().unwrap(), body)
}

/// Lease 9001 of the recordings: what was sent, and what the chain says of it.
fn lease_9001() -> (DeploymentId, Manifest, DeploymentRead) {
    let id = deployment(1, 9001);
    let sdl = Sdl::read(&fixture("kubernetes/01-basic/sdl.yaml")).unwrap();
    let json = fixture("kubernetes/01-basic/manifest.json");
    let manifest = Manifest::from_json(json.as_bytes()).unwrap().manifest;
    (id, manifest, facts(id, &sdl, &[1]))
}

/// Status and body of the answer to `manifest`, whatever it takes to get one.
fn answer(world: &mut World, manifest: &Manifest, facts: &DeploymentRead) -> (u16, String) {
    let mut effects = world.submit(1, facts.deployment.id, manifest);
    loop {
        match effects.as_slice() {
            [ManifestAction::Read(_)] => effects = world.read(facts),
            [ManifestAction::Hold(workload)] => {
                effects = world.act(ManifestInput::HoldEnded {
                    lease: workload.lease,
                    version: workload.version.unwrap(),
                    result: Ok(()),
                });
            }
            [ManifestAction::Reply(_, Reply::Manifest(answer))] => {
                return match answer {
                    ManifestAnswer::Accepted { .. } => (200, String::new()),
                    ManifestAnswer::Refused(refusal) => (refusal.status(), refusal.to_string()),
                };
            }
            other => panic!("{other:?}"),
        }
    }
}

/// What a recording changed about the manifest.
type Change = fn(&mut Manifest);

fn web(manifest: &mut Manifest) -> &mut Service {
    &mut manifest.groups[0].services[0]
}

#[test]
fn answers_are_those_that_were_recorded() {
    let cases: [(&str, Change); 16] = [
        ("put-manifest-same-jwt", |_| {}),
        ("put-manifest-bad-env", |it| web(it).env = Some(vec!["=x".to_owned()])),
        ("put-manifest-bad-host", |it| {
            web(it).expose.as_mut().unwrap()[0].hosts = Some(vec!["bad_host!".to_owned()]);
        }),
        ("put-manifest-bad-svc-name", |it| web(it).name = "Bad_Name".to_owned()),
        ("put-manifest-count0", |it| web(it).count = 0),
        ("put-manifest-dup-group", |it| it.groups.push(it.groups[0].clone())),
        ("put-manifest-dup-service", |it| {
            let again = web(it).clone();
            it.groups[0].services.push(again);
        }),
        ("put-manifest-empty-array", |it| it.groups.clear()),
        ("put-manifest-more-memory", |it| web(it).resources.memory = Some(Default::default())),
        ("put-manifest-no-cpu", |it| web(it).resources.cpu = None),
        ("put-manifest-no-services", |it| it.groups[0].services.clear()),
        ("put-manifest-noimage", |it| web(it).image.clear()),
        ("put-manifest-port0", |it| web(it).expose.as_mut().unwrap()[0].port = 0),
        ("put-manifest-port70000", |it| web(it).expose.as_mut().unwrap()[0].port = 70000),
        ("put-manifest-wrong-group", |it| it.groups[0].name = "eastcoast".to_owned()),
        ("put-manifest-wrong-hash", |it| web(it).image.push('x')),
    ];
    for (name, change) in cases {
        let (_, mut manifest, facts) = lease_9001();
        change(&mut manifest);
        assert_eq!(answer(&mut World::new(), &manifest, &facts), recorded(name), "{name}");
    }
}

#[test]
fn a_closed_lease_is_answered_as_recorded() {
    let (_, manifest, mut facts) = lease_9001();
    facts.leases.clear();
    let answer = answer(&mut World::new(), &manifest, &facts);
    assert_eq!(answer, recorded("state-closed-put-manifest"));
}

#[test]
fn a_hostname_conflict_has_the_recorded_text_and_its_own_status() {
    let mut world = World::new();
    let sdl = sdl("a", &[&["one.example.com"]]);
    world.accept(deployment(2, 1), &sdl, &[1]);
    let answer = answer(&mut world, sdl.manifest(), &facts(deployment(1, 9303), &sdl, &[1]));
    let (status, text) = recorded("hostname-conflict-put");
    assert_eq!(status, 500, "a Go provider says that it is its own fault");
    assert_eq!(answer, (409, text));
}

#[test]
fn migrations_are_answered_as_recorded() {
    let mut world = World::new();
    let sdl = sdl("a", &[&["one.example.com"]]);
    let here = lease(deployment(1, 9002), 1, 1);
    world.accept(here.deployment_id(), &sdl, &[1]);
    world.show(here, &sdl, &[]);
    for (name, owner, host, dseq) in [
        ("migrate-same-lease-ok", 1, "one.example.com", 9002),
        ("migrate-not-used", 1, "nope.example.com", 9002),
        ("migrate-unknown-dseq", 1, "one.example.com", 999_999),
        ("migrate-other-tenant", 2, "one.example.com", 9002),
        ("endpoint-migrate-not-used", 1, "nope", 9002),
        ("endpoint-migrate-unknown-dseq", 1, "addr", 999_999),
    ] {
        let (owner, gseq, names) = (account(owner), 1, vec![host.to_owned()]);
        let wanted = if name.starts_with("endpoint") {
            TenantRequest::MigrateEndpoints { endpoints: names, owner, dseq, gseq }
        } else {
            TenantRequest::MigrateHostnames { hostnames: names, owner, dseq, gseq }
        };
        let effects = world.act(ManifestInput::Tenant(RequestId(1), wanted));
        let [ManifestAction::Reply(_, Reply::Migration(answer))] = effects.as_slice() else {
            panic!("{name}: {effects:?}");
        };
        let answer = match answer {
            MigrationAnswer::Transferred(names) => {
                (200, format!("{{\"transferred\":[\"{}\"]}}", names.join("\",\"")))
            }
            MigrationAnswer::Refused(refusal) => (refusal.status(), refusal.to_string()),
        };
        assert_eq!(answer, recorded(name), "{name}");
    }
}
