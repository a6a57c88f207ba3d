//! Deposits: where the coins may come from.

use akash_proto::akash::base::deposit::v1 as wire_deposit;
use akash_proto::akash::escrow::v1 as wire;
use akash_types::{
    Address, Coin, DecCoin, Deposit, DepositSource, Depositor, EscrowAccountId, EscrowScope,
};

use super::INVALID_ID;
use crate::state::error::{GrpcCode, ModuleError, Outcome, TxError, sdk};
use crate::state::market;
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;

const INVALID_SOURCE: ModuleError =
    ModuleError::new("akash", 4, GrpcCode::InvalidArgument, "invalid deposit source");

pub(crate) fn parse(deposit: Option<wire_deposit::Deposit>) -> Outcome<Deposit> {
    let deposit = deposit.unwrap_or_default();
    let coin = deposit.amount.unwrap_or_default();
    let text = format!("{}{}", coin.amount, coin.denom);
    let coin = Coin::try_from(coin).map_err(|_| sdk::INVALID_COINS.wrap(text))?;
    let sources: Vec<_> = deposit
        .sources
        .iter()
        .map(|code| DepositSource::from_code(*code))
        .collect::<Result<_, _>>()
        .map_err(|error| INVALID_SOURCE.detail(error))?;
    Deposit::new(coin, sources).map_err(|error| INVALID_SOURCE.detail(error))
}

impl Exec {
    /// Where the coins of a deposit come from: its sources in order, until it is covered. Limits of
    /// grants that are used are lowered.
    pub(crate) fn authorize_deposit(
        &mut self,
        owner: Address,
        scope: EscrowScope,
        deposit: &Deposit,
    ) -> Outcome<Vec<Depositor>> {
        let denom = deposit.coin().denom().clone();
        let height = self.block.height;
        let mut remaining = deposit.coin().amount();
        let mut depositors = Vec::new();
        let mut take = |owner, source, available: u128, remaining: &mut u128| {
            let taken = available.min(*remaining);
            if taken > 0 {
                let balance = DecCoin::try_from(Coin::new(denom.clone(), taken))
                    .map_err(|_| TxError::panic("Int overflow"))?;
                depositors.push(Depositor { owner, height, source, balance });
                *remaining -= taken;
            }
            Ok::<_, TxError>(taken)
        };
        for source in deposit.sources() {
            match source {
                DepositSource::Balance => {
                    let held = self.balance(owner, deposit.coin().denom().as_str());
                    take(owner, *source, held, &mut remaining)?;
                }
                DepositSource::Grant => {
                    for granter in self.deposit_granters(owner) {
                        let denom = deposit.coin().denom();
                        let limit = self.deposit_limit(granter, owner, scope, denom);
                        let taken = take(granter, *source, limit, &mut remaining)?;
                        if taken > 0 {
                            self.lower_deposit_limit(granter, owner, denom, taken);
                        }
                    }
                }
            }
        }
        match remaining {
            0 => Ok(depositors),
            _ => Err(market::INVALID_DEPOSIT.detail("insufficient balance")),
        }
    }
}

/// Adds funds to an account, whoever's it is.
pub(crate) struct AccountDeposit {
    signer: Address,
    id: EscrowAccountId,
    deposit: Deposit,
}

impl Message for AccountDeposit {
    type Wire = wire::MsgAccountDeposit;

    fn parse(wire: wire::MsgAccountDeposit) -> Outcome<Self> {
        let signer = signer(&wire.signer)?;
        let id = wire.id.unwrap_or_default();
        let id = EscrowAccountId::try_from(id).map_err(|error| INVALID_ID.detail(error))?;
        Ok(Self { signer, id, deposit: parse(wire.deposit)? })
    }

    fn signer(&self) -> Address {
        self.signer
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let deposits = exec.authorize_deposit(self.signer, self.id.scope(), &self.deposit)?;
        exec.account_deposit(self.id, deposits)
    }
}
