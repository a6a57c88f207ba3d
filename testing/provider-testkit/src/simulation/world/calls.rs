//! What the process asks of others, where it is done.

use std::time::Duration;

use akash_chain::follow::plan::{self, Fetched, News, Problem, StatusAnswer};
use akash_chain::query::BlockHash;
use akash_chain::tx::lane::{
    self, AccountRead, Broadcasted, Draft, LookedUp, Simulated, TxOutcome, TxRef, Verified,
};
use akash_chain::tx::{Fee, Refusal, SignedTx, SimulationRefusal, TxHash, TxPlan, Unsigned};
use akash_devnet::node::BroadcastError;
use akash_types::{BidState, EscrowState, LeaseState, Wanted};
use bytes::Bytes;
use provider_engine::Input;
use provider_engine::chain::{ChainQuery, ChainReply, QueryId, Unavailable};
use provider_engine::cluster::command::{Command, CommandId};
use provider_engine::cluster::view::ViewChange;
use provider_engine::order::pricing::ScriptFailure;
use provider_sim::core::SimInput;

use super::chain::CHAIN_ID;
use super::snapshot::{Snapshot, now};
use super::{Call, Event, Reach, World, decode, read};

impl World {
    pub(super) fn call(&mut self, number: u64, call: Call) {
        match call {
            Call::Query(id, query) => self.query(number, id, &query),
            Call::Script(id) => {
                let result = match self.dice.below(10) {
                    0 => Err(ScriptFailure::TimedOut),
                    1 => Ok(b"nonsense".to_vec()),
                    _ => Ok(self.dice.between(800, 3_000).to_string().into_bytes()),
                };
                let input = Box::new(Input::Script { id, result });
                // A program takes its time.
                let took = self.dice.span(Duration::from_millis(50), Duration::from_secs(9));
                self.later(took, Event::Reach(number, Reach::Engine(input)));
            }
            Call::Command(command) => self.command(number, command),
            Call::Observe => self.observe(number),
            Call::Account => self.read_account(number),
            Call::Simulate(draft) => self.simulate(number, &draft),
            Call::Broadcast(tx, attempt, signed) => self.broadcast(number, tx, attempt, &signed),
            Call::LookUp(tx, hash) => self.look_up(number, tx, hash),
            Call::Verify(intent, wanted) => {
                let answer = self.verify(&wanted);
                self.tell_lane(number, lane::Input::Verified { intent, answer });
            }
            Call::Status(node, ticket) => self.status(number, node, ticket),
            Call::Headers(node, ticket, from, to) => {
                let history = self.chain.history(self.faults.lag(node));
                let answer = if self.faults.node_fails() {
                    Err(Problem::Failed { reason: "a simulated fault".to_owned() })
                } else if from > history.latest() {
                    Err(Problem::NotYet { latest: Some(history.latest()) })
                } else {
                    let to = to.min(history.latest());
                    Ok((from..=to)
                        .filter_map(|at| history.block(at))
                        .map(|b| decode::header(b))
                        .collect())
                };
                self.tell_follower(number, plan::Input::Headers { ticket, answer });
            }
            Call::Results(node, ticket, height) => {
                let history = self.chain.history(self.faults.lag(node));
                let answer = if self.faults.node_fails() {
                    Err(Problem::Failed { reason: "a simulated fault".to_owned() })
                } else if height > history.latest() {
                    Err(Problem::NotYet { latest: Some(history.latest()) })
                } else {
                    Ok(Fetched { block: self.chain.effects(height), bytes: 1_000 })
                };
                self.tell_follower(number, plan::Input::Results { ticket, answer });
            }
            Call::Subscribe(node, ticket) => {
                if let Some(process) = self.process.as_mut().filter(|p| p.number == number) {
                    process.subscriptions.insert(node, ticket);
                    let news = News::Up;
                    self.tell_follower(number, plan::Input::Subscription { ticket, news });
                }
            }
            Call::Ping(node) => {
                let ticket =
                    self.process.as_ref().and_then(|p| p.subscriptions.get(&node).copied());
                if let Some(ticket) = ticket {
                    let news = News::Alive;
                    self.tell_follower(number, plan::Input::Subscription { ticket, news });
                }
            }
        }
    }

    fn tell_follower(&mut self, number: u64, input: super::event::FollowInput) {
        self.answer(number, Reach::Follow(Box::new(input)));
    }

