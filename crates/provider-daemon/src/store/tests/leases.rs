use akash_types::{Coin, Denom};
use provider_engine::order::fees::BidFees;

use super::super::{Batch, LeaseChange, LeaseEvent, Retention, Store};
use super::build::{at, earned, lease, uakt};

fn happened(height: u64, dseq: u64, change: LeaseChange) -> LeaseEvent {
    LeaseEvent { lease: lease(dseq), at: at(height), change }
}

#[test]
fn fees_of_bids_are_remembered_for_the_newest_day() {
    let store = Store::in_memory(Retention::default()).unwrap();
    assert_eq!(store.memory().unwrap().bid_fees, BidFees::default());
    let other = Coin::new("uact".parse::<Denom>().unwrap(), 9);
    for (day, paid) in
        [(7, vec![uakt(5), other]), (7, vec![uakt(10)]), (8, vec![uakt(u128::from(u64::MAX) + 1)])]
    {
        let bid_fees = Some(BidFees { day, paid });
        store.commit(&Batch { bid_fees, ..Batch::default() }).unwrap();
    }
    let paid = vec![uakt(u128::from(u64::MAX) + 1)];
    assert_eq!(store.memory().unwrap().bid_fees, BidFees { day: 8, paid });
}

#[test]
fn a_lease_is_remembered_from_start_to_end_with_what_it_earned() {
    let store = Store::in_memory(Retention::default()).unwrap();
    let other = Coin::new("uact".parse::<Denom>().unwrap(), 9);
    for leases in [
        vec![happened(10, 1, LeaseChange::Started), happened(10, 2, LeaseChange::Started)],
        vec![earned(20, 1, u128::from(u64::MAX)), earned(20, 1, 1)],
        // Seen again after a restart.
        vec![happened(30, 1, LeaseChange::Started)],
        vec![happened(40, 1, LeaseChange::Earned(other.clone())), earned(40, 2, 3)],
        vec![happened(50, 1, LeaseChange::Over), happened(60, 1, LeaseChange::Gone)],
        vec![happened(70, 1, LeaseChange::Gone)],
    ] {
        store.commit(&Batch { leases, ..Batch::default() }).unwrap();
    }
    let history = store.history(lease(1)).unwrap().unwrap();
    assert_eq!(history.started, Some(at(10)));
    assert_eq!(history.last_earned, Some(at(40)));
    assert_eq!(history.earned, [other.clone(), uakt(u128::from(u64::MAX) + 1)]);
    assert_eq!((history.over, history.gone), (Some(at(50)), Some(at(60))));
    assert_eq!(store.history(lease(3)).unwrap(), None);
    let all = store.earnings().unwrap();
    assert_eq!(all.iter().map(|known| known.lease).collect::<Vec<_>>(), [lease(1), lease(2)]);
    assert_eq!(store.earned().unwrap(), [other, uakt(u128::from(u64::MAX) + 4)]);
}
