//! Whether to bid on an order, and at what price.

use std::sync::Arc;

use akash_types::{DecCoin, GroupSpec, Order, OrderId, ResourceOffer};

use super::{Engine, Stage};
use crate::bidding::decline::Decline;
use crate::bidding::evaluate::{Verdict, check_price, evaluate};
use crate::bidding::facts::{Ask, BidConditions, Facts};
use crate::bidding::order::{self, OrderInput};
use crate::bidding::policy::Floors;
use crate::bidding::pricing::{Quote, ScriptFailure, read_script_output};
use crate::cluster::recognition::Recognition;
use crate::effect::Effect;
use crate::input::PriceId;
use crate::journal::Decision;
use crate::manifest::{ManifestRefusal, may_have_host};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WouldBid {
    pub offer: Vec<ResourceOffer>,
    /// For how much per block, or what a script has to be asked to know.
    pub quote: Quote,
    floors: Floors,
}

impl WouldBid {
    /// The price per block of `group`, of which a script said `said`, by the rules for orders.
    pub fn script_price(
        &self,
        group: &GroupSpec,
        said: Result<Vec<u8>, ScriptFailure>,
    ) -> Result<DecCoin, Decline> {
        let price = script_price(group, said)?;
        check_price(group, &self.floors, &price).map(|()| price)
    }
}

/// What the engine says to a question whether it would bid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screened {
    Bid(WouldBid),
    /// It would not, and all that speaks against it.
    Declined(Vec<Decline>),
    /// It cannot be said now, and why: chain or cluster are not known.
    NotReady(String),
}

/// The price that a script printed for `group`.
fn script_price(
    group: &GroupSpec,
    said: Result<Vec<u8>, ScriptFailure>,
) -> Result<DecCoin, Decline> {
    let stdout = said.map_err(|failure| Decline::Price(failure.into()))?;
    Ok(read_script_output(group, &stdout)?)
}

impl Engine {
    /// Judges an order, and keeps capacity for it if it fits. Without what judging takes, it
    /// waits: unknown is neither yes nor no.
    pub(super) fn judge(&mut self, order: OrderId, known: &Arc<Order>) {
        // What a bid that did not come about had is its own to have again.
        self.release(order);
        if !self.may_act() || !self.cluster.fresh {
            return;
        }
        let bids = self.lives.get(&order).map(|life| life.foreign_bids);
        match self.verdict(&Ask::from(&**known), bids) {
            None => {}
            Some(Verdict::Bid { booking, .. }) => {
                let nodes = booking.units.iter().flat_map(|unit| &unit.plan);
                let nodes = nodes.map(|(node, count)| format!("{node} ({count})")).collect();
                self.note_order(order, Decision::Reserved(nodes));
                self.keep(order, booking);
                self.step_order(order, OrderInput::Fits);
            }
            Some(Verdict::Decline(reasons)) => {
                self.step_order(order, OrderInput::Unfit(reasons));
            }
        }
    }

    /// Whether there would be a bid on `ask` now, with what offer and at what price, which only a
    /// script may know.
    pub fn screen(&mut self, ask: &Ask<'_>) -> Screened {
        let verdict = if self.cluster.fresh { self.verdict(ask, None) } else { None };
        let offer = match verdict {
            Some(Verdict::Bid { offer, .. }) => offer,
            Some(Verdict::Decline(reasons)) => return Screened::Declined(reasons),
            None => return Screened::NotReady(self.why_not()),
        };
        let owner = ask.owner.unwrap_or(self.settings.provider);
        let floors = &self.settings.policy.floors;
        let quote = self.settings.pricing.quote(ask.spec, &owner, &offer, mix(self.settings.seed));
        let checked = quote.map_err(Decline::from).and_then(|quote| match &quote {
            Quote::Price(price) => check_price(ask.spec, floors, price).map(|()| quote),
            Quote::Ask(_) => Ok(quote),
        });
        match checked {
            Ok(quote) => Screened::Bid(WouldBid { offer, quote, floors: floors.clone() }),
            Err(reason) => Screened::Declined(vec![reason]),
        }
    }

    /// Why a new lease could not have one of `hosts`, by the rules for manifests.
    pub fn check_hostnames(&self, hosts: &[String]) -> Result<(), ManifestRefusal> {
        let settings = &self.settings.manifest;
        hosts.iter().try_for_each(|host| {
            may_have_host(None, host.to_lowercase(), settings, &self.hostnames)
        })
    }

    /// What would be decided about `ask` now, which has this many bids of others. `None` as long as
    /// it cannot be said.
    fn verdict(&mut self, ask: &Ask<'_>, bids: Option<u32>) -> Option<Verdict> {
        if !self.may_act() {
            return None;
        }
        self.free();
        let free = self.free.as_ref()?;
        let params = self.market.params.as_ref()?;
        let provider = self.market.provider.as_ref()?;
        let conditions = self.bid_conditions();
        let of_owner = ask.owner.and_then(|owner| self.bids_by_owner.get(&owner));
        let facts = Facts {
            own_attributes: &provider.attributes,
            order_filter: &self.settings.attributes,
            audits: &self.market.audits,
            params,
            verification_active: self.market.verification_active,
            reclamation_window: self.settings.reclamation_window,
            deposit: &self.settings.bid_deposit,
            price_denoms: &self.settings.price_denoms,
            levels: self.settings.commit,
            maintenance: conditions.maintenance,
            isolation: conditions.isolation,
            wallet: conditions.wallet,
            bid_fee: conditions.bid_fee,
            fees_today: conditions.fees_today,
            open_bids_of_owner: of_owner.copied().unwrap_or(0),
            bids_on_order: bids,
        };
        Some(evaluate(ask, &facts, free, &self.settings.policy))
    }

