//! What a lease has earned.

use akash_types::{DecCoin, EscrowPayment, EscrowState};

/// What a lease has earned up to a height. The chain counts only when somebody asks for payment:
/// what came since is what is paid per block, times the blocks.
pub(super) fn earned(payment: &EscrowPayment, settled_at: u64, height: u64) -> Option<DecCoin> {
    let blocks = match payment.state {
        EscrowState::Open => height.saturating_sub(settled_at),
        EscrowState::Closed | EscrowState::Overdrawn => 0,
    };
    let since = payment.rate.checked_mul_int(blocks).ok()?;
    let withdrawn = i128::try_from(payment.withdrawn.amount()).ok();
    let withdrawn = withdrawn.and_then(akash_types::Dec::checked_from_int)?;
    let withdrawn = DecCoin::new(payment.withdrawn.denom().clone(), withdrawn).ok()?;
    let all = payment.balance.checked_add(&since).ok()?;
    // Nothing was withdrawn yet, perhaps in no denomination at all.
    if withdrawn.is_zero() { Some(all) } else { all.checked_add(&withdrawn).ok() }
}

#[cfg(test)]
mod tests {
    use akash_types::{DeploymentId, EscrowPaymentId, GroupId, LeaseId, OrderId};

    use super::*;

    #[test]
    fn earnings_are_what_was_counted_and_what_came_since() {
        let owner = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
        let provider = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
        let lease = LeaseId::new(OrderId::new(group, 1).unwrap(), provider);
        let payment = EscrowPayment {
            id: EscrowPaymentId::from(lease),
            owner: provider,
            state: EscrowState::Open,
            rate: "0.5uact".parse().unwrap(),
            balance: "2.5uact".parse().unwrap(),
            unsettled: "0uact".parse().unwrap(),
            withdrawn: "10uact".parse().unwrap(),
        };
        assert_eq!(earned(&payment, 100, 110), Some("17.5uact".parse().unwrap()));
        assert_eq!(earned(&payment, 100, 99), Some("12.5uact".parse().unwrap()));
        let closed = EscrowPayment { state: EscrowState::Closed, ..payment };
        assert_eq!(earned(&closed, 100, 110), Some("12.5uact".parse().unwrap()));
    }
}
