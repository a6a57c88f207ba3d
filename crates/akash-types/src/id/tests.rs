use super::*;
use proptest::prelude::*;

const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn lease() -> LeaseId {
    format!("{OWNER}/101/1/2/{PROVIDER}").parse().unwrap()
}

#[test]
fn ids_print_as_on_chain() {
    let lease = lease();
    assert_eq!(lease.to_string(), format!("{OWNER}/101/1/2/{PROVIDER}"));
    assert_eq!(lease.bid_id().to_string(), lease.to_string());
    assert_eq!(lease.order_id().to_string(), format!("{OWNER}/101/1/2"));
    assert_eq!(lease.group_id().to_string(), format!("{OWNER}/101/1"));
    assert_eq!(lease.deployment_id().to_string(), format!("{OWNER}/101"));
}

#[test]
fn ids_lead_to_what_contains_them() {
    let lease = lease();
    assert_eq!((lease.owner().to_string(), lease.dseq()), (OWNER.to_owned(), 101));
    assert_eq!((lease.gseq(), lease.oseq(), lease.bseq()), (1, 2, 0));
    assert_eq!(lease.provider().to_string(), PROVIDER);
    assert_eq!(lease.bid_id().lease_id(), lease);
    assert_eq!(lease.order_id().bid_id(lease.provider()), lease.bid_id());
    assert_eq!(lease.order_id().group_id().deployment_id(), lease.deployment_id());
}

#[test]
fn escrow_keys_are_the_filters_of_the_queries() {
    let account = EscrowAccountId::Deployment(lease().deployment_id());
    assert_eq!(account.to_string(), format!("deployment/{OWNER}/101"));
    assert_eq!(account.xid(), format!("{OWNER}/101"));
    let bid = EscrowAccountId::Bid(lease().bid_id());
    assert_eq!(bid.to_string(), format!("bid/{OWNER}/101/1/2/{PROVIDER}"));
    let payment = EscrowPaymentId::from(lease());
    assert_eq!(payment.to_string(), format!("deployment/{OWNER}/101/1/2/{PROVIDER}"));
    assert_eq!(payment.xid(), format!("1/2/{PROVIDER}"));
    assert_eq!(payment.account_id(), account);
    assert_eq!(payment.lease_id(), lease());
    for id in [account, bid] {
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(EscrowAccountId::from_xid(id.scope(), &id.xid()), Ok(id));
        assert_eq!(EscrowScope::from_code(id.scope().code()), Ok(id.scope()));
    }
    assert_eq!(payment.to_string().parse(), Ok(payment));
    assert_eq!(EscrowPaymentId::from_xid(account, &payment.xid()), Ok(payment));
    assert!(EscrowPaymentId::from_xid(bid, &payment.xid()).is_err());
    assert!("order/x/1".parse::<EscrowAccountId>().is_err());
    assert!("deployment".parse::<EscrowAccountId>().is_err());
    assert!(EscrowScope::from_code(0).is_err());
}

#[test]
fn what_is_not_an_id_is_refused_with_the_part_at_fault() {
    for (text, wanted) in [
        (String::new(), "must have the form owner/dseq/gseq/oseq"),
        (format!("{OWNER}/1/1"), "must have the form"),
        (format!("{OWNER}/1/1/1/1"), "must have the form"),
        ("akash1x/1/1/1".to_owned(), "owner is not an account"),
        (format!("{OWNER}/0/1/1"), "dseq is 0"),
        (format!("{OWNER}/1/0/1"), "gseq is 0"),
        (format!("{OWNER}/1/1/0"), "oseq is 0"),
        (format!("{OWNER}/+1/1/1"), "dseq \"+1\" must be a whole number"),
        (format!("{OWNER}//1/1"), "dseq \"\" must be a whole number"),
        (format!("{OWNER}/18446744073709551616/1/1"), "from 1 to 18446744073709551615"),
        (format!("{OWNER}/1/4294967296/1"), "gseq \"4294967296\" must be a whole number"),
    ] {
        let error = text.parse::<OrderId>().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    assert!(format!("{OWNER}/1/1/1/{OWNER}x").parse::<BidId>().is_err());
}

#[test]
fn bseq_takes_no_part_in_comparison() {
    let bid = lease().bid_id();
    let other = bid.with_bseq(3);
    assert_eq!(bid, other);
    assert_eq!(bid.cmp(&other), std::cmp::Ordering::Equal);
    assert_eq!(other.lease_id(), lease());
    assert_eq!(std::collections::HashSet::from([bid, other]).len(), 1);
    assert_eq!(other.bseq(), 3);
}

prop_compose! {
    fn any_lease()(
        owner in prop::collection::vec(any::<u8>(), 1..=32),
        provider in prop::collection::vec(any::<u8>(), 1..=32),
        dseq in 1..=u64::MAX,
        gseq in 1..=u32::MAX,
        oseq in 1..=u32::MAX,
    ) -> LeaseId {
        let deployment = DeploymentId::new(Address::from_bytes(&owner).unwrap(), dseq).unwrap();
        let order = OrderId::new(GroupId::new(deployment, gseq).unwrap(), oseq).unwrap();
        LeaseId::new(order, Address::from_bytes(&provider).unwrap())
    }
}

proptest! {
    #[test]
    fn every_id_parses_from_its_text(lease in any_lease()) {
        prop_assert_eq!(lease.to_string().parse(), Ok(lease));
        prop_assert_eq!(lease.bid_id().to_string().parse(), Ok(lease.bid_id()));
        prop_assert_eq!(lease.order_id().to_string().parse(), Ok(lease.order_id()));
        prop_assert_eq!(lease.group_id().to_string().parse(), Ok(lease.group_id()));
        prop_assert_eq!(lease.deployment_id().to_string().parse(), Ok(lease.deployment_id()));
        let payment = EscrowPaymentId::from(lease);
        prop_assert_eq!(payment.to_string().parse(), Ok(payment));
        let bid = EscrowAccountId::Bid(lease.bid_id());
        prop_assert_eq!(bid.to_string().parse(), Ok(bid));
    }

    #[test]
    fn no_text_panics(text in ".{0,60}", path in "(deployment|bid|lease)/[a-z0-9/]{0,20}") {
        for text in [text, path] {
            let _ = text.parse::<LeaseId>();
            let _ = text.parse::<EscrowAccountId>();
            let _ = text.parse::<EscrowPaymentId>();
        }
    }
}
