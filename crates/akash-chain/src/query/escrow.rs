//! Escrow accounts and payments.

use akash_proto::akash::escrow::types::v1 as types;
use akash_proto::akash::escrow::v1 as wire;
use akash_types::{EscrowAccount, EscrowAccountId, EscrowPayment, EscrowPaymentId, EscrowState};

use super::ask::{or_empty, whole};
use super::{Answer, List, Query, QueryError, Transport, method};

/// The order in which states are searched for one id: states only ever change along it, so
/// nothing slips past between two questions.
const SEARCH_ORDER: [EscrowState; 3] =
    [EscrowState::Open, EscrowState::Overdrawn, EscrowState::Closed];

impl<T: Transport> Query<T> {
    /// Every escrow account, in one state or in all.
    pub async fn escrow_accounts(
        &self,
        state: Option<EscrowState>,
    ) -> Result<Answer<List<EscrowAccount>>, QueryError> {
        self.accounts(state, String::new()).await
    }

    /// One escrow account.
    pub async fn escrow_account(
        &self,
        id: EscrowAccountId,
    ) -> Result<Answer<Option<EscrowAccount>>, QueryError> {
        for state in SEARCH_ORDER {
            let Answer { value, height } = self.accounts(Some(state), id.to_string()).await?;
            // The node may read the key as a prefix: `…/10` is also the beginning of `…/101`.
            if let Some(account) = value.items.into_iter().find(|account| account.id == id) {
                return Ok(Answer { value: Some(account), height });
            }
            if let Some(unreadable) = value.unreadable.into_iter().next() {
                return Err(QueryError::new(format!("escrow account {id}"), unreadable.source));
            }
        }
        Ok(Answer { value: None, height: None })
    }

    /// Every escrow payment, in one state or in all.
    pub async fn escrow_payments(
        &self,
        state: Option<EscrowState>,
    ) -> Result<Answer<List<EscrowPayment>>, QueryError> {
        self.payments(state, String::new()).await
    }

    /// The payment of one lease.
    pub async fn escrow_payment(
        &self,
        id: EscrowPaymentId,
    ) -> Result<Answer<Option<EscrowPayment>>, QueryError> {
        for state in SEARCH_ORDER {
            let Answer { value, height } = self.payments(Some(state), id.to_string()).await?;
            if let Some(payment) = value.items.into_iter().find(|payment| payment.id == id) {
                return Ok(Answer { value: Some(payment), height });
            }
            if let Some(unreadable) = value.unreadable.into_iter().next() {
                return Err(QueryError::new(format!("escrow payment {id}"), unreadable.source));
            }
        }
        Ok(Answer { value: None, height: None })
    }

    async fn accounts(
        &self,
        state: Option<EscrowState>,
        xid: String,
    ) -> Result<Answer<List<EscrowAccount>>, QueryError> {
        let request = |page| wire::QueryAccountsRequest {
            state: name(state).to_owned(),
            xid: xid.clone(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryAccountsResponse| (answer.accounts, answer.pagination),
            |account: &types::Account| {
                format!("escrow account {}", account.id.clone().unwrap_or_default().xid)
            },
            |account: types::Account| whole("escrow account", account),
        );
        let asked = || format!("escrow accounts {} {xid}", name(state));
        or_empty(self.list(asked, method::ESCROW_ACCOUNTS, request, listing).await)
    }

    async fn payments(
        &self,
        state: Option<EscrowState>,
        xid: String,
    ) -> Result<Answer<List<EscrowPayment>>, QueryError> {
        let request = |page| wire::QueryPaymentsRequest {
            state: name(state).to_owned(),
            xid: xid.clone(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryPaymentsResponse| (answer.payments, answer.pagination),
            |payment: &types::Payment| {
                let id = payment.id.clone().unwrap_or_default();
                format!("escrow payment {}/{}", id.aid.unwrap_or_default().xid, id.xid)
            },
            |payment: types::Payment| whole("escrow payment", payment),
        );
        let asked = || format!("escrow payments {} {xid}", name(state));
        or_empty(self.list(asked, method::ESCROW_PAYMENTS, request, listing).await)
    }
}

fn name(state: Option<EscrowState>) -> &'static str {
    state.map(EscrowState::as_str).unwrap_or_default()
}
