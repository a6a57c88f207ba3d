//! Tenants, a chain and a transaction lane around the checker, for a month.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_types::{Dec, LeaseId};

use super::ledger::{Ledger, Refused};
use super::{address, coin, lease_of, settings, us};
use crate::chain::Head;
use crate::escrow::{Escrow, EscrowEffect, EscrowInput, Settings, WithdrawOutcome, WithdrawReason};
use crate::time::{BlockTime, Now};

const ONE: i128 = Dec::ONE.scaled();
const DEPLOYMENTS: u64 = 200;
/// Blocks of 6.5 s.
const DAY: u64 = 13_292;

/// Fee of a transaction and of each message in it: one alone costs what the recorded one did.
const TX_FEE: u128 = 1_300;
const MESSAGE_FEE: u128 = 1_508;
const MESSAGES_PER_TX: usize = 10;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

#[derive(Clone, Copy)]
struct Faults {
    unanswered: u64,
    late: u64,
    failing: u64,
    /// Blocks between crashes; zero is never.
    crashes: u64,
}

const NONE: Faults = Faults { unanswered: 0, late: 0, failing: 0, crashes: 0 };
const MANY: Faults = Faults { unanswered: 7, late: 10, failing: 5, crashes: 0 };
const CRASHES: Faults = Faults { crashes: 1_009, ..MANY };

/// What a tenant will do at a height.
enum Act {
    Open,
    Deposit(u64),
    Close,
    /// Another provider withdraws, or the owner closes a lease of another.
    SettledByOthers,
}

struct World {
    escrow: Escrow,
    random: Random,
    faults: Faults,
    now: Now,
    height: u64,
    ledgers: BTreeMap<u64, Ledger>,
    acts: BTreeMap<u64, Vec<(u64, Act)>>,
    lane: Vec<(LeaseId, WithdrawReason)>,
    later: BTreeMap<u64, Vec<EscrowInput>>,
    /// Height at which each account became dry.
    dry_since: BTreeMap<u64, u64>,
    told_ended: BTreeSet<LeaseId>,
    sums: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    txs: u128,
    withdrawals: u128,
    fees: u128,
    earned: u128,
    expected: i128,
    unpaid_most: u64,
    closed_dry: u32,
    on_closed: u32,
    after_end: u32,
    trapped: u32,
    races: u32,
}

impl World {
    fn new(seed: u64, faults: Faults, days: u64) -> Self {
        let mut world = Self {
            escrow: checker(),
            random: Random(seed),
            faults,
            now: Now::default(),
            height: 1,
            ledgers: BTreeMap::new(),
            acts: BTreeMap::new(),
            lane: Vec::new(),
            later: BTreeMap::new(),
            dry_since: BTreeMap::new(),
            told_ended: BTreeSet::new(),
            sums: Sums::default(),
        };
        for dseq in 1..=DEPLOYMENTS {
            let opens = 2 + world.random.below(days * DAY / 3);
            world.plan(opens, dseq, Act::Open);
        }
        world
    }

    fn plan(&mut self, height: u64, dseq: u64, act: Act) {
        self.acts.entry(height).or_default().push((dseq, act));
    }

