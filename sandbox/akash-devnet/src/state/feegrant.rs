//! Allowances: who may pay fees with another account's coins.

use akash_proto::cosmos::feegrant::v1beta1 as wire;
use akash_types::Address;
use prost_types::{Any, Timestamp};

use super::address;
use super::coins::Coins;
use super::error::{GrpcCode, ModuleError, Outcome, sdk};
use super::events::Event;
use super::gas::Step;
use super::keys::Edge;
use super::msg::{Message, signer};
use super::run::Exec;

const SPACE: &str = "feegrant";
const LIMIT_EXCEEDED: ModuleError =
    ModuleError::new(SPACE, 2, GrpcCode::Unknown, "fee limit exceeded");
const EXPIRED: ModuleError = ModuleError::new(SPACE, 3, GrpcCode::Unknown, "fee allowance expired");
const NO_MESSAGES: ModuleError =
    ModuleError::new(SPACE, 6, GrpcCode::Unknown, "allowed messages are empty");
const MESSAGE_NOT_ALLOWED: ModuleError =
    ModuleError::new(SPACE, 7, GrpcCode::Unknown, "message not allowed");

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allowance {
    /// What is left; `None` is as much as there is.
    pub(crate) limit: Option<Coins>,
    pub(crate) expiration: Option<Timestamp>,
    /// The only messages whose fees it pays; empty for any.
    pub(crate) messages: Vec<String>,
}

impl Allowance {
    fn read(any: &Any) -> Outcome<Self> {
        if let Ok(basic) = akash_proto::from_any::<wire::BasicAllowance>(any) {
            return Self::basic(basic);
        }
        if let Ok(allowed) = akash_proto::from_any::<wire::AllowedMsgAllowance>(any) {
            let inner: wire::BasicAllowance = allowed
                .allowance
                .as_ref()
                .and_then(|any| akash_proto::from_any(any).ok())
                .ok_or_else(|| unsupported("an allowance inside AllowedMsgAllowance"))?;
            if allowed.allowed_messages.is_empty() {
                return Err(NO_MESSAGES.into());
            }
            return Ok(Self { messages: allowed.allowed_messages, ..Self::basic(inner)? });
        }
        Err(unsupported(&any.type_url))
    }

    fn basic(basic: wire::BasicAllowance) -> Outcome<Self> {
        let limit = Coins::from_wire(&basic.spend_limit)
            .ok_or_else(|| sdk::INVALID_COINS.wrap("spend limit is invalid"))?;
        let limit = Some(limit).filter(|limit| !limit.is_empty());
        Ok(Self { limit, expiration: basic.expiration, messages: Vec::new() })
    }

    pub(crate) fn to_any(&self) -> Any {
        let basic = wire::BasicAllowance {
            spend_limit: self.limit.as_ref().map(Coins::to_wire).unwrap_or_default(),
            expiration: self.expiration,
        };
        let basic = akash_proto::to_any(&basic);
        if self.messages.is_empty() {
            return basic;
        }
        akash_proto::to_any(&wire::AllowedMsgAllowance {
            allowance: Some(basic),
            allowed_messages: self.messages.clone(),
        })
    }
}

fn unsupported(what: &str) -> super::error::TxError {
    sdk::NOT_SUPPORTED.wrap(format_args!(
        "{what}: this network knows BasicAllowance and AllowedMsgAllowance of one"
    ))
}

