//! Messages of all modules: reading, signers, execution.

use akash_types::Address;
use prost::Name;
use prost_types::Any;

use super::error::{Outcome, TxError, sdk};
use super::run::Exec;
use super::{address, audit, authz, bank, cert, deployment, escrow, feegrant, market, provider};

/// A message that is understood and passed the checks that need no state.
pub(crate) trait Message: Sized {
    type Wire: prost::Message + Name + Default;

    /// Reads it and checks what can be checked without state.
    fn parse(wire: Self::Wire) -> Outcome<Self>;

    fn signer(&self) -> Address;

    fn execute(&self, exec: &mut Exec) -> Outcome;

    /// Does what it says; the bytes of its answer, which for nearly all messages has no fields.
    fn answer(&self, exec: &mut Exec) -> Outcome<Vec<u8>> {
        self.execute(exec).map(|()| Vec::new())
    }
}

macro_rules! messages {
    ($($name:ident($type:ty),)+) => {
        pub(crate) enum Msg {
            $($name(Box<$type>),)+
        }

        impl Msg {
            /// Reads a message and checks it by itself.
            pub(crate) fn parse(any: &Any) -> Outcome<Self> {
                $(if is::<$type>(&any.type_url) {
                    return read::<$type>(&any.value).map(Box::new).map(Self::$name);
                })+
                Err(unknown(&any.type_url))
            }

            pub(crate) fn signer(&self) -> Address {
                match self { $(Self::$name(message) => message.signer(),)+ }
            }

            pub(crate) fn type_url(&self) -> String {
                match self { $(Self::$name(message) => url(message.as_ref()),)+ }
            }

            pub(crate) fn answer(&self, exec: &mut Exec) -> Outcome<Vec<u8>> {
                match self { $(Self::$name(message) => message.answer(exec),)+ }
            }
        }
    };
}

messages! {
    Send(bank::Send),
    MultiSend(bank::MultiSend),
    Grant(authz::MakeGrant),
    Exec(authz::Execute),
    Revoke(authz::Revoke),
    GrantAllowance(feegrant::GrantAllowance),
    RevokeAllowance(feegrant::RevokeAllowance),
    CreateProvider(provider::CreateProvider),
    UpdateProvider(provider::UpdateProvider),
    DeleteProvider(provider::DeleteProvider),
    CreateCertificate(cert::CreateCertificate),
    RevokeCertificate(cert::RevokeCertificate),
    SignAttributes(audit::SignAttributes),
    DeleteAttributes(audit::DeleteAttributes),
    CreateDeployment(deployment::CreateDeployment),
    UpdateDeployment(deployment::UpdateDeployment),
    CloseDeployment(deployment::CloseDeployment),
    CloseGroup(deployment::CloseGroup),
    PauseGroup(deployment::PauseGroup),
    StartGroup(deployment::StartGroup),
    CreateBid(market::CreateBid),
    CloseBid(market::CloseBid),
    CreateLease(market::CreateLease),
    WithdrawLease(market::WithdrawLease),
    CloseLease(market::CloseLease),
    StartReclaim(market::StartReclaim),
    AccountDeposit(escrow::AccountDeposit),
}

impl Msg {
    /// The module it belongs to: the second part of its name.
    pub(crate) fn module(type_url: &str) -> &str {
        type_url.split('.').nth(1).unwrap_or_default()
    }
}

fn is<M: Message>(type_url: &str) -> bool {
    let name = type_url
        .strip_prefix('/')
        .and_then(|full| full.strip_prefix(M::Wire::PACKAGE))
        .and_then(|rest| rest.strip_prefix('.'));
    name == Some(M::Wire::NAME)
}

fn url<M: Message>(_: &M) -> String {
    akash_proto::type_url::<M::Wire>()
}

fn read<M: Message>(bytes: &[u8]) -> Outcome<M> {
    let wire: M::Wire =
        prost::Message::decode(bytes).map_err(|error| sdk::TX_DECODE.wrap(error))?;
    M::parse(wire)
}

fn unknown(type_url: &str) -> TxError {
    sdk::TX_DECODE.wrap(format_args!("unable to resolve type URL {type_url}"))
}

/// The account that must sign; the chain cannot even decode a message without it.
pub(crate) fn signer(text: &str) -> Outcome<Address> {
    address::account(text).map_err(|why| sdk::TX_DECODE.wrap(why))
}
