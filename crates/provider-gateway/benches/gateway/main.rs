//! What a whole gateway bears: TLS, tokens, routes and streams as in a running provider, before a
//! simulated cluster. Clients and gateway share the machine's cores, but for the memory of streams,
//! where the clients are another process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../tests/it/common/mod.rs"]
mod common;
#[path = "../../tests/it/flood/mod.rs"]
mod flood;
mod load;
#[path = "../../tests/it/secured/mod.rs"]
mod secured;
mod streams;

use std::time::{Duration, Instant, SystemTime};

use common::provider::inventory;
use common::{case, lease};
use figures::{micros, print, time};
use load::{ask_for, percentile};
use provider_api::jwt::{Access, Algorithm, Claims, Token, issue};
use provider_gateway::Settings;
use provider_gateway::tls::Limits;
use secured::support::Client;
use secured::{Secured, account, token};

const MEASURE: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 8;
/// How many leases are deployed while others ask.
const LEASES: u64 = 1_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let words: Vec<String> = std::env::args().collect();
    if let [_, word, address, bearer, count] = words.as_slice()
        && word == streams::CLIENTS
    {
        let count = count.parse().unwrap();
        return runtime.block_on(streams::clients(address.parse().unwrap(), bearer, count));
    }
    // First, while nothing else has grown that streams could use.
    runtime.block_on(streams::idle());
    tokens();
    runtime.block_on(requests());
    runtime.block_on(streams::lines());
}

/// What a token costs by itself.
fn tokens() {
    let key = account("tenant1");
    let now = SystemTime::now();
    let claims = Claims::new(key.public_key().address(), Access::Full, now, Claims::LIFETIME);
    for (name, algorithm) in
        [("jwt_es256k_us", Algorithm::Es256k), ("jwt_adr36_us", Algorithm::Es256kAdr36)]
    {
        let token = issue(&claims, algorithm, &key).unwrap();
        let public = key.public_key();
        let verify = || Token::parse(&token).unwrap().verify(&public, now).unwrap();
        print(name, micros(time(Duration::from_secs(1), verify)), "us");
    }
}

async fn requests() {
    let gateway = Secured::start(Settings::default(), Limits::default()).await;
    gateway.world.run_case("02-two-services", 9002).await;
    gateway.world.provider.publish(|published| published.inventory = Some(inventory(5, 50)));
    let bearer = format!("Bearer {}", token(&account("tenant1"), Access::Full));
    let per_second = |count: usize| count / usize::try_from(MEASURE.as_secs()).unwrap();

    let asked = ask_for(MEASURE, gateway.rest, CONNECTIONS, "/status", None).await;
    print("status_rps", per_second(asked.len()), "requests/s");
    print("status_p99_ms", percentile(asked, 99), "ms");

    let path = "/lease/9002/1/1/status";
    let asked = ask_for(MEASURE, gateway.rest, CONNECTIONS, path, Some(&bearer)).await;
    print("jwt_lease_status_rps", per_second(asked.len()), "requests/s");

    let shakes = handshakes(&gateway).await;
    print("handshakes_per_second", per_second(shakes), "handshakes/s");

    let asking = ask_for(MEASURE, gateway.rest, CONNECTIONS, "/status", None);
    let (asked, ()) = tokio::join!(asking, reconcile(&gateway));
    print("status_p99_reconciling_ms", percentile(asked, 99), "ms");
    let asked = ask_for(MEASURE, gateway.rest, 1, path, Some(&bearer)).await;
    print("lease_status_p99_reconciling_ms", percentile(asked, 99), "ms");
}

/// Full handshakes, from as many clients at once as there are connections. Both sides are here:
/// a client takes about as long as a server.
async fn handshakes(gateway: &Secured) -> usize {
    let mut client = Client::new();
    client.config.resumption = rustls::client::Resumption::disabled();
    let tasks = (0..CONNECTIONS).map(|_| {
        let (client, address) = (client.clone(), gateway.rest);
        tokio::spawn(async move {
            let (begun, mut done) = (Instant::now(), 0);
            while begun.elapsed() < MEASURE {
                client.get(address, "/address").await.unwrap();
                done += 1;
            }
            done
        })
    });
    let done = futures_util::future::join_all(tasks).await;
    done.into_iter().map(Result::unwrap).sum()
}

/// Leases that begin, each with its deployment and what is published of it, for as long as it is
/// measured. More than the cluster has room for, so that it goes on trying.
async fn reconcile(gateway: &Secured) {
    let (manifest, sdl) = case("01-basic");
    let (begun, pause) = (Instant::now(), MEASURE / u32::try_from(LEASES).unwrap());
    for number in 0..LEASES {
        let dseq = 20_000 + number;
        gateway.world.provider.lease(lease(dseq), &manifest, sdl.groups());
        gateway.world.deploy(dseq, &manifest).await;
        let due = pause * u32::try_from(number).unwrap();
        tokio::time::sleep(due.saturating_sub(begun.elapsed())).await;
    }
}
