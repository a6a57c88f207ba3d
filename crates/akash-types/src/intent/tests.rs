use super::*;
use crate::{DeploymentId, Deposit, EscrowAccountId, GroupId, LeaseClosedReason, LeaseId, OrderId};

const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn lease(gseq: u32) -> LeaseId {
    let deployment = DeploymentId::new(OWNER.parse().unwrap(), 7).unwrap();
    let order = OrderId::new(GroupId::new(deployment, gseq).unwrap(), 1).unwrap();
    LeaseId::new(order, PROVIDER.parse().unwrap())
}

#[test]
fn an_intent_takes_class_and_wanted_state_from_its_action() {
    let withdraw = Intent::new(IntentId(1), Action::Withdraw { lease: lease(1) }, 40);
    assert_eq!(withdraw.class, Class::Withdraw);
    assert_eq!(withdraw.wanted(), Wanted::Withdrawn { lease: lease(1), since: 40 });
    let reason = LeaseClosedReason::MANIFEST_TIMEOUT;
    let close = Action::CloseBid { bid: lease(1).bid_id(), reason };
    let close = Intent::new(IntentId(2), close, 40).of_class(Class::Deadline).until(50);
    assert_eq!((close.class, close.deadline), (Class::Deadline, Some(50)));
    assert_eq!(close.wanted(), Wanted::BidOver(lease(1).bid_id()));
}

#[test]
fn leases_of_one_deployment_share_its_account_and_not_their_subject() {
    let withdraw = |gseq| Action::Withdraw { lease: lease(gseq) };
    assert_eq!(withdraw(1).settles(), withdraw(2).settles());
    assert_ne!(withdraw(1).subject(), withdraw(2).subject());
    let reason = LeaseClosedReason::UNSTABLE;
    let close = Action::CloseBid { bid: lease(1).bid_id(), reason };
    assert_eq!(close.subject(), withdraw(1).subject());
    assert_eq!(close.settles(), Some((lease(1).deployment_id(), Touch::Settles)));
    let reclaim = Action::StartReclaim { lease: lease(1), reason };
    assert_eq!((reclaim.settles(), reclaim.class()), (None, Class::Deadline));
}

#[test]
fn a_deposit_cannot_be_asked_for_afterwards() {
    let account = EscrowAccountId::Deployment(lease(1).deployment_id());
    let deposit = Deposit::from_balance("5uact".parse().unwrap());
    let action = Action::Deposit { account, deposit };
    assert_eq!(action.wanted(1), Wanted::Unverifiable);
    assert_eq!(action.subject(), None);
}
