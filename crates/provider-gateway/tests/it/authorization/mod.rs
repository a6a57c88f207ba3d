//! Who gets what: every route and every method for everybody, over TLS, certificates and tokens as
//! a running provider has them.
//!
//! The tables are written down from the contract, and nothing of the gateway is asked to make them.
//!
//! ```text
//! +  answered              0  as if it were not there     !  no connection: bad certificate
//! -  unauthorized access   c  JWT has invalid claims      j  JWT is invalid
//! u  not implemented       a  ambiguous authentication    h  invalid authorization header
//! ```

mod principals;
mod rest;
mod rpc;

use std::collections::BTreeMap;
use std::sync::Arc;

use principals::{Shown, everybody};
use provider_gateway::Settings;
use provider_gateway::tls::Limits;

use crate::secured::Secured;

#[rustfmt::skip]
const REST: [(&str, &str); 33] = [
    // version, address, status, metrics, validate
    // │    send, get, status, web, db
    // │    │    logs, of db, events, of db, shell, in db
    // │    │    │     hostnames, endpoints
    ("nobody",                    "+++-+ ----- ------ --"),
    ("owner's certificate",       "+++-+ +++++ ++++++ ++"),
    ("stranger's certificate",    "+++-+ 00000 000000 00"),
    ("revoked certificate",       "!!!!! !!!!! !!!!!! !!"),
    ("unpublished certificate",   "!!!!! !!!!! !!!!!! !!"),
    ("expired certificate",       "!!!!! !!!!! !!!!!! !!"),
    ("owner's token",             "+++-+ +++++ ++++++ ++"),
    ("stranger's token",          "+++-+ 00000 000000 00"),
    ("certificate and token",     "aaaaa aaaaa aaaaaa aa"),
    ("expired token",             "ccccc ccccc cccccc cc"),
    ("token of tomorrow",         "ccccc ccccc cccccc cc"),
    ("forged token",              "jjjjj jjjjj jjjjjj jj"),
    ("unsigned token",            "jjjjj jjjjj jjjjjj jj"),
    ("no token at all",           "jjjjj jjjjj jjjjjj jj"),
    ("another scheme",            "hhhhh hhhhh hhhhhh hh"),
    ("all of this provider",      "+++-+ +++++ ++++++ ++"),
    ("status at this provider",   "+++-+ --+++ ------ --"),
    ("another provider",          "+++-+ ----- ------ --"),
    ("web of this lease",         "+++-+ ++++- +-+-+- ++"),
    ("web of this deployment",    "+++-+ ++++- +-+-+- ++"),
    ("web of another order",      "+++-+ +---- ------ ++"),
    ("web of another group",      "+++-+ +---- ------ --"),
    ("web of another deployment", "+++-+ ----- ------ --"),
    ("send-manifest",             "+++-+ +---- ------ --"),
    ("get-manifest",              "+++-+ -+--- ------ --"),
    ("status",                    "+++-+ --+++ ------ --"),
    ("logs",                      "+++-+ ----- ++---- --"),
    ("events",                    "+++-+ ----- --++-- --"),
    ("shell",                     "+++-+ ----- ----++ --"),
    ("restart",                   "+++-+ ----- ------ --"),
    ("hostname-migrate",          "+++-+ ----- ------ +-"),
    ("ip-migrate",                "+++-+ ----- ------ -+"),
    ("attestation",               "+++-+ ----- ------ --"),
];

