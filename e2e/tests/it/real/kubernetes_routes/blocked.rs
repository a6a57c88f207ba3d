//! Names that are blocked while the provider runs.

use std::collections::BTreeMap;

use crate::real::installed::insist;
use crate::real::kubernetes_routes::stage::{Names, Stage};

const SETTINGS: &str = "provider-settings.yaml";
const THERE: &str = "there.blocked.example";
const NEW: &str = "new.blocked.example";
const OTHER: &str = "other.example.com";

fn names(of: &[&str]) -> Names {
    of.iter().map(|name| ((*name).to_owned(), "web")).collect()
}

#[test]
fn names_that_are_blocked_while_the_provider_runs_are_refused_and_routes_that_are_there_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(SETTINGS);
    let block = |names: &str| {
        std::fs::write(&file, format!("deployment_blocked_hostnames: [{names}]\n")).unwrap();
    };
    block("");
    let stage = Stage::start(folder, &["--provider-config", file.to_str().unwrap()]);
    stage.deploy(&BTreeMap::from([(1, names(&[THERE]))]));
    let leads = |name: &str| stage.routes().unwrap().contains_key(name);
    insist("a route", || Ok(leads(THERE).then_some(())));
    let before = stage.identities(&[1], true);
    let reload = |names: &str, times: usize| {
        block(names);
        stage.network.provider.as_ref().unwrap().signal("HUP").unwrap();
        let said = "reloaded changed=\"deployment-blocked-hostnames\"";
        insist("it reads them", || {
            Ok((stage.network.provider_log().matches(said).count() == times).then_some(()))
        });
    };
    let send = |listed: &[&str]| {
        let sdl = stage.announce(1, &names(listed));
        let send = ["send-manifest", sdl.to_str().unwrap(), "--dseq", "1", "--from", "tenant"];
        stage.network.run(&send)
    };

    reload(".blocked.example", 1);
    // What is there stays, and its tenant is told that it would not come back.
    insist("the tenant is told", || {
        let events = stage.network.run(&["lease-events", "--dseq", "1", "--from", "tenant"])?;
        Ok(events.contains("is blocked by this provider").then_some(()))
    });
    assert_eq!(stage.identities(&[1], true), before);
    let refused = send(&[THERE, NEW]).unwrap_err().to_string();
    assert!(refused.contains("is blocked by this provider"), "{refused}");
    assert_eq!(stage.identities(&[1], true), before);
    // Other names come as ever, once the tenant does without the blocked one.
    send(&[OTHER]).unwrap();
    insist("the other name", || Ok((leads(OTHER) && !leads(THERE)).then_some(())));

    reload("", 2);
    send(&[THERE, NEW]).unwrap();
    insist("they are let in", || Ok((leads(THERE) && leads(NEW) && !leads(OTHER)).then_some(())));
}