    fn bid_conditions(&self) -> BidConditions<'_> {
        let bid_fee = &self.settings.bid_fee;
        BidConditions {
            maintenance: self.cluster.view.maintenance,
            isolation: self.isolation.as_ref(),
            wallet: self.escrow.wallet(),
            bid_fee,
            fees_today: self.market.bid_fees.in_denom(bid_fee.denom()),
        }
    }

    /// Every reason why no bids are made at the moment, whatever is ordered; empty if there are bids.
    pub(super) fn bid_pauses(&self) -> Vec<String> {
        let mut pauses = Vec::new();
        if !self.start.ready {
            pauses.push("starting: the chain or the cluster was not read yet".to_owned());
        }
        match self.trust.state {
            Recognition::Known => {}
            // Said already while the provider starts.
            Recognition::Undecided if !self.start.ready => {}
            Recognition::Undecided => {
                pauses.push("starting: the cluster is not recognized yet".to_owned());
            }
            Recognition::Unknown(why) => pauses.push(format!("the cluster is unknown: {why}")),
        }
        if self.start.ready && !self.cluster.fresh {
            pauses.push("the cluster does not answer".to_owned());
        }
        if self.start.ready && self.market.provider.is_none() {
            let why = "the provider is not registered on chain, or its record was not read yet";
            pauses.push(why.to_owned());
        }
        if self.start.ready && self.market.params.is_none() {
            pauses.push("the parameters of the market were not read yet".to_owned());
        }
        let refusals = self.settings.policy.pauses(&self.bid_conditions());
        pauses.extend(refusals.iter().map(ToString::to_string));
        pauses
    }

    /// Finds a price for an order that fits.
    pub(super) fn price(&mut self, order: OrderId) {
        let Some((known, offer)) = self.offer(order) else { return };
        let draw = self.draw(order);
        let quote = self.settings.pricing.quote(&known.spec, &order.owner(), &offer, draw);
        match quote {
            Ok(Quote::Price(price)) => self.priced(order, &known, price),
            Ok(Quote::Ask(request)) => {
                self.next_price = self.next_price.wrapping_add(1);
                let id = PriceId(self.next_price);
                self.prices.insert(id, order);
                self.out.push(Effect::Script(id, request));
            }
            Err(error) => self.step_order(order, OrderInput::Unfit(vec![error.into()])),
        }
    }

    fn offer(&self, order: OrderId) -> Option<(Arc<Order>, Vec<ResourceOffer>)> {
        let life = self.lives.get(&order)?;
        let Stage::Order(order::Stage::Pricing(known)) = &life.stage else { return None };
        let offer = life.booking.as_ref().map(|booking| booking.offer(&known.spec));
        Some((Arc::clone(known), offer.unwrap_or_default()))
    }

    /// A number that is different for each order, and the same whenever it is asked for.
    fn draw(&self, order: OrderId) -> u64 {
        let mut state = self.settings.seed;
        let id = [order.dseq(), u64::from(order.gseq()), u64::from(order.oseq())];
        let owner = order.owner();
        let bytes = owner
            .as_bytes()
            .chunks(8)
            .map(|chunk| chunk.iter().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte)));
        for word in id.into_iter().chain(bytes) {
            state = mix(state ^ word);
        }
        state
    }

    fn priced(&mut self, order: OrderId, known: &Order, price: DecCoin) {
        // The cluster became unknown, or tenants turned out not to be kept apart, while a script was
        // asked: judged anew, once that is known.
        if !self.may_act() || self.isolation.is_some() {
            return self.step_order(order, OrderInput::Rejudge);
        }
        let checked = check_price(&known.spec, &self.settings.policy.floors, &price);
        // Finding the price may have taken a while.
        match checked.and_then(|()| self.keep_possible(order, &known.spec)) {
            Ok(()) => self.step_order(order, OrderInput::Priced(price)),
            Err(reason) => self.step_order(order, OrderInput::Unfit(vec![reason])),
        }
    }

    /// The script answered, or did not: then there is no bid.
    pub(super) fn script_answer(&mut self, id: PriceId, result: Result<Vec<u8>, ScriptFailure>) {
        let Some(order) = self.prices.remove(&id) else { return };
        let Some((known, _)) = self.offer(order) else { return };
        match script_price(&known.spec, result) {
            Ok(price) => self.priced(order, &known, price),
            Err(reason) => self.step_order(order, OrderInput::Unfit(vec![reason])),
        }
    }
}

/// One round of splitmix64.
const fn mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
