//! Coins of accounts.

use akash_proto::cosmos::bank::v1beta1 as wire;
use akash_types::{Address, Coin};

use super::address;
use super::auth::module_of;
use super::coins::Coins;
use super::error::{GrpcCode, ModuleError, Outcome, TxError, sdk};
use super::events::Event;
use super::gas::Step;
use super::msg::{Message, signer};
use super::run::Exec;

const SPACE: &str = "bank";
const NO_INPUTS: ModuleError =
    ModuleError::new(SPACE, 2, GrpcCode::Unknown, "no inputs to send transaction");
const MULTIPLE_SENDERS: ModuleError =
    ModuleError::new(SPACE, 9, GrpcCode::Unknown, "multiple senders not allowed");
const SUM_MISMATCH: ModuleError =
    ModuleError::new(SPACE, 4, GrpcCode::Unknown, "sum inputs != sum outputs");
const SEND_DISABLED: ModuleError =
    ModuleError::new(SPACE, 5, GrpcCode::Unknown, "send transactions are disabled");

impl Exec {
    /// Moves coins between accounts and reports it; makes the receiver's account if need be.
    pub(crate) fn transfer(&mut self, from: Address, to: Address, coins: &Coins) -> Outcome {
        self.withdraw(from, coins)?;
        self.credit(to, coins)?;
        let sender = from.to_string();
        let attributes = [
            ("recipient", to.to_string()),
            ("sender", sender.clone()),
            ("amount", coins.to_string()),
        ];
        self.emit(Event::new("transfer", attributes));
        self.emit(Event::new("message", [("sender", sender)]));
        Ok(())
    }

    /// Moves coins from an account to a module.
    pub(crate) fn pay_module(&mut self, from: Address, module: &str, coins: &Coins) -> Outcome {
        self.transfer(from, Self::module_address(module)?, coins)
    }

    /// Moves coins from a module to an account.
    pub(crate) fn pay_from(&mut self, module: &str, to: Address, coin: Coin) -> Outcome {
        self.step(Step::Transfer)?;
        self.transfer(Self::module_address(module)?, to, &Coins::one(coin))
    }

    /// What an account holds of a denomination.
    pub(crate) fn balance(&self, address: Address, denom: &str) -> u128 {
        self.tables.balances.get(&address).map_or(0, |coins| coins.amount_of(denom))
    }

    fn withdraw(&mut self, from: Address, coins: &Coins) -> Outcome {
        let mut held = self.tables.balances.get(&from).cloned().unwrap_or_default();
        for coin in coins.iter() {
            held = held.minus(coin).ok_or_else(|| {
                let spendable = held.amount_of(coin.denom().as_str());
                sdk::INSUFFICIENT_FUNDS.wrap(format_args!(
                    "spendable balance {spendable}{} is smaller than {coin}",
                    coin.denom()
                ))
            })?;
        }
        self.tables.balances.insert(from, held);
        let attributes = [("spender", from.to_string()), ("amount", coins.to_string())];
        self.emit(Event::new("coin_spent", attributes));
        Ok(())
    }

    fn credit(&mut self, to: Address, coins: &Coins) -> Outcome {
        let mut held = self.tables.balances.get(&to).cloned().unwrap_or_default();
        for coin in coins.iter() {
            // The supply is counted in the same width, so a part of it always fits.
            held = held.plus(coin).ok_or_else(|| TxError::panic("Int overflow"))?;
        }
        self.tables.balances.insert(to, held);
        self.tables.ensure_account(to);
        let attributes = [("receiver", to.to_string()), ("amount", coins.to_string())];
        self.emit(Event::new("coin_received", attributes));
        Ok(())
    }

    fn check_sendable(&self, coins: &Coins) -> Outcome {
        let disabled = &self.params().send_disabled;
        match coins.iter().find(|coin| disabled.contains(coin.denom())) {
            None => Ok(()),
            Some(coin) => {
                let denom = coin.denom();
                Err(SEND_DISABLED.wrap(format_args!("{denom} transfers are currently disabled")))
            }
        }
    }

    fn check_receiver(to: Address) -> Outcome {
        match module_of(to) {
            None => Ok(()),
            Some(_) => {
                Err(sdk::UNAUTHORIZED.wrap(format_args!("{to} is not allowed to receive funds")))
            }
        }
    }
}

pub(crate) struct Send {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) amount: Coins,
}

impl Message for Send {
    type Wire = wire::MsgSend;

    fn parse(wire: wire::MsgSend) -> Outcome<Self> {
        let from = signer(&wire.from_address)?;
        let to = receiver(&wire.to_address)?;
        Ok(Self { from, to, amount: positive_coins(&wire.amount)? })
    }

    fn signer(&self) -> Address {
        self.from
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.check_sendable(&self.amount)?;
        Exec::check_receiver(self.to)?;
        exec.step(Step::Transfer)?;
        exec.transfer(self.from, self.to, &self.amount)
    }
}

pub(crate) struct MultiSend {
    from: Address,
    total: Coins,
    outputs: Vec<(Address, Coins)>,
}

impl Message for MultiSend {
    type Wire = wire::MsgMultiSend;

    fn parse(wire: wire::MsgMultiSend) -> Outcome<Self> {
        let (from, total) = match wire.inputs.as_slice() {
            [] => return Err(NO_INPUTS.into()),
            [input] => (signer(&input.address)?, positive_coins(&input.coins)?),
            _ => return Err(MULTIPLE_SENDERS.into()),
        };
        let output = |output: &wire::Output| {
            Ok((receiver(&output.address)?, positive_coins(&output.coins)?))
        };
        let outputs: Vec<_> = wire.outputs.iter().map(output).collect::<Outcome<_>>()?;
        let mut sum = Coins::default();
        for coin in outputs.iter().flat_map(|(_, coins)| coins.iter()) {
            sum = sum.plus(coin).ok_or(SUM_MISMATCH)?;
        }
        if sum != total {
            return Err(SUM_MISMATCH.into());
        }
        Ok(Self { from, total, outputs })
    }

    fn signer(&self) -> Address {
        self.from
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.check_sendable(&self.total)?;
        for (to, coins) in &self.outputs {
            Exec::check_receiver(*to)?;
            exec.step(Step::Transfer)?;
            exec.transfer(self.from, *to, coins)?;
        }
        Ok(())
    }
}

fn receiver(text: &str) -> Outcome<Address> {
    let wrong = |why| sdk::INVALID_ADDRESS.wrap(format_args!("invalid to address: {why}"));
    address::account(text).map_err(wrong)
}

fn positive_coins(coins: &[akash_proto::cosmos::base::v1beta1::Coin]) -> Outcome<Coins> {
    let text = || {
        let texts: Vec<_> =
            coins.iter().map(|coin| format!("{}{}", coin.amount, coin.denom)).collect();
        sdk::INVALID_COINS.wrap(texts.join(","))
    };
    Coins::from_wire(coins).filter(|coins| !coins.is_empty()).ok_or_else(text)
}
