//! Who pays the fees of others.

use std::time::SystemTime;

use akash_proto::cosmos::base::v1beta1 as base;
use akash_proto::cosmos::feegrant::v1beta1 as wire;
use akash_proto::{AnyError, from_any, type_url};
use akash_types::{Address, Coin};
use prost_types::Any;

use super::ask::{or_empty, whole};
use super::authz::{address, expiration};
use super::{Answer, Failure, List, Malformed, Query, QueryError, Transport, method};

/// An allowance: `granter` pays fees of `grantee`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeeGrant {
    /// Who pays.
    pub granter: Address,
    /// For whom.
    pub grantee: Address,
    /// How much.
    pub allowance: Allowance,
}

/// How much of somebody's fees is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// A sum for all time.
    Basic {
        /// What is left; empty is no limit.
        spend_limit: Vec<Coin>,
        /// Until when; absent if for ever.
        expiration: Option<SystemTime>,
    },
    /// A sum in each period.
    Periodic {
        /// What is left for all time; empty is no limit.
        spend_limit: Vec<Coin>,
        /// What is left in this period.
        period_can_spend: Vec<Coin>,
        /// Until when; absent if for ever.
        expiration: Option<SystemTime>,
    },
    /// For some types of messages only.
    Messages {
        /// How much.
        allowance: Box<Allowance>,
        /// Type URLs of the messages.
        messages: Vec<String>,
    },
    /// Another kind, as the chain wrote it.
    Other {
        /// Type of the allowance.
        type_url: String,
        /// The allowance, encoded.
        value: Vec<u8>,
    },
}

/// What the node says when there is no allowance. It sends an internal error for it, not the
/// status that means "not found".
const NO_ALLOWANCE: &str = "fee-grant not found";

/// Deepest nesting of allowances that is read; the chain knows one level.
const MAX_DEPTH: usize = 4;

impl<T: Transport> Query<T> {
    /// What `granter` pays of the fees of `grantee`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn fee_grant(
        &self,
        granter: Address,
        grantee: Address,
    ) -> Result<Answer<Option<FeeGrant>>, QueryError> {
        let request = wire::QueryAllowanceRequest {
            granter: granter.to_string(),
            grantee: grantee.to_string(),
        };
        let convert = |answer: wire::QueryAllowanceResponse| {
            grant(answer.allowance.ok_or(Malformed::Missing { part: "allowance" })?)
        };
        let asked = || format!("fee allowance of {granter} for {grantee}");
        match self.find(asked, method::ALLOWANCE, &request, convert).await {
            Err(error) if is_missing(error.failure()) => Ok(Answer { value: None, height: None }),
            answer => answer,
        }
    }

    /// Who pays fees of `grantee`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn fee_grants_to(
        &self,
        grantee: Address,
    ) -> Result<Answer<List<FeeGrant>>, QueryError> {
        let request = |page| wire::QueryAllowancesRequest {
            grantee: grantee.to_string(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryAllowancesResponse| (answer.allowances, answer.pagination),
            |grant: &wire::Grant| format!("fee allowance of {}", grant.granter),
            grant,
        );
        let asked = || format!("fee allowances for {grantee}");
        or_empty(self.list(asked, method::ALLOWANCES, request, listing).await)
    }
}

fn is_missing(failure: &Failure) -> bool {
    failure.text().is_some_and(|text| text.contains(NO_ALLOWANCE))
}

fn grant(grant: wire::Grant) -> Result<FeeGrant, Malformed> {
    Ok(FeeGrant {
        granter: address("granter", &grant.granter)?,
        grantee: address("grantee", &grant.grantee)?,
        allowance: allowance(grant.allowance, MAX_DEPTH)?,
    })
}

fn allowance(any: Option<Any>, depth: usize) -> Result<Allowance, Malformed> {
    let any = any.ok_or(Malformed::Missing { part: "allowance" })?;
    let broken = |error: AnyError| Malformed::Unexpected {
        part: "allowance",
        found: error.to_string(),
        expected: "what its type says",
    };
    if any.type_url == type_url::<wire::BasicAllowance>() {
        let basic: wire::BasicAllowance = from_any(&any).map_err(broken)?;
        return Ok(Allowance::Basic {
            spend_limit: coins(basic.spend_limit)?,
            expiration: expiration(basic.expiration)?,
        });
    }
    if any.type_url == type_url::<wire::PeriodicAllowance>() {
        let periodic: wire::PeriodicAllowance = from_any(&any).map_err(broken)?;
        let basic = periodic.basic.unwrap_or_default();
        return Ok(Allowance::Periodic {
            spend_limit: coins(basic.spend_limit)?,
            period_can_spend: coins(periodic.period_can_spend)?,
            expiration: expiration(basic.expiration)?,
        });
    }
    if any.type_url == type_url::<wire::AllowedMsgAllowance>() && depth > 0 {
        let narrowed: wire::AllowedMsgAllowance = from_any(&any).map_err(broken)?;
        return Ok(Allowance::Messages {
            allowance: Box::new(allowance(narrowed.allowance, depth - 1)?),
            messages: narrowed.allowed_messages,
        });
    }
    Ok(Allowance::Other { type_url: any.type_url, value: any.value })
}

fn coins(coins: Vec<base::Coin>) -> Result<Vec<Coin>, Malformed> {
    coins.into_iter().map(|coin| whole("spend limit", coin)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Unavailable;
    use akash_proto::to_any;

    #[test]
    fn allowances_are_read_to_a_depth() {
        let coin = base::Coin { denom: "uakt".to_owned(), amount: "5".to_owned() };
        let basic = wire::BasicAllowance { spend_limit: vec![coin], expiration: None };
        let spend_limit: Vec<Coin> = vec!["5uakt".parse().unwrap()];
        let read = Allowance::Basic { spend_limit: spend_limit.clone(), expiration: None };
        assert_eq!(allowance(Some(to_any(&basic)), MAX_DEPTH).as_ref(), Ok(&read));
        let periodic = wire::PeriodicAllowance { basic: Some(basic.clone()), ..Default::default() };
        let expected =
            Allowance::Periodic { spend_limit, period_can_spend: vec![], expiration: None };
        assert_eq!(allowance(Some(to_any(&periodic)), MAX_DEPTH), Ok(expected));
        let mut any = to_any(&basic);
        let narrow = |any| {
            let allowed_messages = vec!["/x.Y".to_owned()];
            to_any(&wire::AllowedMsgAllowance { allowance: Some(any), allowed_messages })
        };
        let messages = vec!["/x.Y".to_owned()];
        let expected = Allowance::Messages { allowance: Box::new(read), messages };
        assert_eq!(allowance(Some(narrow(any.clone())), MAX_DEPTH), Ok(expected));
        for _ in 0..10_000 {
            any = narrow(any);
            if any.value.len() > 1 << 16 {
                break;
            }
        }
        assert!(allowance(Some(any), MAX_DEPTH).is_ok());
        assert!(allowance(None, MAX_DEPTH).is_err());
    }

    #[test]
    fn no_allowance_is_told_from_silence_by_its_text() {
        let node = |text: &str| Failure::from(Unavailable::Node { text: text.to_owned() });
        assert!(is_missing(&node("fee-grant not found: not found")));
        assert!(!is_missing(&node("database closed")));
    }
}
