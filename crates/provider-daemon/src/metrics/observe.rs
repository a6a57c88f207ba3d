//! What inputs and effects of the engine count as.

use akash_types::{Action, Class, IntentId, OrderId, Outcome};
use provider_engine::cluster::command::{CommandAnswer, CommandId, Operation};
use provider_engine::cluster::view::ViewChange;
use provider_engine::input::PriceId;
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal};
use provider_engine::order::pricing::ScriptFailure;
use provider_engine::time::Now;
use provider_engine::{Effect, Fact, Input, Reply, TxEnd};

use super::decisions::{Lives, Pending};
use super::metric::Series;
use super::table;

/// Counts, and remembers what it takes to count right.
#[derive(Debug, Default)]
pub(super) struct Observer {
    pub(super) series: Series,
    pub(super) lives: Lives,
    intents: Pending<IntentId, Wanted>,
    commands: Pending<CommandId, &'static str>,
    scripts: Pending<PriceId, Now>,
}

/// What was handed to the lane.
#[derive(Debug)]
struct Wanted {
    class: Class,
    kind: WantedKind,
}

#[derive(Debug)]
enum WantedKind {
    Bid(OrderId),
    Close,
    Withdraw,
    Other,
}

impl Observer {
    pub(super) fn effect(&mut self, now: Now, effect: &Effect) {
        match effect {
            Effect::Record(entry) => self.decision(now, entry),
            Effect::Submit(intent) => {
                let kind = match &intent.action {
                    Action::CreateBid(offer) => WantedKind::Bid(offer.id.order_id()),
                    Action::CloseBid { .. } => WantedKind::Close,
                    Action::Withdraw { .. } => WantedKind::Withdraw,
                    _ => WantedKind::Other,
                };
                self.intents.begin(intent.id, Wanted { class: intent.class, kind });
            }
            Effect::Command(command) => match command.operation {
                Operation::Deploy(_) => self.commands.begin(command.id, "deploy"),
                Operation::Teardown { .. } => self.commands.begin(command.id, "teardown"),
                Operation::Hold(_) | Operation::Maintain(_) => {}
            },
            Effect::Script(id, _) => self.scripts.begin(*id, now),
            Effect::Publish(Fact::Earned { amount, .. }) => {
                let denom = amount.denom().as_str();
                self.series.add(&table::EARNED, [denom], amount.amount());
            }
            Effect::Reply(_, Reply::Manifest(answer)) => self.manifest(answer),
            Effect::Reply(..)
            | Effect::Publish(_)
            | Effect::Query(..)
            | Effect::Forget(_)
            | Effect::WakeAt(_) => {}
        }
    }

    pub(super) fn input(&mut self, now: Now, input: &Input) {
        match input {
            Input::Tx(end) => self.tx_end(end),
            Input::Command(answer) => self.command(answer),
            Input::Script { id, result } => self.script(now, *id, result),
            Input::View(ViewChange::Lost) => {
                self.series.count(&table::DEPLOYMENT_MONITOR_HEALTH, ["err"]);
            }
            Input::Resync { .. } => self.series.count(&table::CHAIN_RESYNCS, []),
            Input::Block(_)
            | Input::Chain(_)
            | Input::View(_)
            | Input::Tenant(..)
            | Input::Operator(..)
            | Input::Tick => {}
        }
    }

    fn tx_end(&mut self, end: &TxEnd) {
        let Some(Wanted { class, kind }) = self.intents.end(&end.intent) else { return };
        let outcome = &end.outcome;
        self.series.count(&table::TX_ENDS, [class.as_str(), outcome.as_str()]);
        // What nobody wanted any more neither succeeded nor failed.
        if matches!(outcome, Outcome::Forgotten) {
            return;
        }
        let result = if outcome.holds() { "success" } else { "fail" };
        match kind {
            WantedKind::Bid(order) => {
                self.series.count(&table::BID, ["open", result]);
                if let Outcome::Executed { height } = outcome
                    && let Some(noticed) = self.lives.noticed_height(order)
                {
                    let blocks = height.saturating_sub(noticed);
                    self.series.observe(&table::ORDER_TO_BID_BLOCKS, blocks);
                }
            }
            WantedKind::Close => self.series.count(&table::BID, ["close", result]),
            WantedKind::Withdraw => self.series.count(&table::WITHDRAWALS, [result]),
            WantedKind::Other => {}
        }
    }

    fn command(&mut self, answer: &CommandAnswer) {
        let Some(action) = self.commands.end(&answer.id) else { return };
        let result = if answer.result.is_ok() { "success" } else { "fail" };
        self.series.count(&table::DEPLOYMENT, [action, result]);
    }

    fn script(&mut self, now: Now, id: PriceId, result: &Result<Vec<u8>, ScriptFailure>) {
        let name = match result {
            Ok(_) => "success",
            Err(ScriptFailure::NotRun(_)) => "not_run",
            Err(ScriptFailure::TimedOut) => "timed_out",
            Err(ScriptFailure::Failed { .. }) => "failed",
        };
        self.series.count(&table::PRICE_SCRIPTS, [name]);
        if let Some(asked) = self.scripts.end(&id) {
            let took = micros(now, asked);
            self.series.observe(&table::BID_PRICING_DURATION, took);
        }
    }

    fn manifest(&mut self, answer: &ManifestAnswer) {
        let (result, hostnames) = match answer {
            ManifestAnswer::Accepted { .. } => ("accepted", Some("success")),
            ManifestAnswer::Refused(refusal) => {
                ("refused", is_about_hostnames(refusal).then_some("err"))
            }
        };
        self.series.count(&table::MANIFESTS, [result]);
        if let Some(result) = hostnames {
            self.series.count(&table::DEPLOYMENT, ["reserve-hostnames", result]);
        }
    }
}

/// Microseconds between two moments.
pub(super) fn micros(now: Now, then: Now) -> u64 {
    u64::try_from(now.since(then).as_micros()).unwrap_or(u64::MAX)
}

const fn is_about_hostnames(refusal: &ManifestRefusal) -> bool {
    matches!(
        refusal,
        ManifestRefusal::HostnameMissing { .. }
            | ManifestRefusal::HostnameBlocked(_)
            | ManifestRefusal::DomainBlocked(_)
            | ManifestRefusal::HostnameReserved(_)
            | ManifestRefusal::HostnameInvalid(_)
            | ManifestRefusal::HostnameInUse(_)
            | ManifestRefusal::HostnameGenerated(_)
            | ManifestRefusal::HostnameIsAddress(_)
            | ManifestRefusal::HostnamePartTooLong(_)
    )
}
