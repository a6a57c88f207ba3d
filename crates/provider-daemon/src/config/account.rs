//! Who signs, for whom, and what transactions cost.

use akash_chain::tx::lane::{GasSetting, LaneConfig, OWN_ADJUSTMENT};
use akash_chain::tx::{FeeRule, GasAdjustment};
use akash_types::{Address, Coin};

use super::reader::{Reader, Wrong, because};

/// What a unit of gas costs unless somebody says otherwise.
const GAS_PRICES: &str = "0.025uakt";
const FEE_DENOM: &str = "uakt";
/// Gas that creating a bid uses, and withdrawing earnings, as recorded.
const BID_GAS: u64 = 124_000;
const WITHDRAW_GAS: u64 = 91_000;

/// Who signs, for whom, and at what cost.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) provider: Address,
    pub(super) lane: LaneConfig,
    /// What a bid costs in fees, about.
    pub(super) bid_fee: Coin,
    /// What a withdrawal costs in fees, about.
    pub(super) withdraw_fee: Coin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<Account> {
    for (name, instead) in [
        ("dry-run", "use --check, which looks at everything and does nothing"),
        ("generate-only", "use --check, which looks at everything and does nothing"),
        ("offline", "use --check, which looks at everything and does nothing"),
        ("ledger", "use a key of the keyring, and --authz-provider to keep the funds on a ledger"),
    ] {
        if reader.switch(name) {
            reader.wrong(name, Wrong::new("a provider that runs cannot do this", instead));
        }
    }
    // It does nothing, and must be a truth value all the same.
    reader.switch("yes");
    let _ = reader.parsed("sign-mode", |mode| match mode {
        "direct" => Ok(()),
        _ => Err(Wrong::new(format!("{mode:?} is not supported"), "give direct")),
    });
    let _ = reader.parsed("broadcast-mode", |mode| match mode {
        "sync" | "async" | "block" => Ok(()),
        _ => Err(Wrong::new(format!("{mode:?} is not a mode"), "give sync, async or block")),
    });
    let _ = reader.parsed("keyring-backend", |backend| match backend {
        "os" | "file" | "test" | "memory" => Ok(()),
        _ => {
            let what = format!("{backend:?} is not supported");
            Err(Wrong::new(what, "give os, file, test or memory"))
        }
    });
    let address = |text: &str| text.parse::<Address>().map_err(|e| because(ADDRESS)(&e));
    let granter = reader.optional("fee-granter", address);
    let provider = reader.optional("authz-provider", address);
    let (gas, fee) = (gas(reader), fee(reader));
    let signer = signer(reader);
    let (gas, fee, signer) = (gas?, fee?, signer?);
    let costs = |used: u64| cost(&fee, gas, used);
    let (bid_fee, withdraw_fee) = (costs(BID_GAS), costs(WITHDRAW_GAS));
    let provider = provider.unwrap_or(signer);
    let lane = LaneConfig {
        owner: provider,
        gas,
        fee_granter: granter,
        memo: reader.text("note"),
        ..LaneConfig::new(signer, fee)
    };
    Some(Account { provider, lane, bid_fee, withdraw_fee })
}

const ADDRESS: &str = "give an address such as akash1…";

fn signer(reader: &mut Reader<'_>) -> Option<Address> {
    let wrong = match (reader.some("from"), &reader.given.signer) {
        (None, _) => Wrong::new("the key that signs is not named", "name it with --from"),
        (Some(_), Some(Ok(address))) => return Some(*address),
        (Some(_), Some(Err(why))) => {
            let remedy = "see `provider-services keys list`, --keyring-backend and --keyring-dir";
            Wrong::new(why.clone(), remedy)
        }
        (Some(from), None) => match from.parse() {
            Ok(address) => return Some(address),
            Err(_) => Wrong::new("the keyring was not looked into", "give an address"),
        },
    };
    reader.wrong("from", wrong);
    None
}

fn gas(reader: &mut Reader<'_>) -> Option<GasSetting> {
    let factor = reader.optional("gas-adjustment", |text| {
        text.parse::<GasAdjustment>().map_err(|e| because("give a factor such as 1.5")(&e))
    });
    reader.parsed("gas", |text| match text {
        "auto" | "" => Ok(GasSetting::Auto(factor)),
        digits => digits.parse().map(GasSetting::Fixed).map_err(|_| {
            Wrong::new(format!("{text:?} is not an amount of gas"), "give auto or a number")
        }),
    })
}

fn fee(reader: &mut Reader<'_>) -> Option<FeeRule> {
    let fees = reader.text("fees");
    let default = if fees.is_empty() { GAS_PRICES } else { "" };
    let prices = reader.some("gas-prices").unwrap_or_else(|| default.to_owned());
    let name = if fees.is_empty() { "gas-prices" } else { "fees" };
    reader.parsed(name, |_| {
        let remedy = "give either --fees 5000uakt or --gas-prices 0.025uakt";
        FeeRule::parse(&fees, &prices).map_err(|error| {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            Wrong::new(format!("{error}{}", source.unwrap_or_default()), remedy)
        })
    })
}

/// About what a transaction that uses this much gas costs, in the first denomination of its fee.
fn cost(fee: &FeeRule, gas: GasSetting, used: u64) -> Coin {
    let limit = match gas {
        GasSetting::Fixed(limit) => limit,
        GasSetting::Auto(None) => used * OWN_ADJUSTMENT / 100,
        GasSetting::Auto(Some(factor)) => factor.apply(used).unwrap_or(used),
    };
    let coins = fee.fee(limit).unwrap_or_default();
    coins.into_iter().next().unwrap_or_else(nothing)
}

#[expect(clippy::expect_used, reason = "a constant that a test reads")]
fn nothing() -> Coin {
    Coin::new(FEE_DENOM.parse().expect("a denomination"), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_from_gas_and_price() {
        let per_gas = FeeRule::parse("", GAS_PRICES).unwrap();
        let auto = GasSetting::Auto(None);
        assert_eq!(cost(&per_gas, auto, BID_GAS).to_string(), "4030uakt");
        let factor = GasSetting::Auto(Some("1.5".parse().unwrap()));
        assert_eq!(cost(&per_gas, factor, BID_GAS).to_string(), "4650uakt");
        assert_eq!(cost(&per_gas, GasSetting::Fixed(200_000), 1).to_string(), "5000uakt");
        let fixed = FeeRule::parse("7uakt", "").unwrap();
        assert_eq!(cost(&fixed, auto, BID_GAS).to_string(), "7uakt");
        let free = FeeRule::parse("", "0uakt").unwrap();
        assert_eq!(cost(&free, auto, BID_GAS).to_string(), "0uakt");
    }
}
