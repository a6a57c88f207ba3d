//! Everything the chain keeps.

use std::ops::Bound;
use std::sync::Arc;

use akash_types::{Address, BidState, DeploymentState, EscrowState, LeaseState, OrderState};
use rpds::RedBlackTreeMapSync;

use super::audit::Audit;
use super::auth::Account;
use super::authz::{Grant, GrantKey, GranteeKey};
use super::cert::{Certificate, CertificateKey};
use super::coins::Coins;
use super::deployment::{Deployment, Group};
use super::escrow::{EscrowAccount, EscrowPayment};
use super::feegrant::Allowance;
use super::keys::{BidKey, ByText, DeploymentKey, Edge, GroupKey, OrderKey};
use super::market::{Bid, Lease, Order};
use super::provider::Provider;

/// All tables; a copy is cheap. What is looked for by something other than its key has a table
/// without values beside it.
#[derive(Clone, Default)]
pub(crate) struct Tables {
    pub(crate) accounts: Table<Address, Account>,
    pub(crate) accounts_by_number: Table<u64, Address>,
    pub(crate) balances: Table<Address, Coins>,
    pub(crate) supply: Coins,
    pub(crate) allowances: Table<(Address, Edge<Address>), Allowance>,
    pub(crate) allowances_by_granter: Table<(Address, Edge<Address>), ()>,
    pub(crate) grants: Table<GrantKey, Grant>,
    pub(crate) grants_by_grantee: Table<GranteeKey, ()>,
    pub(crate) providers: Table<Address, Provider>,
    pub(crate) certificates: Table<CertificateKey, Certificate>,
    pub(crate) audits: Table<(Address, Edge<Address>), Audit>,
    pub(crate) audits_by_auditor: Table<(Address, Edge<Address>), ()>,
    pub(crate) deployments: Table<DeploymentKey, Deployment>,
    pub(crate) deployments_by_state: Table<(DeploymentState, DeploymentKey), ()>,
    pub(crate) groups: Table<GroupKey, Group>,
    pub(crate) orders: Table<OrderKey, Order>,
    pub(crate) orders_by_state: Table<(OrderState, OrderKey), ()>,
    pub(crate) bids: Table<BidKey, Bid>,
    pub(crate) bids_by_state: Table<(BidState, BidKey), ()>,
    pub(crate) bids_by_provider: Table<(ByText, BidKey), ()>,
    pub(crate) bids_by_provider_state: Table<(ByText, BidState, BidKey), ()>,
    pub(crate) leases: Table<BidKey, Lease>,
    pub(crate) leases_by_state: Table<(LeaseState, BidKey), ()>,
    pub(crate) leases_by_provider: Table<(ByText, BidKey), ()>,
    pub(crate) leases_by_provider_state: Table<(ByText, LeaseState, BidKey), ()>,
    /// Escrow accounts by the text of their key, which is also their order on the chain.
    pub(crate) escrow_accounts: Table<Arc<str>, EscrowAccount>,
    pub(crate) escrow_accounts_by_state: Table<(EscrowState, Arc<str>), ()>,
    pub(crate) escrow_payments: Table<Arc<str>, EscrowPayment>,
    pub(crate) escrow_payments_by_state: Table<(EscrowState, Arc<str>), ()>,
}

/// An ordered map from `K` to `V` whose copies are cheap.
pub(crate) struct Table<K: Ord, V>(RedBlackTreeMapSync<K, V>);

impl<K: Ord, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Ord, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(RedBlackTreeMapSync::new_sync())
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.0.insert_mut(key, value);
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.0.remove_mut(key);
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// Entries between two keys, both included; none where the second is before the first.
    pub(crate) fn between(
        &self,
        start: K,
        end: K,
    ) -> impl DoubleEndedIterator<Item = (&K, &V)> + use<'_, K, V> {
        let ordered = start <= end;
        ordered
            .then(|| self.0.range((Bound::Included(start), Bound::Included(end))))
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_does_not_see_later_changes() {
        let mut table = Table::default();
        table.insert(1, "one");
        let copy = table.clone();
        table.insert(2, "two");
        table.remove(&1);
        assert_eq!(copy.iter().collect::<Vec<_>>(), [(&1, &"one")]);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(&2, &"two")]);
    }

    #[test]
    fn ranges_include_both_ends_and_run_both_ways() {
        let mut table = Table::default();
        for key in 0..10 {
            table.insert(key, ());
        }
        let keys = |start, end| table.between(start, end).map(|(key, ())| *key).collect::<Vec<_>>();
        assert_eq!(keys(3, 5), [3, 4, 5]);
        assert_eq!(keys(8, 20), [8, 9]);
        assert_eq!(keys(5, 3), [0; 0]);
        assert_eq!(table.between(3, 5).rev().map(|(key, ())| *key).collect::<Vec<_>>(), [5, 4, 3]);
    }
}