    fn tell(&mut self, input: EscrowInput) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let time = BlockTime::from_unix(self.height * 13 / 2);
            let head = Head { height: self.height, time };
            for effect in self.escrow.handle(self.now, head, input) {
                self.perform(effect, &mut inputs);
            }
        }
    }

    fn perform(&mut self, effect: EscrowEffect, inputs: &mut Vec<EscrowInput>) {
        match effect {
            EscrowEffect::ReadAccount(deployment) => {
                let height = self.height;
                if !self.random.percent(self.faults.unanswered) {
                    let read = self.ledgers[&deployment.dseq()].facts();
                    let answer = EscrowInput::AccountRead { deployment, height, read };
                    if self.random.percent(self.faults.late) {
                        let at = height + 1 + self.random.below(8);
                        self.later.entry(at).or_default().push(answer);
                    } else {
                        inputs.push(answer);
                    }
                }
            }
            EscrowEffect::ReadWallet => {
                let funds = vec![coin("900000000uakt")].into();
                inputs.push(EscrowInput::WalletRead { height: self.height, funds });
            }
            EscrowEffect::Withdraw { lease, why } => {
                self.sums.after_end += u32::from(self.told_ended.contains(&lease));
                let account = lease.deployment_id();
                if self.lane.iter().any(|(other, _)| other.deployment_id() == account) {
                    // Only a checker that forgot may ask twice; the lane sends the first.
                    assert_ne!(self.faults.crashes, 0, "{lease}: {why}");
                } else {
                    self.lane.push((lease, why));
                }
            }
            EscrowEffect::ForgetWithdraw { lease } => {
                self.lane.retain(|(other, _)| *other != lease);
            }
            EscrowEffect::Earned(earning) => {
                self.sums.earned += earning.received.amount();
                self.sums.expected += earning.expected.amount().truncate_int();
            }
            EscrowEffect::LooksOver { .. }
            | EscrowEffect::Settled(_)
            | EscrowEffect::Wallet(_)
            | EscrowEffect::Note(_)
            | EscrowEffect::WakeAt(_) => {}
        }
    }

    /// Makes one block and tells the checker.
    fn block(&mut self) {
        self.height += 1;
        self.now = self.now.after(Duration::from_millis(6_500));
        let mut inputs = Vec::new();
        for (dseq, act) in self.acts.remove(&self.height).unwrap_or_default() {
            self.act(dseq, act, &mut inputs);
        }
        self.include(&mut inputs);
        let height = self.height;
        for (dseq, ledger) in &self.ledgers {
            if ledger.is_open() && ledger.is_dry(height) {
                self.dry_since.entry(*dseq).or_insert(height);
            } else if let Some(since) = self.dry_since.remove(dseq) {
                let until = ledger.closed_at.unwrap_or(height);
                self.sums.unpaid_most = self.sums.unpaid_most.max(until - since);
                self.sums.closed_dry += 1;
            }
        }
        let ended: Vec<_> = self
            .ledgers
            .values()
            .filter(|ledger| ledger.closed_at == Some(height))
            .flat_map(|ledger| ledger.payments.iter().map(|payment| payment.lease))
            .filter(|lease| lease.provider() == us())
            .collect();
        for lease in ended {
            self.told_ended.insert(lease);
            self.tell(EscrowInput::LeaseEnded { lease, height });
        }
        if self.faults.crashes > 0 && height.is_multiple_of(self.faults.crashes) {
            self.crash();
        }
        inputs.extend(self.later.remove(&height).unwrap_or_default());
        inputs.into_iter().for_each(|input| self.tell(input));
        self.tell(EscrowInput::Tick);
    }

    /// All memory is lost; what was sent is sent, and leases are found on chain.
    fn crash(&mut self) {
        self.escrow = checker();
        self.now = Now::default();
        self.later.clear();
        let open = self.ledgers.values().filter(|ledger| ledger.is_open());
        let leases: Vec<_> = open.flat_map(|ledger| &ledger.payments).map(|p| p.lease).collect();
        for lease in leases.into_iter().filter(|lease| lease.provider() == us()) {
            // Created some time before: that is all that counts.
            self.tell(EscrowInput::LeaseStarted { lease, created_at: 1 });
        }
    }

    /// Puts what the lane holds into the block.
    fn include(&mut self, inputs: &mut Vec<EscrowInput>) {
        let lane = std::mem::take(&mut self.lane);
        for tx in lane.chunks(MESSAGES_PER_TX) {
            self.sums.txs += 1;
            self.sums.fees += TX_FEE;
            for (lease, _) in tx {
                let lease = *lease;
                if self.random.percent(self.faults.failing) {
                    let outcome = WithdrawOutcome::Failed {
                        reason: "lost".into(),
                        permanent: false,
                        fee: None,
                    };
                    inputs.push(EscrowInput::WithdrawEnded { lease, outcome });
                    continue;
                }
                self.sums.withdrawals += 1;
                self.sums.fees += MESSAGE_FEE;
                let ledger = self.ledgers.get_mut(&lease.dseq()).unwrap();
                let outcome = match ledger.withdraw(lease, self.height) {
                    Ok(()) => WithdrawOutcome::Landed { height: self.height, fee: None },
                    Err(refused) => {
                        match refused {
                            Refused::Closed if ledger.closed_at == Some(self.height) => {
                                self.sums.races += 1;
                            }
                            Refused::Closed => self.sums.on_closed += 1,
                            Refused::SettledInThisBlock => self.sums.trapped += 1,
                        }
                        let permanent = refused == Refused::Closed;
                        let reason = format!("{refused:?}");
                        WithdrawOutcome::Failed { reason, permanent, fee: None }
                    }
                };
                inputs.push(EscrowInput::WithdrawEnded { lease, outcome });
            }
        }
    }

    fn act(&mut self, dseq: u64, act: Act, inputs: &mut Vec<EscrowInput>) {
        let height = self.height;
        match act {
            Act::Open => self.open(dseq, inputs),
            Act::Deposit(units) => {
                let ledger = self.ledgers.get_mut(&dseq).unwrap();
                if ledger.is_open() {
                    ledger.deposit(units);
                }
            }
            Act::Close => {
                let ledger = self.ledgers.get_mut(&dseq).unwrap();
                if ledger.is_open() {
                    ledger.close(height);
                }
            }
            Act::SettledByOthers => {
                let ledger = self.ledgers.get_mut(&dseq).unwrap();
                if ledger.is_open() {
                    ledger.settle(height);
                    let next = height + 1 + self.random.below(DAY);
                    self.plan(next, dseq, Act::SettledByOthers);
                }
            }
        }
    }

    /// A deployment of one of several kinds comes to be, with its tenant's future.
    fn open(&mut self, dseq: u64, inputs: &mut Vec<EscrowInput>) {
        let height = self.height;
        // Prices from 0.7 to 2000 per block, most of them small.
        let size = [5, 50, 500, 2_000][usize::try_from(self.random.below(4)).unwrap()];
        let rate = i128::from(700 + self.random.below(size * 1_000)) * (ONE / 1_000);
        let mut rates = vec![(lease_of(dseq, 1, us()), rate)];
        match dseq % 5 {
            0 => rates.push((lease_of(dseq, 2, us()), rate / 3 * 2)),
            1 => rates.push((lease_of(dseq, 2, address(77)), rate)),
            _ => {}
        }
        let total: i128 = rates.iter().map(|(_, rate)| rate).sum();
        let blocks = DAY / 4 + self.random.below(DAY * 20);
        let units = u64::try_from(total * i128::from(blocks) / ONE).unwrap();
        for (lease, _) in rates.iter().filter(|(lease, _)| lease.provider() == us()) {
            inputs.push(EscrowInput::LeaseStarted { lease: *lease, created_at: height });
        }
        self.ledgers.insert(dseq, Ledger::new(dseq, height, units, &rates));
        if dseq % 5 == 1 {
            let at = height + 1 + self.random.below(DAY);
            self.plan(at, dseq, Act::SettledByOthers);
        }
        let dry = height + blocks;
        match self.random.below(4) {
            // Tops up in time, at the last moment or a little late; then not again.
            0 => self.plan(dry - 20, dseq, Act::Deposit(units)),
            1 => {
                let at = dry + self.random.below(4);
                self.plan(at, dseq, Act::Deposit(units));
            }
            2 => {
                let at = height + 1 + self.random.below(blocks);
                self.plan(at, dseq, Act::Close);
            }
            _ => {}
        }
    }
}

