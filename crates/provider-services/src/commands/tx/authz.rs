//! `tx authz`: letting others act in one's name.

use akash_chain::tx::message::authz::{Authorization, exec, grant, revoke};
use akash_chain::tx::{GivenTx, Message};
use akash_types::{Address, Coin, EscrowScope};
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};

use super::file;
use super::given::TxFile;
use super::session::Session;
use crate::chain::values;
use crate::console::Streams;

const HELP: &str = "\
Examples:
  provider-services tx authz grant akash1… deposit --spend-limit 10act --from tenant
  provider-services tx authz revoke akash1… /akash.escrow.v1.MsgAccountDeposit --from tenant
  provider-services tx authz exec unsigned.json --from grantee";

const EXEC_HELP: &str = "\
The file is a transaction of whoever has granted; its signatures, fee and memo do not count.

Examples:
  provider-services tx deployment close --dseq 101 --from akash1… --generate-only > unsigned.json
  provider-services tx authz exec unsigned.json --from grantee";

const GRANT_HELP: &str = "\
Examples:
  provider-services tx authz grant akash1… deposit --spend-limit 10act --from tenant
  provider-services tx authz grant akash1… generic --msg-type /akash.market.v1beta5.MsgCreateLease \\
    --from tenant";

const REVOKE_HELP: &str = "\
Examples:
  provider-services tx authz revoke akash1… /akash.escrow.v1.MsgAccountDeposit --from tenant";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Authz {
    #[command(subcommand)]
    command: AuthzCommand,
}

#[derive(Debug, Subcommand)]
enum AuthzCommand {
    /// Allow somebody something in the name of --from
    #[command(after_help = GRANT_HELP)]
    Grant(Grant),
    /// Do what others have allowed --from to do in their name
    #[command(after_help = EXEC_HELP)]
    Exec(TxFile),
    /// Take back what somebody was allowed
    #[command(after_help = REVOKE_HELP)]
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Grant {
    /// Who is allowed
    grantee: Address,
    /// What is allowed
    #[arg(value_name = "KIND")]
    kind: Kind,
    /// Type of the messages that generic allows
    #[arg(long, value_name = "TYPE")]
    msg_type: Option<String>,
    /// What deposit allows to be spent
    #[arg(long, value_name = "COINS", value_delimiter = ',', value_parser = values::coin)]
    spend_limit: Vec<Coin>,
    /// What deposit allows to be paid for
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "deployment,bid")]
    scope: Vec<EscrowScope>,
    /// Until when, in seconds since 1970; 0 is for ever
    #[arg(long, value_name = "SECONDS", value_parser = values::unix_seconds, default_value = "0")]
    expiration: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Any message of one type
    Generic,
    /// Deposits into escrow
    Deposit,
}

#[derive(Debug, Args)]
struct Revoke {
    /// Who was allowed
    grantee: Address,
    /// Type of the messages
    #[arg(value_name = "TYPE")]
    msg_type: String,
}

impl Authz {
    pub(super) fn message(
        &self,
        session: &Session<'_>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Message> {
        match &self.command {
            AuthzCommand::Grant(args) => {
                let expiration = values::after_1970(args.expiration);
                Ok(grant(session.from(), args.grantee, authorization(args)?, expiration)?)
            }
            AuthzCommand::Exec(args) => {
                let given = GivenTx::new(file::read(&args.path, streams.stdin)?)?;
                Ok(exec(session.from(), given.messages())?)
            }
            AuthzCommand::Revoke(args) => Ok(revoke(session.from(), args.grantee, &args.msg_type)?),
        }
    }
}

fn authorization(args: &Grant) -> anyhow::Result<Authorization> {
    match (args.kind, &args.msg_type) {
        (Kind::Generic, Some(message)) => Ok(Authorization::Generic { message: message.clone() }),
        (Kind::Generic, None) => bail!("--msg-type is missing: generic allows one type"),
        (Kind::Deposit, _) if args.spend_limit.is_empty() => {
            bail!("--spend-limit is missing: deposit allows so much")
        }
        (Kind::Deposit, _) => Ok(Authorization::Deposit {
            spend_limits: args.spend_limit.clone(),
            scopes: args.scope.clone(),
        }),
    }
}
