//! Everything the chain keeps.

use std::sync::Arc;

use akash_types::{Address, BidState, DeploymentState, EscrowState, LeaseState, OrderState};

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
use super::table::Table;

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
