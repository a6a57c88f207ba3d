//! Orders: their steps, the evaluations that these need, and what they want done.

use std::sync::Arc;

use akash_types::{
    Action, BidOffer, DecCoin, Deposit, GroupSpec, Intent, Order, OrderId, ResourceOffer,
};

use crate::chain::ChainQuery;
use crate::cluster::recognition::Recognition;
use crate::effect::Effect;
use crate::engine::intents::{Begun, IntentKey};
use crate::engine::{Engine, Stage, Timer};
use crate::input::PriceId;
use crate::journal::{Decision, Subject};
use crate::manifest::{ManifestRefusal, may_have_host};
use crate::order::decline::Decline;
use crate::order::evaluate::{Evaluation, Rules, check_price, evaluate};
use crate::order::facts::{Ask, BidConditions, Facts};
use crate::order::policy::Floors;
use crate::order::pricing::{Quote, ScriptFailure, ScriptRequest, read_script_output};
use crate::order::{self, CloseCause, Ending, OpenBid, OrderAction, OrderInput};
use crate::settings::Settings;

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
    pub(crate) fn step_order(&mut self, order: OrderId, input: OrderInput) {
        let stepped = self.records.update(order, |record| {
            let Stage::Order(stage) = &mut record.stage else { return None };
            let before = stage.name();
            let (next, actions) = std::mem::replace(stage, order::Stage::Seen).step(input);
            let declined = match &next {
                order::Stage::Declined(_, reasons) if before != "declined" => Some(reasons.clone()),
                _ => None,
            };
            *stage = next;
            Some((declined, actions))
        });
        let Some((declined, actions)) = stepped.flatten() else { return };
        if let Some(reasons) = declined {
            // An order that gets no bid keeps nothing from others.
            self.release(order);
            self.note_order(order, Decision::Declined(reasons));
        }
        for action in actions {
            self.act_for_order(order, action);
        }
    }

    fn act_for_order(&mut self, order: OrderId, action: OrderAction) {
        match action {
            OrderAction::Look => {
                self.queries.forget(&ChainQuery::Order(order));
                self.ask(ChainQuery::Standing(order));
            }
            OrderAction::Evaluate(known) => self.evaluate_order(order, &known),
            OrderAction::Reserve(booking) => {
                let nodes = booking.units.iter().flat_map(|unit| &unit.plan);
                let nodes = nodes.map(|(node, count)| format!("{node} ({count})")).collect();
                self.note_order(order, Decision::Reserved(nodes));
                self.keep(order, booking);
            }
            OrderAction::RunScript(request) => self.run_script(order, request),
            OrderAction::Bid(price, offer) => self.bid(order, price, offer),
            OrderAction::Forget => {
                if let Some(id) = self.intents.id_of(IntentKey::Bid(order)) {
                    self.out.push(Effect::Forget(id));
                }
            }
            OrderAction::Adopt(bid) => self.adopt_bid(order, &bid),
            OrderAction::AskTimeout(height) => {
                if self.settings.bid_timeout.is_some() {
                    self.ask_time(order, height);
                }
            }
            OrderAction::CloseBid(cause) => self.close_bid(order, cause),
            OrderAction::Won(lease, known) => self.become_lease(order, &lease, known),
            OrderAction::End(ending) => self.end_order(order, ending),
        }
    }

    /// Hands a bid to the lane.
    fn bid(&mut self, order: OrderId, price: DecCoin, offer: Vec<ResourceOffer>) {
        let made = self.intents.begin(self.now, IntentKey::Bid(order));
        let id = match made {
            Begun::Now(id) => id,
            Begun::Already => return,
            Begun::NotBefore(moment) => {
                return self.schedule.timers.set(Timer::Retry(order), moment);
            }
        };
        self.bids.sign(order, self.head.height());
        self.note_order(order, Decision::Bid(price.clone()));
        let deposit = Deposit::from_balance(self.settings.bid_deposit.clone());
        let offer = BidOffer {
            id: order.bid_id(self.settings.provider),
            price,
            deposit,
            resources_offer: offer,
            reclamation_window: self.settings.reclamation_window,
        };
        let action = Action::CreateBid(Box::new(offer));
        self.out.push(Effect::Submit(Intent::new(id, action, self.head.height())));
    }

    fn close_bid(&mut self, order: OrderId, cause: CloseCause) {
        // Room that is missing in a cluster that is not known proves nothing.
        let may_close = self.may_act() || cause != CloseCause::NoRoom;
        if !self.start.is_ready() || !may_close {
            // Put off; looked at again when everything is known.
            return;
        }
        match self.intents.begin(self.now, IntentKey::Close(order)) {
            Begun::Now(id) => {
                self.note_order(order, Decision::CloseBid(cause));
                let bid = order.bid_id(self.settings.provider);
                let action = Action::CloseBid { bid, reason: cause.reason() };
                self.out.push(Effect::Submit(Intent::new(id, action, self.head.height())));
            }
            Begun::Already => {}
            Begun::NotBefore(moment) => self.schedule.timers.set(Timer::Retry(order), moment),
        }
    }

    fn adopt_bid(&mut self, order: OrderId, bid: &OpenBid) {
        let (price, created_at) = (bid.price.clone(), bid.created_at);
        self.note_order(order, Decision::BidOpen { price, created_at });
        self.book_open_bid(order);
    }

    pub(crate) fn end_order(&mut self, order: OrderId, ending: Ending) {
        self.note_order(order, Decision::Ended(ending));
        if matches!(ending, Ending::NotWon | Ending::BidClosed | Ending::LeaseOver) {
            self.bids.settle(order);
        }
        self.remove(order);
    }

    /// Removes a record and everything that waits for it.
    pub(crate) fn remove(&mut self, order: OrderId) {
        self.release(order);
        self.records.remove(order);
        self.start.classified(order);
        self.schedule.forget(order);
        self.queries.forget(&ChainQuery::Standing(order));
        self.queries.forget(&ChainQuery::Order(order));
        self.intents.forget(order);
        self.journal.end(Subject::Order(order));
    }

    /// Everything is known now: what was put off is done.
    pub(crate) fn became_ready(&mut self, order: OrderId) {
        match self.records.stage(order) {
            Some(Stage::Order(order::Stage::Pending(_) | order::Stage::Declined(..))) => {
                self.step_order(order, OrderInput::Reevaluate);
            }
            Some(Stage::Order(order::Stage::Open(_))) => self.book_open_bid(order),
            Some(Stage::Order(order::Stage::Closing(_))) => self.retry(order),
            Some(Stage::Lease(_)) => self.lease_ready(order),
            _ => {}
        }
    }

    /// Without what an evaluation takes, the order waits: unknown is neither yes nor no.
    pub(crate) fn evaluate_order(&mut self, id: OrderId, order: &Order) {
        // What was reserved for a bid that did not come about is free for this order again.
        self.release(id);
        if !self.cluster.fresh {
            return;
        }
        let bids = self.records.get(id).map(|record| record.foreign_bids);
        if let Some(evaluation) = self.evaluate(&Ask::from(order), bids, self.draw(id)) {
            self.step_order(id, OrderInput::Evaluated(evaluation));
        }
    }

    /// Whether there would be a bid on `ask` now, with what offer and at what price, which only a
    /// script may know.
    pub fn screen(&mut self, ask: &Ask<'_>) -> Screened {
        let draw = mix(self.settings.seed);
        let evaluation = if self.cluster.fresh { self.evaluate(ask, None, draw) } else { None };
        let (offer, quote) = match evaluation {
            Some(Evaluation::Bid { offer, price, .. }) => (offer, Quote::Price(price)),
            Some(Evaluation::AskScript { offer, request, .. }) => (offer, Quote::Ask(request)),
            Some(Evaluation::Decline(reasons)) => return Screened::Declined(reasons),
            None => return Screened::NotReady(self.why_not()),
        };
        let floors = self.settings.policy.floors.clone();
        Screened::Bid(WouldBid { offer, quote, floors })
    }

    /// Why a new lease could not have one of `hosts`, by the rules for manifests.
    pub fn check_hostnames(&self, hosts: &[String]) -> Result<(), ManifestRefusal> {
        let settings = &self.settings.manifest;
        hosts.iter().try_for_each(|host| {
            may_have_host(None, host.to_lowercase(), settings, self.manifests.hostnames())
        })
    }

    /// The evaluation of `ask` now, which has this many bids of others. `None` as long as it cannot
    /// be made.
    fn evaluate(&mut self, ask: &Ask<'_>, bids: Option<u32>, draw: u64) -> Option<Evaluation> {
        if !self.may_act() {
            return None;
        }
        self.free();
        let free = self.free.get()?;
        let params = self.market.params.as_ref()?;
        let provider = self.market.provider.as_ref()?;
        let conditions = self.bid_conditions();
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
            open_bids_of_owner: ask.owner.map_or(0, |owner| self.records.bids_of(owner)),
            bids_on_order: bids,
        };
        let Settings { policy, pricing, provider, .. } = &self.settings;
        let rules = Rules { policy, pricing, draw, stand_in: *provider };
        Some(evaluate(ask, &facts, free, &rules))
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
    pub(crate) fn bid_pauses(&self) -> Vec<String> {
        let mut pauses = Vec::new();
        if !self.start.is_ready() {
            pauses.push("starting: the chain or the cluster was not read yet".to_owned());
        }
        match self.trust.state {
            Recognition::Known => {}
            // Said already while the provider starts.
            Recognition::Undecided if !self.start.is_ready() => {}
            Recognition::Undecided => {
                pauses.push("starting: the cluster is not recognized yet".to_owned());
            }
            Recognition::Unknown(why) => pauses.push(format!("the cluster is unknown: {why}")),
        }
        if self.start.is_ready() && !self.cluster.fresh {
            pauses.push("the cluster does not answer".to_owned());
        }
        if self.start.is_ready() && self.market.provider.is_none() {
            let why = "the provider is not registered on chain, or its record was not read yet";
            pauses.push(why.to_owned());
        }
        if self.start.is_ready() && self.market.params.is_none() {
            pauses.push("the parameters of the market were not read yet".to_owned());
        }
        let refusals = self.settings.policy.pauses(&self.bid_conditions());
        pauses.extend(refusals.iter().map(ToString::to_string));
        pauses
    }

    pub(crate) fn run_script(&mut self, order: OrderId, request: ScriptRequest) {
        let id = PriceId(self.scripts.begin(order, ()));
        self.out.push(Effect::Script(id, request));
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

    /// The script answered, or failed: then there is no bid.
    pub(crate) fn script_answer(&mut self, id: PriceId, result: Result<Vec<u8>, ScriptFailure>) {
        let Some(order) = self.scripts.answered(id.0) else { return };
        self.scripts.remove(&order);
        let stage = self.records.order(order);
        let Some(order::Stage::Pricing(known)) = stage else { return };
        let known = Arc::clone(known);
        // The cluster became unknown, or tenants turned out not to be kept apart, while the script
        // ran: evaluated again, once that is known.
        if !self.may_act() || self.isolation.is_some() {
            return self.step_order(order, OrderInput::Reevaluate);
        }
        let price = script_price(&known.spec, result).and_then(|price| {
            check_price(&known.spec, &self.settings.policy.floors, &price)?;
            // The script may have taken a while.
            self.keep_possible(order, &known.spec)?;
            Ok(price)
        });
        let booking = self.records.get(order).and_then(|record| record.booking.as_ref());
        let offer = booking.map(|booking| booking.offer(&known.spec)).unwrap_or_default();
        self.step_order(
            order,
            match price {
                Ok(price) => OrderInput::Priced(price, offer),
                Err(reason) => OrderInput::Unfit(vec![reason]),
            },
        );
    }
}

/// One round of splitmix64.
const fn mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
