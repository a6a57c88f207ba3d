//! Whether a wanted state holds.

use akash_types::{
    Address, BidState, CertificateState, EscrowState, LeaseId, LeaseState, Provider, Wanted,
};

use crate::query::{Answer, Query, QueryError, Transport};

/// Whether a state holds for `owner`, as the node knows it now, and at which height; `None` where
/// the answers of several nodes do not fit together.
pub(super) async fn holds<T: Transport>(
    query: &Query<T>,
    owner: Address,
    wanted: &Wanted,
) -> Result<Option<Answer<bool>>, QueryError> {
    Ok(Some(match wanted {
        Wanted::Bid(bid) => query.bid(*bid).await?.map(|found| found.is_some()),
        Wanted::BidOver(bid) => query.bid(*bid).await?.map(|found| {
            let state = found.map(|found| found.bid.state);
            !matches!(state, Some(BidState::Open | BidState::Active))
        }),
        Wanted::Withdrawn { lease, since } => return is_withdrawn(query, *lease, *since).await,
        Wanted::Reclaiming(lease) => query
            .lease(*lease)
            .await?
            .map(|found| found.is_some_and(|found| found.lease.state != LeaseState::Active)),
        Wanted::CertificateValid { serial } => query
            .certificate(owner, serial, CertificateState::Valid)
            .await?
            .map(|found| found.is_some()),
        Wanted::CertificateRevoked { serial } => query
            .certificate(owner, serial, CertificateState::Revoked)
            .await?
            .map(|found| found.is_some()),
        Wanted::Provider(provider) => query
            .provider(provider.owner)
            .await?
            .map(|found| found.map(sorted) == Some(sorted(provider.as_ref().clone()))),
        Wanted::Unverifiable => Answer { value: false, height: None },
    }))
}

/// A payment that has ended was paid out. One that goes on was, if its account was settled since
/// and nothing was left on it.
///
/// The account comes first: whatever it was settled for until then has reached the payment by the
/// time that one is read. The other way round a block in between looks like a withdrawal.
async fn is_withdrawn<T: Transport>(
    query: &Query<T>,
    lease: LeaseId,
    since: u64,
) -> Result<Option<Answer<bool>>, QueryError> {
    let deployment = query.deployment(lease.deployment_id()).await?;
    let lease = query.lease(lease).await?;
    let heights = deployment.height.zip(lease.height);
    if heights.is_some_and(|(before, after)| after < before) {
        return Ok(None);
    }
    let height = heights.map(|(before, _)| before);
    let account = deployment.value.and_then(|deployment| deployment.account);
    let settled = account.is_some_and(|account| account.settled_at >= since);
    let payment = lease.value.and_then(|lease| lease.payment);
    let value = payment.is_some_and(|payment| {
        payment.state != EscrowState::Open
            || (settled && payment.balance.amount().truncate_int() == 0)
    });
    Ok(Some(Answer { value, height }))
}

/// The order of attributes says nothing.
fn sorted(mut provider: Provider) -> Provider {
    provider.attributes.sort();
    provider
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::Value;

    use super::*;
    use crate::query::{NoAnswer, Reply};

    const RECORDED: &str = include_str!("../../../../../../fixtures/chain/grpc.jsonl");
    const LEASE: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/101/1/1/\
                         akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    /// Nodes behind one address: each question is answered at the height that is next.
    struct Heights(std::sync::Mutex<Vec<u64>>);

    impl Transport for Heights {
        async fn unary(&self, path: &str, _: Vec<u8>) -> Result<Reply, NoAnswer> {
            let mut calls = RECORDED.lines().map(|line| serde_json::from_str(line).unwrap());
            let found = calls.find(|call: &Value| call["method"] == path && call["code"] == 0);
            let bytes = STANDARD.decode(found.unwrap()["response_b64"].as_str().unwrap()).unwrap();
            let height = Some(self.0.lock().unwrap().remove(0));
            Ok(Reply { bytes: bytes.into(), height })
        }
    }

    /// The recorded payment is open with nothing left on it; its account was settled at 117.
    #[tokio::test]
    async fn a_withdrawal_is_seen_only_by_nodes_that_do_not_go_back() {
        let lease: LeaseId = LEASE.parse().unwrap();
        for (since, heights, answer) in [
            (117, [170, 170], Some((true, 170))),
            (117, [170, 173], Some((true, 170))),
            (118, [170, 173], Some((false, 170))),
            (117, [173, 170], None),
        ] {
            let query = Query::new(Heights(heights.to_vec().into()));
            let wanted = Wanted::Withdrawn { lease, since };
            let found = holds(&query, lease.provider(), &wanted).await.unwrap();
            let found = found.map(|found| (found.value, found.height.unwrap()));
            assert_eq!(found, answer, "since {since} at {heights:?}");
        }
    }
}
