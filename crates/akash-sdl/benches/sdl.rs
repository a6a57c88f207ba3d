//! How long it takes from an SDL to its groups, its manifest and the manifest's hash.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::time::Duration;

use akash_sdl::{Sdl, Version};
use figures::{CountingAllocator, allocations, micros, print, time};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// One service with two exposes, hosts and requirements.
const SIMPLE: &str = include_str!("../../../fixtures/sdl/input/v2.0/simple/input.yaml");

const MEASURE: Duration = Duration::from_secs(2);

fn main() {
    let twenty = twenty_services();
    print("sdl_simple_us", micros(time(MEASURE, || version(SIMPLE))), "us");
    print("sdl_20_us", micros(time(MEASURE, || version(&twenty))), "us");
    let (calls, bytes) = allocations(|| version(SIMPLE));
    print("sdl_simple_allocs", calls, "allocations");
    print("sdl_simple_bytes", bytes, "bytes");
    let (calls, _) = allocations(|| version(&twenty));
    print("sdl_20_allocs", calls, "allocations");
    let parsed = Sdl::read(SIMPLE).unwrap();
    print("sdl_hash_us", micros(time(MEASURE / 4, || parsed.version())), "us");
    let json = parsed.manifest().to_json();
    let decode = || akash_sdl::Manifest::from_json(json.as_bytes()).unwrap().manifest.version();
    print("manifest_json_us", micros(time(MEASURE / 4, decode)), "us");
}

fn version(text: &str) -> Version {
    Sdl::read(text).unwrap().version()
}

/// Twenty services with environment, internal links and a volume each.
fn twenty_services() -> String {
    let [mut services, mut compute, mut pricing, mut deployment] = [const { String::new() }; 4];
    for number in 0..20 {
        write!(
            services,
            "  svc-{number:02}:
    image: registry.example.com/team/service-{number}:1.{number}
    env:
      - LOG_LEVEL=info
      - DATABASE_URL=postgres://db:5432/app{number}
    expose:
      - port: 8080
        as: 80
        accept:
          - svc-{number}.example.com
        to:
          - global: true
      - port: 9000
        to:
          - service: svc-00
    params:
      storage:
        data:
          mount: /data
"
        )
        .unwrap();
        write!(
            compute,
            "    svc-{number:02}:
      resources:
        cpu:
          units: 0.{}
        memory:
          size: 512Mi
        storage:
          - size: 1Gi
          - name: data
            size: 10Gi
            attributes:
              persistent: true
              class: beta3
",
            number % 9 + 1
        )
        .unwrap();
        write!(
            pricing,
            "        svc-{number:02}:\n          denom: uact\n          amount: {number}.5\n"
        )
        .unwrap();
        write!(
            deployment,
            "  svc-{number:02}:\n    dc:\n      profile: svc-{number:02}\n      count: 2\n"
        )
        .unwrap();
    }
    format!(
        "---\nversion: \"2.0\"\nservices:\n{services}profiles:\n  compute:\n{compute}  placement:\n    dc:\n      pricing:\n{pricing}deployment:\n{deployment}"
    )
}
