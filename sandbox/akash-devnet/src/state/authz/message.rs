//! Granting, revoking, and acting for others.

use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_types::Address;
use prost::Message as _;

use super::{Authorization, EXPIRED, Grant, INVALID_EXPIRATION, NOT_FOUND, SELF_GRANT, key};
use crate::state::error::{Outcome, sdk};
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::msg::{Message, Msg, signer};
use crate::state::run::Exec;
use crate::state::{address, bank};

pub(crate) struct MakeGrant {
    granter: Address,
    grantee: Address,
    grant: Grant,
}

impl Message for MakeGrant {
    type Wire = wire::MsgGrant;

    fn parse(wire: wire::MsgGrant) -> Outcome<Self> {
        let granter = signer(&wire.granter)?;
        let grantee = grantee(&wire.grantee)?;
        if granter == grantee {
            return Err(SELF_GRANT.into());
        }
        let grant = wire.grant.unwrap_or_default();
        let authorization = Authorization::read(&grant.authorization.unwrap_or_default())?;
        Ok(Self { granter, grantee, grant: Grant { authorization, expiration: grant.expiration } })
    }

    fn signer(&self) -> Address {
        self.granter
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if exec.block.has_reached(self.grant.expiration.as_ref()) {
            return Err(INVALID_EXPIRATION.into());
        }
        exec.step(Step::GrantWrite)?;
        exec.tables.ensure_account(self.grantee);
        exec.tables.put_grant(self.granter, self.grantee, self.grant.clone());
        let type_url = self.grant.authorization.type_url();
        exec.emit(event("cosmos.authz.v1beta1.EventGrant", self.granter, self.grantee, type_url));
        Ok(())
    }
}

pub(crate) struct Revoke {
    granter: Address,
    grantee: Address,
    type_url: String,
}

impl Message for Revoke {
    type Wire = wire::MsgRevoke;

    fn parse(wire: wire::MsgRevoke) -> Outcome<Self> {
        let granter = signer(&wire.granter)?;
        let grantee = grantee(&wire.grantee)?;
        if granter == grantee {
            return Err(SELF_GRANT.into());
        }
        if wire.msg_type_url.is_empty() {
            return Err(sdk::INVALID_REQUEST.wrap("missing method name"));
        }
        Ok(Self { granter, grantee, type_url: wire.msg_type_url })
    }

    fn signer(&self) -> Address {
        self.granter
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        if !exec.tables.grants.contains(&key(self.granter, self.grantee, &self.type_url)) {
            return Err(
                NOT_FOUND.wrap(format_args!("failed to delete grant for {}", self.type_url))
            );
        }
        exec.step(Step::GrantWrite)?;
        exec.tables.remove_grant(self.granter, self.grantee, &self.type_url);
        let kind = "cosmos.authz.v1beta1.EventRevoke";
        exec.emit(event(kind, self.granter, self.grantee, &self.type_url));
        Ok(())
    }
}

/// Sends messages in the name of others.
pub(crate) struct Execute {
    grantee: Address,
    messages: Vec<Msg>,
}

impl Message for Execute {
    type Wire = wire::MsgExec;

    fn parse(wire: wire::MsgExec) -> Outcome<Self> {
        let grantee = signer(&wire.grantee)?;
        if wire.msgs.is_empty() {
            return Err(sdk::INVALID_REQUEST.wrap("messages cannot be empty"));
        }
        // The chain allows it a few levels deep; nobody does it, and refusing it bounds our stack.
        let nested = |any: &prost_types::Any| any.type_url == "/cosmos.authz.v1beta1.MsgExec";
        if wire.msgs.iter().any(nested) {
            return Err(sdk::NOT_SUPPORTED.wrap("MsgExec inside MsgExec"));
        }
        let messages = wire.msgs.iter().map(Msg::parse).collect::<Outcome<_>>()?;
        Ok(Self { grantee, messages })
    }

    fn signer(&self) -> Address {
        self.grantee
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        self.answer(exec).map(drop)
    }

    fn answer(&self, exec: &mut Exec) -> Outcome<Vec<u8>> {
        let mut results = Vec::with_capacity(self.messages.len());
        for (index, message) in self.messages.iter().enumerate() {
            let granter = message.signer();
            if granter != self.grantee {
                self.use_grant(exec, granter, message)?;
            }
            let start = exec.events.len();
            let type_url = message.type_url();
            let answer = message.answer(exec).map_err(|error| match error.unwinds() {
                true => error,
                false => {
                    error.within(format_args!("failed to execute message; message {type_url}"))
                }
            })?;
            for event in exec.events.iter_mut().skip(start) {
                event.push("authz_msg_index", index.to_string());
            }
            results.push(answer);
        }
        Ok(wire::MsgExecResponse { results }.encode_to_vec())
    }
}

impl Execute {
    fn use_grant(&self, exec: &mut Exec, granter: Address, message: &Msg) -> Outcome {
        let type_url = message.type_url();
        let grantee = self.grantee;
        exec.step(Step::Lookup)?;
        let found = exec.tables.grants.get(&key(granter, grantee, &type_url)).cloned();
        let found = found.ok_or_else(|| {
            NOT_FOUND.wrap(format_args!(
                "failed to get grant with given granter: {granter}, grantee: {grantee} & msgType: \
                 {type_url} "
            ))
        })?;
        if exec.block.is_after(found.expiration.as_ref()) {
            return Err(EXPIRED.into());
        }
        match (&found.authorization, message) {
            (Authorization::Generic(_), _) => Ok(()),
            (Authorization::Send(sends), Msg::Send(send)) => {
                let left = left_of(sends, send)?;
                if left.limit.is_empty() {
                    exec.tables.remove_grant(granter, grantee, &type_url);
                } else {
                    let authorization = Authorization::Send(left);
                    exec.tables.put_grant(granter, grantee, Grant { authorization, ..found });
                }
                Ok(())
            }
            _ => Err(sdk::INVALID_TYPE.wrap("type mismatch")),
        }
    }
}

fn left_of(sends: &super::Sends, send: &bank::Send) -> Outcome<super::Sends> {
    let receiver = send.to.to_string();
    if !sends.receivers.is_empty() && !sends.receivers.contains(&receiver) {
        return Err(sdk::UNAUTHORIZED.wrap(format_args!("cannot send to {receiver} address")));
    }
    let mut limit = sends.limit.clone();
    for coin in send.amount.iter() {
        let short = || sdk::INSUFFICIENT_FUNDS.wrap("requested amount is more than spend limit");
        limit = limit.minus(coin).ok_or_else(short)?;
    }
    Ok(super::Sends { limit, receivers: sends.receivers.clone() })
}

fn event(kind: &str, granter: Address, grantee: Address, type_url: &str) -> Event {
    let attributes = [
        ("grantee", format!("\"{grantee}\"")),
        ("granter", format!("\"{granter}\"")),
        ("msg_type_url", format!("\"{type_url}\"")),
    ];
    Event::new(kind, attributes)
}

fn grantee(text: &str) -> Outcome<Address> {
    address::account(text)
        .map_err(|why| sdk::INVALID_ADDRESS.wrap(format_args!("invalid grantee address: {why}")))
}