    fn tell_lane(&mut self, number: u64, input: lane::Input) {
        self.answer_surely(number, Reach::Lane(Box::new(input)));
    }

    fn query(&mut self, number: u64, id: QueryId, query: &ChainQuery) {
        let history = self.chain.history(self.faults.lag(0));
        let result = if self.faults.node_fails() {
            Err(Unavailable("a simulated fault".to_owned()))
        } else {
            read::read(&history, self.own(), query)
        };
        let reply = Input::Chain(ChainReply { id, result });
        self.answer(number, Reach::Engine(Box::new(reply)));
    }

    fn command(&mut self, number: u64, command: Command) {
        self.next_command += 1;
        let id = CommandId(self.next_command);
        self.commands.insert(id, (number, command.id));
        self.cluster_step(SimInput::Command(Command { id, operation: command.operation }));
    }

    fn observe(&mut self, number: u64) {
        let next = self.dice.next().max(1);
        let Some(process) = self.process.as_mut().filter(|p| p.number == number) else { return };
        process.watch = next;
        self.cluster_step(SimInput::Observe);
    }

    /// The watch breaks: what was on its way is lost, and after a while it begins anew.
    pub(crate) fn break_watch(&mut self) {
        let Some(process) = &mut self.process else { return };
        let number = process.number;
        process.watch = 0;
        let lost = Box::new(Input::View(ViewChange::Lost));
        self.in_order(number, "watch", Reach::Engine(lost));
        let after = self.dice.span(Duration::from_secs(1), Duration::from_secs(40));
        self.later(after, Event::Call(number, Call::Observe));
    }

    fn status(&mut self, number: u64, node: usize, ticket: plan::Ticket) {
        let history = self.chain.history(self.faults.lag(node));
        let answer = match history.latest_block() {
            _ if self.faults.node_fails() => {
                Err(Problem::Failed { reason: "a simulated fault".to_owned() })
            }
            None => Err(Problem::Failed { reason: "no block yet".to_owned() }),
            Some(block) => Ok(StatusAnswer {
                chain_id: CHAIN_ID.to_owned(),
                height: block.height(),
                hash: Some(BlockHash(block.id.hash)),
                earliest: history.base(),
                catching_up: false,
            }),
        };
        self.tell_follower(number, plan::Input::Status { ticket, answer });
    }

    fn read_account(&mut self, number: u64) {
        let history = self.chain.history(self.faults.lag(0));
        let height = history.latest();
        let committed =
            history.state(height).and_then(|state| self.chain.account(state, self.own()));
        let pending = self.chain.account(self.chain.node.check_state(), self.own());
        let unread = |reason: &str| lane::Input::AccountUnread { reason: reason.to_owned() };
        let input = match (committed, pending) {
            _ if self.faults.node_fails() => unread("a simulated fault"),
            (Some((account_number, committed)), Some((_, pending))) => {
                if let Some(process) = self.process.as_mut().filter(|p| p.number == number) {
                    process.account_number = account_number;
                }
                lane::Input::AccountRead(AccountRead { committed, pending, height })
            }
            _ => unread("there is no such account"),
        };
        self.tell_lane(number, input);
    }

    fn simulate(&mut self, number: u64, draft: &Draft) {
        let plan = TxPlan {
            chain_id: CHAIN_ID,
            account_number: 0,
            sequence: draft.sequence,
            messages: &draft.messages,
            fee: &Fee { ..draft.fee.clone() },
            memo: &draft.memo,
            timeout_height: draft.timeout_height,
        };
        let Ok(unsigned) = Unsigned::new(&plan, &self.scenario.provider.key) else { return };
        let answer = match self.chain.node.check_state().simulate(&unsigned.to_simulate()) {
            _ if self.faults.node_fails() => Simulated::Unavailable,
            Ok(tried) => Simulated::Gas(tried.gas_used),
            Err(error) => {
                let refusal = Refusal {
                    codespace: error.error.codespace.to_owned(),
                    code: error.error.code,
                    log: error.to_string(),
                };
                Simulated::Refused(SimulationRefusal {
                    message_index: refusal.message_index(),
                    sequence_mismatch: refusal.sequence_mismatch(),
                    gas_used: Some(error.gas_used),
                    text: refusal.log,
                    height: Some(self.chain.node.history().latest()),
                })
            }
        };
        self.tell_lane(number, lane::Input::Simulated { tx: draft.tx, answer });
    }

