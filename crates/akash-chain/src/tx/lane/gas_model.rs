//! How much gas a transaction is given.
//!
//! Simulation says it exactly. The model beside it is for planning, and for when no node simulates:
//! it starts from what messages of a real chain used and follows what blocks say.

use std::collections::BTreeMap;

use akash_types::{Action, Class, Coin, DecCoin, Denom};

use super::super::Fee;
use super::config::{GasSetting, LaneConfig, OWN_ADJUSTMENT};

/// What every transaction uses before its messages: accounts, fee, signature.
const BASE: u64 = 45_000;
/// Margin in percent where the limit rests on the model alone.
const MODEL_MARGIN: u64 = 150;
/// Most that limits are raised, in percent, after transactions ran out of gas.
const MOST_RAISED: u64 = 400;

/// Messages that use gas alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    CreateBid,
    CloseBid,
    Withdraw,
    StartReclaim,
    Other,
}

impl Kind {
    pub(super) const fn of(action: &Action) -> Self {
        match action {
            Action::CreateBid(_) => Self::CreateBid,
            Action::CloseBid { .. } => Self::CloseBid,
            Action::Withdraw { .. } => Self::Withdraw,
            Action::StartReclaim { .. } => Self::StartReclaim,
            Action::CreateCertificate { .. }
            | Action::RevokeCertificate { .. }
            | Action::CreateProvider(_)
            | Action::UpdateProvider(_)
            | Action::Deposit { .. }
            | Action::Message(_) => Self::Other,
        }
    }

    /// What one uses in a larger transaction, on the chain it was recorded on.
    const fn recorded(self) -> u64 {
        match self {
            Self::CreateBid => 80_000,
            Self::CloseBid => 200_000,
            Self::Withdraw => 50_000,
            Self::StartReclaim => 80_000,
            Self::Other => 150_000,
        }
    }
}

#[derive(Debug)]
pub(super) struct GasModel {
    learned: BTreeMap<Kind, u64>,
    /// Limits in percent of what they would be.
    raised: u64,
}

impl GasModel {
    pub(super) const fn new() -> Self {
        Self { learned: BTreeMap::new(), raised: 100 }
    }

    fn of(&self, kind: Kind) -> u64 {
        self.learned.get(&kind).copied().unwrap_or_else(|| kind.recorded())
    }

    /// The limit that one more message adds, and one more transaction.
    pub(super) fn planned(&self, setting: GasSetting, kind: Kind) -> (u64, u64) {
        match setting {
            GasSetting::Fixed(gas) => (0, gas),
            GasSetting::Auto(_) => (self.limit(setting, self.of(kind)), self.limit(setting, BASE)),
        }
    }

    /// The limit for a transaction that uses this much by simulation.
    pub(super) fn limit(&self, setting: GasSetting, used: u64) -> u64 {
        let limit = match setting {
            GasSetting::Fixed(gas) => return gas,
            // More than any block holds is refused by the node, in better words than ours.
            GasSetting::Auto(Some(adjustment)) => adjustment.apply(used).unwrap_or(u64::MAX / 1000),
            GasSetting::Auto(None) => percent(used, OWN_ADJUSTMENT),
        };
        percent(limit, self.raised)
    }

    /// The limit for messages that nobody simulates.
    pub(super) fn guess(&self, setting: GasSetting, kinds: impl Iterator<Item = Kind>) -> u64 {
        match setting {
            GasSetting::Fixed(gas) => gas,
            GasSetting::Auto(_) => {
                let used = kinds.fold(BASE, |sum, kind| sum.saturating_add(self.of(kind)));
                percent(percent(used, MODEL_MARGIN), self.raised)
            }
        }
    }

    /// A transaction of one kind of message succeeded.
    pub(super) fn learn(&mut self, kind: Kind, messages: usize, used: u64) {
        let each = each(messages, used);
        let known = self.of(kind);
        // Upwards at once, downwards slowly: too little fails, too much only costs room.
        let next = if each > known { each } else { (known.saturating_mul(3) + each) / 4 };
        self.learned.insert(kind, next);
        self.raised = self.raised.saturating_sub(10).max(100);
    }

    /// What simulation says is taken upwards only, so that plans are not made too large.
    pub(super) fn learn_from_simulation(&mut self, kind: Kind, messages: usize, used: u64) {
        let each = each(messages, used);
        if each > self.of(kind) {
            self.learned.insert(kind, each);
        }
    }

    /// A transaction ran out of gas.
    pub(super) fn raise(&mut self) {
        self.raised = percent(self.raised, 150).min(MOST_RAISED);
    }
}

