//! How what was handed to the lane ended, to whom it concerns.

use akash_types::Outcome;

use super::wishes::Wish;
use super::{Engine, Stage};
use crate::effect::Fact;
use crate::input::TxEnd;
use crate::journal::Decision;
use crate::lease::LeaseInput;
use crate::order::OrderInput;
use crate::order::decline::Decline;

impl Engine {
    pub(crate) fn tx_end(&mut self, end: TxEnd) {
        let failed = !end.outcome.holds();
        let Some(wish) = self.wishes.end(self.now, end.intent, failed) else { return };
        if let (Wish::Bid(_), Some(fee)) = (wish, &end.fee) {
            self.market.bid_fees.add(fee.clone());
            self.publish(Fact::BidFees(self.market.bid_fees.clone()));
        }
        let order = wish.order();
        if failed && !matches!(end.outcome, Outcome::Forgotten) {
            let what = match wish {
                Wish::Bid(_) => "the bid",
                Wish::Close(_) => "closing",
                Wish::Reclaim(_) => "announcing the end",
                Wish::Withdraw(_) => "the withdrawal",
            };
            self.note_order(order, Decision::Failed { what, why: words(&end.outcome) });
        }
        if let Wish::Withdraw(_) = wish {
            return self.withdraw_ended(order.bid_id(self.settings.provider).lease_id(), end);
        }
        match self.records.stage(order) {
            Some(Stage::Order(_)) => {
                let refused = matches!(wish, Wish::Bid(_)).then(|| refusal(&end.outcome)).flatten();
                let input = refused.map_or(OrderInput::IntentEnded, OrderInput::BidRefused);
                self.step_order(order, input);
            }
            Some(Stage::Lease(_)) => self.step_lease(order, LeaseInput::IntentEnded),
            // The life ended while this was under way. If it took effect, the chain has something
            // of ours that nobody looks after: look.
            None if !failed => self.look_at(order.bid_id(self.settings.provider).lease_id()),
            None => {}
        }
    }
}

/// What the chain would say again, however often it is asked.
fn refusal(outcome: &Outcome) -> Option<Decline> {
    match outcome {
        Outcome::Refused { codespace, code, log } => Some(Decline::ChainRefused {
            codespace: codespace.clone(),
            code: *code,
            log: log.clone(),
        }),
        Outcome::Invalid { reason } => {
            Some(Decline::ChainRefused { codespace: String::new(), code: 0, log: reason.clone() })
        }
        _ => None,
    }
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused { log, .. } => log.clone(),
        Outcome::Invalid { reason } => reason.clone(),
        Outcome::Expired => "it came into no block in time".to_owned(),
        Outcome::Unknown => "what became of it cannot be found out".to_owned(),
        Outcome::Forgotten => "its reason was gone".to_owned(),
        Outcome::Executed { .. } | Outcome::AlreadyHolds => "it did happen".to_owned(),
    }
}