/// Reads every hour, so that a month takes seconds.
fn checker() -> Escrow {
    Escrow::new(Settings { check_every: Duration::from_secs(60 * 60), ..settings() })
}

fn run(seed: u64, faults: Faults, days: u64) -> World {
    let mut world = World::new(seed, faults, days);
    for _ in 0..days * DAY {
        world.block();
    }
    world
}

/// Days to simulate: the full month where time is given, else a part of it.
fn days() -> u64 {
    if std::env::var_os("AKASH_TEST_FULL").is_some() { 30 } else { 5 }
}

fn check(world: &World, bound: u64) {
    let sums = &world.sums;
    assert_eq!(sums.on_closed, 0, "transactions on closed leases: {sums:?}");
    assert_eq!(sums.after_end, 0, "withdrawals wanted of ended leases: {sums:?}");
    assert!(sums.unpaid_most <= bound, "unpaid blocks: {sums:?}");
    for (dseq, since) in &world.dry_since {
        assert!(world.height - since <= bound, "deployment {dseq} is dry since {since}");
    }
    assert!(sums.closed_dry > 10, "{sums:?}");
    // Fees are worth as much as payments here: one part of twenty is the policy's share.
    let paid = world.ledgers.values().flat_map(|ledger| &ledger.payments);
    let ours = paid.filter(|payment| payment.lease.provider() == us());
    let received: i128 = ours.map(|payment| payment.withdrawn / ONE).sum();
    let received = u128::try_from(received).unwrap();
    assert!(sums.fees * 20 < received, "{received} received: {sums:?}");
    // Nothing was fetched that is not recorded, but for what is still being looked at.
    assert!(sums.earned <= received);
    if world.faults.crashes == 0 {
        assert!(received - sums.earned <= received / 100, "{received} received: {sums:?}");
    }
    // Nothing that is worth its fee waits longer than the longest time, plus one check.
    for ledger in world.ledgers.values().filter(|ledger| ledger.is_open()) {
        for payment in ledger.payments.iter().filter(|payment| payment.lease.provider() == us()) {
            let standing = world.escrow.standing(payment.lease).unwrap();
            let blocks = standing.accrued.amount().scaled() / payment.rate;
            let worth = standing.accrued.amount() > settings().fees(20, standing.accrued.denom());
            assert!(!worth || blocks < i128::from(DAY + DAY / 24), "{}: {blocks}", payment.lease);
        }
    }
}

#[test]
fn without_faults_a_dry_lease_is_closed_in_the_next_block() {
    let world = run(1, NONE, days());
    check(&world, 1);
    // Only others who settle in the very same block get in the way.
    assert!(world.sums.trapped + world.sums.races <= 2, "{:?}", world.sums);
}

#[test]
fn with_faults_unpaid_blocks_stay_bounded() {
    check(&run(2, MANY, days()), 60);
}

#[test]
fn crashes_move_no_deadline_and_lose_no_money() {
    let world = run(3, CRASHES, days());
    check(&world, 60);
    // What a checker forgets it does not fetch twice: not many more fees than without crashes.
    let calm = run(3, MANY, days());
    let (fees, usual) = (world.sums.fees, calm.sums.fees);
    assert!(fees < usual + usual / 2, "{fees} uakt with crashes, {usual} without");
}