fn each(messages: usize, used: u64) -> u64 {
    let messages = u64::try_from(messages).unwrap_or(u64::MAX).max(1);
    used.saturating_sub(BASE).div_ceil(messages).max(1)
}

const fn percent(value: u64, percent: u64) -> u64 {
    value.saturating_mul(percent).div_ceil(100)
}

#[derive(Debug, Default)]
pub(super) struct BatchSizes {
    sizes: BTreeMap<Class, Size>,
}

#[derive(Clone, Copy, Debug)]
struct Size {
    messages: usize,
    /// Height of the block in which it was last halved.
    halved_at: u64,
}

impl BatchSizes {
    pub(super) fn of(&self, config: &LaneConfig, class: Class) -> usize {
        let largest = config.largest_batch(class);
        self.sizes.get(&class).map_or(largest, |size| size.messages.min(largest))
    }

    /// Transactions of a class failed in a block: half as many from now on. Once per block, because
    /// what makes one fail makes others of the same block fail too.
    pub(super) fn failed(&mut self, config: &LaneConfig, class: Class, height: u64) {
        let messages = self.of(config, class);
        let size = self.sizes.entry(class).or_insert(Size { messages, halved_at: 0 });
        if size.halved_at < height {
            *size = Size { messages: messages.div_ceil(2), halved_at: height };
        }
    }

    /// A transaction of a class succeeded: one more from now on.
    pub(super) fn succeeded(&mut self, config: &LaneConfig, class: Class) {
        let largest = config.largest_batch(class);
        if let Some(size) = self.sizes.get_mut(&class) {
            size.messages = size.messages.saturating_add(1).min(largest);
        }
    }
}

const DAY: u64 = 24 * 60 * 60;

/// The price that is paid now, and the money that went.
#[derive(Debug)]
pub(super) struct Fees {
    /// What is paid, in percent of what the operator set.
    percent: u64,
    total: BTreeMap<Denom, u128>,
    today: BTreeMap<Denom, u128>,
    /// Days since 1970.
    day: u64,
}

impl Fees {
    pub(super) const fn new() -> Self {
        Self { percent: 100, total: BTreeMap::new(), today: BTreeMap::new(), day: 0 }
    }

    /// The fee for a transaction with this gas limit.
    pub(super) fn fee(&self, config: &LaneConfig, gas_limit: u64) -> Fee {
        // A fee beyond all money is left out, and the node says what it thinks of that.
        let mut amount = config.fee.fee(gas_limit).unwrap_or_default();
        if self.percent != 100 {
            let raised = |coin: &Coin| {
                let amount = coin.amount().saturating_mul(self.percent.into()).div_ceil(100);
                Coin::new(coin.denom().clone(), amount)
            };
            amount = amount.iter().map(raised).collect();
        }
        amount.retain(|coin| !coin.is_zero());
        Fee { amount, gas_limit, granter: config.fee_granter }
    }

    /// A node wants more. Whether we pay more from now on.
    pub(super) fn raise(&mut self, log: &str, cap_percent: u64) -> bool {
        let Some((got, required)) = wanted(log) else { return false };
        let needed = required.saturating_mul(self.percent.into()).div_ceil(got);
        match u64::try_from(needed) {
            Ok(needed) if needed <= cap_percent && needed > self.percent => {
                self.percent = needed;
                true
            }
            _ => false,
        }
    }

    /// A new day begins with nothing spent.
    pub(super) fn at(&mut self, unix_time: u64) {
        let day = unix_time / DAY;
        if day > self.day {
            self.day = day;
            self.today.clear();
        }
    }

    pub(super) fn spend(&mut self, fee: &Fee) {
        for coin in &fee.amount {
            for sums in [&mut self.total, &mut self.today] {
                let sum = sums.entry(coin.denom().clone()).or_default();
                *sum = sum.saturating_add(coin.amount());
            }
        }
    }

    pub(super) fn total(&self) -> Vec<Coin> {
        coins(&self.total)
    }

    pub(super) fn today(&self) -> Vec<Coin> {
        coins(&self.today)
    }
}

fn coins(sums: &BTreeMap<Denom, u128>) -> Vec<Coin> {
    sums.iter().map(|(denom, amount)| Coin::new(denom.clone(), *amount)).collect()
}

