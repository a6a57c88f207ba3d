//! What accounts allow others to do in their name.

use std::time::SystemTime;

use akash_proto::akash::escrow::v1 as escrow;
use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_proto::{from_any, type_url};
use akash_types::{Address, Coin, EscrowScope};
use prost_types::{Any, Timestamp};

use super::ask::{or_empty, part_or_none, whole};
use super::{Answer, List, Malformed, Query, QueryError, Transport, method};

/// A grant: `grantee` may do something in the name of `granter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzGrant {
    /// In whose name.
    pub granter: Address,
    /// Who.
    pub grantee: Address,
    /// What.
    pub authorization: Authorization,
    /// Until when; absent if for ever.
    pub expiration: Option<SystemTime>,
}

/// What a grant allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// Any message of one type.
    Generic {
        /// Type URL of the message.
        message: String,
    },
    /// Deposits into escrow.
    Deposit {
        /// What may still be spent, per denomination; older grants have one only.
        spend_limits: Vec<Coin>,
        /// What for.
        scopes: Vec<EscrowScope>,
    },
    /// Another kind, as the chain wrote it.
    Other {
        /// Type of the authorization.
        type_url: String,
        /// The authorization, encoded.
        value: Vec<u8>,
    },
}

impl<T: Transport> Query<T> {
    /// What `granter` allows `grantee`, for one type of message or for all.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn grants(
        &self,
        granter: Address,
        grantee: Address,
        message: Option<&str>,
    ) -> Result<Answer<List<AuthzGrant>>, QueryError> {
        let request = |page| wire::QueryGrantsRequest {
            granter: granter.to_string(),
            grantee: grantee.to_string(),
            msg_type_url: message.unwrap_or_default().to_owned(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryGrantsResponse| (answer.grants, answer.pagination),
            |grant: &wire::Grant| name(grant.authorization.as_ref()),
            |grant: wire::Grant| {
                Ok(AuthzGrant {
                    granter,
                    grantee,
                    authorization: authorization(grant.authorization)?,
                    expiration: expiration(grant.expiration)?,
                })
            },
        );
        let asked = || format!("grants of {granter} to {grantee}");
        or_empty(self.list(asked, method::GRANTS, request, listing).await)
    }

    /// What `granter` allows anybody.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn grants_by(
        &self,
        granter: Address,
    ) -> Result<Answer<List<AuthzGrant>>, QueryError> {
        let request = |page| wire::QueryGranterGrantsRequest {
            granter: granter.to_string(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryGranterGrantsResponse| (answer.grants, answer.pagination),
            |grant: &wire::GrantAuthorization| name(grant.authorization.as_ref()),
            full_grant,
        );
        let asked = || format!("grants of {granter}");
        or_empty(self.list(asked, method::GRANTS_BY, request, listing).await)
    }

    /// What anybody allows `grantee`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one without meaning.
    pub async fn grants_to(
        &self,
        grantee: Address,
    ) -> Result<Answer<List<AuthzGrant>>, QueryError> {
        let request = |page| wire::QueryGranteeGrantsRequest {
            grantee: grantee.to_string(),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryGranteeGrantsResponse| (answer.grants, answer.pagination),
            |grant: &wire::GrantAuthorization| name(grant.authorization.as_ref()),
            full_grant,
        );
        let asked = || format!("grants to {grantee}");
        or_empty(self.list(asked, method::GRANTS_TO, request, listing).await)
    }
}

fn name(authorization: Option<&Any>) -> String {
    format!("grant {}", authorization.map(|any| any.type_url.as_str()).unwrap_or_default())
}

fn full_grant(grant: wire::GrantAuthorization) -> Result<AuthzGrant, Malformed> {
    Ok(AuthzGrant {
        granter: address("granter", &grant.granter)?,
        grantee: address("grantee", &grant.grantee)?,
        authorization: authorization(grant.authorization)?,
        expiration: expiration(grant.expiration)?,
    })
}

/// An account in an answer.
pub(super) fn address(part: &'static str, text: &str) -> Result<Address, Malformed> {
    text.parse::<Address>().map_err(|source| Malformed::part(part, source))
}

/// A moment in an answer.
pub(super) fn expiration(time: Option<Timestamp>) -> Result<Option<SystemTime>, Malformed> {
    let convert = |time: Timestamp| {
        SystemTime::try_from(time).map_err(|_| Malformed::Unexpected {
            part: "expiration",
            found: format!("{} s and {} ns", time.seconds, time.nanos),
            expected: "a moment in time",
        })
    };
    time.map(convert).transpose()
}

fn authorization(any: Option<Any>) -> Result<Authorization, Malformed> {
    let any = any.ok_or(Malformed::Missing { part: "authorization" })?;
    let broken = |error: akash_proto::AnyError| Malformed::Unexpected {
        part: "authorization",
        found: error.to_string(),
        expected: "what its type says",
    };
    if any.type_url == type_url::<wire::GenericAuthorization>() {
        let generic: wire::GenericAuthorization = from_any(&any).map_err(broken)?;
        return Ok(Authorization::Generic { message: generic.msg });
    }
    if any.type_url == type_url::<escrow::DepositAuthorization>() {
        return deposit(from_any(&any).map_err(broken)?);
    }
    Ok(Authorization::Other { type_url: any.type_url, value: any.value })
}

fn deposit(deposit: escrow::DepositAuthorization) -> Result<Authorization, Malformed> {
    let coin = |coin| whole("spend limit", coin);
    let mut spend_limits =
        deposit.spend_limits.into_iter().map(coin).collect::<Result<Vec<Coin>, _>>()?;
    if let (true, Some(limit)) =
        (spend_limits.is_empty(), part_or_none("spend limit", deposit.spend_limit)?)
    {
        spend_limits.push(limit);
    }
    let scope =
        |code| EscrowScope::from_code(code).map_err(|source| Malformed::part("scope", source));
    let scopes = deposit.scopes.into_iter().map(scope).collect::<Result<_, _>>()?;
    Ok(Authorization::Deposit { spend_limits, scopes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use akash_proto::cosmos::base::v1beta1 as base;
    use akash_proto::to_any;

    #[test]
    fn known_authorizations_are_read_and_others_kept() {
        let message = "/akash.market.v1beta5.MsgCreateBid".to_owned();
        let generic = to_any(&wire::GenericAuthorization { msg: message.clone() });
        assert_eq!(authorization(Some(generic)), Ok(Authorization::Generic { message }));
        let coin = base::Coin { denom: "uakt".to_owned(), amount: "5".to_owned() };
        for deposit in [
            escrow::DepositAuthorization {
                spend_limit: Some(coin.clone()),
                scopes: vec![2],
                spend_limits: vec![],
            },
            escrow::DepositAuthorization {
                spend_limit: Some(base::Coin::default()),
                scopes: vec![2],
                spend_limits: vec![coin],
            },
        ] {
            let expected = Authorization::Deposit {
                spend_limits: vec!["5uakt".parse().unwrap()],
                scopes: vec![EscrowScope::Bid],
            };
            assert_eq!(authorization(Some(to_any(&deposit))), Ok(expected));
        }
        let odd = escrow::DepositAuthorization { scopes: vec![9], ..Default::default() };
        assert!(authorization(Some(to_any(&odd))).is_err());
        let other = Any { type_url: "/x.Y".to_owned(), value: vec![1] };
        assert!(matches!(authorization(Some(other)), Ok(Authorization::Other { .. })));
        assert!(authorization(None).is_err());
    }
}