#[rustfmt::skip]
const RPC: [(&str, &str); 33] = [
    // GetStatus, StreamStatus, BidScreening, ValidateGroupSpec, Check, Watch, reflection
    // │      SendManifest
    // │      │ ServiceStatus, of db, StreamServiceStatus
    // │      │ │   ServiceLogs, of db, StreamServiceLogs
    // │      │ │   │   AttestationQuote
    ("nobody",                    "+++++++ - --- --- u"),
    ("owner's certificate",       "+++++++ + +++ +++ u"),
    ("stranger's certificate",    "+++++++ 0 000 000 u"),
    ("revoked certificate",       "!!!!!!! ! !!! !!! !"),
    ("unpublished certificate",   "!!!!!!! ! !!! !!! !"),
    ("expired certificate",       "!!!!!!! ! !!! !!! !"),
    ("owner's token",             "+++++++ + +++ +++ u"),
    ("stranger's token",          "+++++++ 0 000 000 u"),
    ("certificate and token",     "aaaaaaa a aaa aaa a"),
    ("expired token",             "ccccccc c ccc ccc c"),
    ("token of tomorrow",         "ccccccc c ccc ccc c"),
    ("forged token",              "jjjjjjj j jjj jjj j"),
    ("unsigned token",            "jjjjjjj j jjj jjj j"),
    ("no token at all",           "jjjjjjj j jjj jjj j"),
    ("another scheme",            "hhhhhhh h hhh hhh h"),
    ("all of this provider",      "+++++++ + +++ +++ u"),
    ("status at this provider",   "+++++++ - +++ --- u"),
    ("another provider",          "+++++++ - --- --- u"),
    ("web of this lease",         "+++++++ + +-+ +-+ u"),
    ("web of this deployment",    "+++++++ + +-+ +-+ u"),
    ("web of another order",      "+++++++ + --- --- u"),
    ("web of another group",      "+++++++ + --- --- u"),
    ("web of another deployment", "+++++++ - --- --- u"),
    ("send-manifest",             "+++++++ + --- --- u"),
    ("get-manifest",              "+++++++ - --- --- u"),
    ("status",                    "+++++++ - +++ --- u"),
    ("logs",                      "+++++++ - --- +++ u"),
    ("events",                    "+++++++ - --- --- u"),
    ("shell",                     "+++++++ - --- --- u"),
    ("restart",                   "+++++++ - --- --- u"),
    ("hostname-migrate",          "+++++++ - --- --- u"),
    ("ip-migrate",                "+++++++ - --- --- u"),
    ("attestation",               "+++++++ - --- --- u"),
];

async fn gateway() -> Secured {
    let metrics: provider_gateway::Metrics = Arc::new(|| "provider_up 1\n".to_owned());
    let settings = Settings { metrics: Some(metrics), ..Settings::default() };
    let gateway = Secured::start(settings, Limits::default()).await;
    gateway.world.run_case("02-two-services", 9002).await;
    gateway
}

/// Everybody with what the table expects for them; nobody is left out on either side.
fn rows(gateway: &Secured, table: &[(&str, &str)]) -> Vec<(&'static str, Shown, String)> {
    let mut expected: BTreeMap<&str, &str> = table.iter().copied().collect();
    let rows = everybody(&gateway.chain).into_iter().map(|(name, shown)| {
        let row = expected.remove(name).unwrap_or_else(|| panic!("no row for {name}"));
        (name, shown, row.replace(' ', ""))
    });
    let rows = rows.collect();
    assert!(expected.is_empty(), "nobody is {expected:?}");
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_everybody_gets_what_the_table_says() {
    let gateway = gateway().await;
    for (name, shown, expected) in rows(&gateway, &REST) {
        let mut found = String::new();
        for route in rest::ROUTES {
            let before = gateway.world.provider.carried_out();
            let (letter, body) = rest::ask(&gateway, &shown, route).await;
            assert_ne!(letter, '?', "{name} got {body:?} of {route:?}");
            if letter != '+' {
                assert!(!body.contains("busybox") && !body.contains("web-"), "{name}: {body}");
            }
            if name.starts_with("web of this") && !route.1.starts_with("/validate") {
                assert!(
                    !body.contains("PGDATA") && !body.contains(r#""name":"db""#),
                    "{name}: {body}"
                );
            }
            let changed = gateway.world.provider.carried_out() - before;
            let changes = matches!(route.0, "PUT" | "POST") && letter == '+';
            assert_eq!(changed, usize::from(changes), "{name} and {route:?}");
            found.push(letter);
        }
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_everybody_gets_what_the_table_says() {
    let gateway = gateway().await;
    for (name, shown, expected) in rows(&gateway, &RPC) {
        let mut found = String::new();
        for method in rpc::METHODS {
            let before = gateway.world.provider.carried_out();
            let letter = rpc::call(&gateway, &shown, method).await;
            let changed = gateway.world.provider.carried_out() - before;
            let changes = method == "SendManifest" && letter == '+';
            assert_eq!(changed, usize::from(changes), "{name} and {method}");
            found.push(letter);
        }
        assert_eq!(found, expected, "{name}");
    }
}
