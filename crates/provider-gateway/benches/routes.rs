//! What a route costs by itself, without connections: the status of a provider with 160
//! reservations, as it is asked for again and again and as it changes, and a lease's status.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::Duration;

use bytes::Bytes;
use common::World;
use common::provider::inventory;
use figures::{micros, print, time};
use http::Request;
use http_body_util::Full;

const MEASURE: Duration = Duration::from_secs(2);

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(async {
        let world = World::start().await;
        world.run_case("02-two-services", 9002).await;
        world.provider.publish(|published| published.inventory = Some(inventory(20, 160)));
        world
    });
    let ask = |path: &str, token: &str| {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        let answer = world.gateway.rest(request.body(Full::<Bytes>::default()).unwrap());
        assert_eq!(runtime.block_on(answer).status(), 200);
    };
    print("status_us", micros(time(MEASURE, || ask("/status", "full"))), "us");
    let changed = time(MEASURE, || {
        world.provider.publish(|published| published.status.height += 1);
        ask("/status", "full");
    });
    print("status_changed_us", micros(changed), "us");
    let of_lease = time(MEASURE, || ask("/lease/9002/1/1/status", "full"));
    print("lease_status_us", micros(of_lease), "us");
}