    fn broadcast(&mut self, number: u64, tx: TxRef, attempt: u32, signed: &SignedTx) {
        let fate = self.faults.fate_of_tx();
        if let Some(kind) = fate.kind() {
            self.struck(kind);
        }
        let refused = |code: u32, log: String| {
            Broadcasted::Refused(Refusal { codespace: Refusal::SDK.to_owned(), code, log })
        };
        let answer = if fate.is_full() {
            refused(20, self.chain.node.mempool().full().to_string())
        } else if fate.arrives() {
            match self.chain.node.broadcast(Bytes::from(signed.raw().to_vec())) {
                Ok(checked) if checked.result.is_ok() => Broadcasted::Accepted,
                Ok(checked) => Broadcasted::Refused(Refusal {
                    codespace: checked.result.codespace,
                    code: checked.result.code,
                    log: checked.result.log,
                }),
                Err(error @ BroadcastError::InCache) => refused(19, error.to_string()),
                Err(error @ BroadcastError::Full { .. }) => refused(20, error.to_string()),
                Err(error @ BroadcastError::TooLarge { .. }) => refused(21, error.to_string()),
            }
        } else {
            Broadcasted::Accepted
        };
        let answer = if fate.is_answered() { answer } else { Broadcasted::Unknown };
        self.tell_lane(number, lane::Input::BroadcastAnswered { tx, attempt, answer });
    }

    fn look_up(&mut self, number: u64, tx: TxRef, hash: Option<TxHash>) {
        let history = self.chain.history(self.faults.lag(0));
        let found = hash.and_then(|hash| history.tx(hash.as_bytes()));
        let found = found.and_then(|(place, block)| Some((place.height, block.tx(place.index)?.2)));
        let answer = match found {
            _ if self.faults.node_fails() => LookedUp::Unavailable,
            None => LookedUp::Absent,
            Some((height, result)) => {
                let refusal = (!result.is_ok()).then(|| Refusal {
                    codespace: result.codespace.clone(),
                    code: result.code,
                    log: result.log.clone(),
                });
                let gas_used = u64::try_from(result.gas_used).unwrap_or_default();
                LookedUp::Found { height, result: TxOutcome { refusal, gas_used } }
            }
        };
        self.tell_lane(number, lane::Input::LookedUp { tx, answer });
    }

    fn verify(&mut self, wanted: &Wanted) -> Verified {
        let history = self.chain.history(self.faults.lag(0));
        let height = history.latest();
        let Some(state) = history.state(height) else { return Verified::Unavailable };
        if self.faults.node_fails() {
            return Verified::Unavailable;
        }
        match now(holds(Snapshot::query(state.clone()), wanted)).flatten() {
            None => Verified::Unavailable,
            Some(true) => Verified::Holds { height },
            Some(false) => Verified::Open { height },
        }
    }
}

/// Whether a wanted state holds, as the lane's own task would find out.
async fn holds(chain: akash_chain::query::Query<Snapshot>, wanted: &Wanted) -> Option<bool> {
    Some(match wanted {
        Wanted::Bid(bid) => chain.bid(*bid).await.ok()?.value.is_some(),
        Wanted::BidOver(bid) => {
            let found = chain.bid(*bid).await.ok()?.value;
            !found.is_some_and(|info| matches!(info.bid.state, BidState::Open | BidState::Active))
        }
        Wanted::Withdrawn { lease, since } => {
            let Some(payment) = chain.lease(*lease).await.ok()?.value?.payment else {
                return Some(false);
            };
            if payment.state != EscrowState::Open {
                return Some(true);
            }
            let account = chain.deployment(lease.deployment_id()).await.ok()?.value?.account;
            payment.balance.amount().truncate_int() == 0
                && account.is_some_and(|account| account.settled_at >= *since)
        }
        Wanted::Reclaiming(lease) => {
            let found = chain.lease(*lease).await.ok()?.value;
            found.is_some_and(|info| info.lease.state != LeaseState::Active)
        }
        Wanted::Provider(_)
        | Wanted::CertificateValid { .. }
        | Wanted::CertificateRevoked { .. }
        | Wanted::Unverifiable => false,
    })
}