/// Reads `insufficient fees; got: 1uakt required: 5000uakt: insufficient fee`: amounts of the first
/// denomination that stands on both sides.
fn wanted(log: &str) -> Option<(u128, u128)> {
    let (_, rest) = log.split_once("got: ")?;
    let (got, rest) = rest.split_once(" required: ")?;
    let required = rest.split(':').next()?;
    let list = |text: &str| -> Vec<DecCoin> {
        text.split(',').filter_map(|coin| coin.trim().parse().ok()).collect()
    };
    let got = list(got);
    list(required).iter().find_map(|required| {
        let got = got.iter().find(|got| got.denom() == required.denom())?;
        let whole = |coin: &DecCoin| u128::try_from(coin.amount().truncate_int()).ok();
        let (got, required) = (whole(got)?, whole(required)?);
        (got > 0).then_some((got, required))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tx::FeeRule;

    const AUTO: GasSetting = GasSetting::Auto(None);

    #[test]
    fn an_explicit_adjustment_is_taken_as_it_is() {
        let model = GasModel::new();
        let explicit = GasSetting::Auto(Some("1.5".parse().unwrap()));
        assert_eq!(model.limit(explicit, 100_000), 150_000);
        assert_eq!(model.limit(AUTO, 100_000), 130_000);
        assert_eq!(model.limit(GasSetting::Fixed(7), 100_000), 7);
    }

    #[test]
    fn a_thousand_bids_at_the_usual_adjustment_fit_four_fifths_of_three_blocks() {
        let model = GasModel::new();
        let setting = GasSetting::Auto(Some("1.5".parse().unwrap()));
        let (message, tx) = model.planned(setting, Kind::CreateBid);
        assert!(1_000 * message + 100 * tx <= 3 * 48_000_000);
    }

    #[test]
    fn the_model_follows_blocks_and_limits_rise_after_running_out() {
        let mut model = GasModel::new();
        let before = model.guess(AUTO, [Kind::Withdraw].into_iter());
        model.learn(Kind::Withdraw, 2, BASE + 400_000);
        assert!(model.guess(AUTO, [Kind::Withdraw].into_iter()) > before);
        let limit = model.limit(AUTO, 1_000);
        model.raise();
        assert_eq!(model.limit(AUTO, 1_000), limit * 3 / 2);
        for _ in 0..10 {
            model.raise();
        }
        assert_eq!(model.limit(AUTO, 1_000), limit * 4);
        for _ in 0..100 {
            model.learn(Kind::Withdraw, 1, BASE + 1_000);
        }
        assert_eq!(model.limit(AUTO, 1_000), limit);
    }

    #[test]
    fn sizes_halve_once_per_block_and_grow_back() {
        let account = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        let config = LaneConfig::new(account, FeeRule::parse("", "").unwrap());
        let mut sizes = BatchSizes::default();
        assert_eq!(sizes.of(&config, Class::Bid), 10);
        for (height, expected) in [(5, 5), (5, 5), (6, 3), (7, 2), (8, 1), (9, 1)] {
            sizes.failed(&config, Class::Bid, height);
            assert_eq!(sizes.of(&config, Class::Bid), expected, "{height}");
        }
        assert_eq!(sizes.of(&config, Class::Withdraw), 10, "each class for itself");
        for _ in 0..20 {
            sizes.succeeded(&config, Class::Bid);
        }
        assert_eq!(sizes.of(&config, Class::Bid), 10);
    }

    fn config() -> LaneConfig {
        let account = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        LaneConfig::new(account, FeeRule::parse("", "0.025uakt").unwrap())
    }

    fn paid(fees: &Fees, gas: u64) -> String {
        fees.fee(&config(), gas).amount.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_node_that_wants_more_gets_it_up_to_the_cap() {
        let mut fees = Fees::new();
        assert_eq!(paid(&fees, 200_000), "5000uakt");
        let log = "insufficient fees; got: 5000uakt required: 7501uakt: insufficient fee";
        assert!(fees.raise(log, 200));
        assert_eq!(paid(&fees, 200_000), "7550uakt");
        for log in [
            "insufficient fees; got: 5000uakt required: 50000uakt: insufficient fee",
            "insufficient fees; got:  required: 50000uakt: insufficient fee",
            "insufficient fees; got: 0uakt required: 5uakt: insufficient fee",
            "insufficient fees; got: 5uact required: 5uakt: insufficient fee",
            "insufficient fee",
        ] {
            assert!(!fees.raise(log, 200), "{log}");
        }
    }

    #[test]
    fn what_was_spent_today_starts_over_at_midnight() {
        let mut fees = Fees::new();
        fees.at(DAY * 10 + 5);
        fees.spend(&fees.fee(&config(), 200_000));
        fees.at(DAY * 11 - 1);
        fees.spend(&fees.fee(&config(), 400_000));
        assert_eq!(fees.today(), ["15000uakt".parse().unwrap()]);
        fees.at(DAY * 11);
        assert!(fees.today().is_empty());
        assert_eq!(fees.total(), ["15000uakt".parse().unwrap()]);
    }
}
