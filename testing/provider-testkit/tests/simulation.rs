//! A few seeds: many are played by `cargo xtask simulate`.

use provider_testkit::simulation::{FaultKind, Options, run};

#[test]
fn a_seed_is_played_without_a_violation_and_always_the_same_way() {
    let first = run(1, Options::default()).unwrap();
    assert_eq!(first.violations, [], "seed 1");
    assert!(first.orders >= 200 && first.steps >= 5_000 && first.crashes >= 20, "{first:?}");
    assert!(first.leases > 0 && first.coverage.strikes(FaultKind::ClusterDown) > 0);
    let second = run(1, Options::default()).unwrap();
    assert_eq!((first.digest, first.steps), (second.digest, second.steps));
    let other = run(2, Options::default()).unwrap();
    assert_eq!(other.violations, [], "seed 2");
    assert_ne!(first.digest, other.digest);
}