impl Exec {
    /// Lets `grantee` pay `fee` with the coins of `granter`, if that was allowed.
    pub(crate) fn use_allowance(
        &mut self,
        granter: Address,
        grantee: Address,
        fee: &Coins,
        types: &[String],
    ) -> Outcome {
        let key = (grantee, Edge::Is(granter));
        let Some(allowance) = self.tables.allowances.get(&key).cloned() else {
            return Err(sdk::NOT_FOUND.wrap("fee-grant not found"));
        };
        let allowed = |message| allowance.messages.contains(message);
        if !allowance.messages.is_empty() && !types.iter().all(allowed) {
            return Err(MESSAGE_NOT_ALLOWED.wrap("message does not exist in allowed messages"));
        }
        if self.block.is_after(allowance.expiration.as_ref()) {
            self.tables.remove_allowance(granter, grantee);
            return Err(EXPIRED.wrap("basic allowance"));
        }
        let left = match &allowance.limit {
            None => None,
            Some(limit) => {
                let mut left = limit.clone();
                for coin in fee.iter() {
                    left =
                        left.minus(coin).ok_or_else(|| LIMIT_EXCEEDED.wrap("basic allowance"))?;
                }
                Some(left)
            }
        };
        self.emit(event("use_feegrant", granter, grantee));
        if left.as_ref().is_some_and(Coins::is_empty) {
            self.tables.remove_allowance(granter, grantee);
        } else if left.is_some() {
            self.tables.allowances.insert(key, Allowance { limit: left, ..allowance });
            self.emit(event("set_feegrant", granter, grantee));
        }
        Ok(())
    }
}

impl super::tables::Tables {
    fn remove_allowance(&mut self, granter: Address, grantee: Address) {
        self.allowances.remove(&(grantee, Edge::Is(granter)));
        self.allowances_by_granter.remove(&(granter, Edge::Is(grantee)));
    }
}

fn event(kind: &str, granter: Address, grantee: Address) -> Event {
    Event::new(kind, [("granter", granter.to_string()), ("grantee", grantee.to_string())])
}

/// Allows another account to pay fees with one's coins.
pub(crate) struct GrantAllowance {
    granter: Address,
    grantee: Address,
    allowance: Allowance,
}

impl Message for GrantAllowance {
    type Wire = wire::MsgGrantAllowance;

    fn parse(wire: wire::MsgGrantAllowance) -> Outcome<Self> {
        let granter = signer(&wire.granter)?;
        let grantee = grantee(&wire.grantee)?;
        if granter == grantee {
            return Err(sdk::INVALID_ADDRESS.wrap("cannot self-grant fee authorization"));
        }
        let allowance = Allowance::read(&wire.allowance.unwrap_or_default())?;
        Ok(Self { granter, grantee, allowance })
    }

    fn signer(&self) -> Address {
        self.granter
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = (self.grantee, Edge::Is(self.granter));
        if exec.tables.allowances.contains(&key) {
            return Err(sdk::INVALID_REQUEST.wrap("fee allowance already exists"));
        }
        if exec.block.is_after(self.allowance.expiration.as_ref()) {
            return Err(sdk::INVALID_REQUEST.wrap("expiration is before current block time"));
        }
        exec.step(Step::GrantWrite)?;
        exec.tables.ensure_account(self.grantee);
        exec.tables.allowances.insert(key, self.allowance.clone());
        exec.tables.allowances_by_granter.insert((self.granter, Edge::Is(self.grantee)), ());
        exec.emit(event("set_feegrant", self.granter, self.grantee));
        Ok(())
    }
}

pub(crate) struct RevokeAllowance {
    granter: Address,
    grantee: Address,
}

impl Message for RevokeAllowance {
    type Wire = wire::MsgRevokeAllowance;

    fn parse(wire: wire::MsgRevokeAllowance) -> Outcome<Self> {
        Ok(Self { granter: signer(&wire.granter)?, grantee: grantee(&wire.grantee)? })
    }

    fn signer(&self) -> Address {
        self.granter
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if !exec.tables.allowances.contains(&(self.grantee, Edge::Is(self.granter))) {
            return Err(sdk::NOT_FOUND.wrap("fee-grant not found"));
        }
        exec.step(Step::GrantWrite)?;
        exec.tables.remove_allowance(self.granter, self.grantee);
        exec.emit(event("revoke_feegrant", self.granter, self.grantee));
        Ok(())
    }
}

fn grantee(text: &str) -> Outcome<Address> {
    address::account(text)
        .map_err(|why| sdk::INVALID_ADDRESS.wrap(format_args!("invalid grantee address: {why}")))
}
