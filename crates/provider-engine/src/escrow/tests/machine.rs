use std::time::Duration;

use super::{
    account, address, alone, coin, dec_coin, deployment, lease_of, ours, paid, payment, settings,
    us,
};
use crate::chain::{AccountRead, Head};
use crate::escrow::{
    CheckFailure, Escrow, EscrowEffect, EscrowInput, EscrowNote, Refusal, Settings,
    WithdrawOutcome, WithdrawReason, WithdrawScope,
};
use crate::time::{BlockTime, Now};
use akash_types::{EscrowState, LeaseId};

/// A checker with its clocks; the wallet and wake-ups are left out of what it says.
struct Bench {
    escrow: Escrow,
    now: Now,
    height: u64,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        let mut bench = Self { escrow: Escrow::new(settings), now: Now::default(), height: 0 };
        let funds = vec![coin("900000000uakt")].into();
        bench.tell(EscrowInput::WalletRead { height: 0, funds });
        bench
    }

    fn tell(&mut self, input: EscrowInput) -> Vec<EscrowEffect> {
        let time = BlockTime::from_unix(self.height * 13 / 2);
        let effects = self.escrow.handle(self.now, Head { height: self.height, time }, input);
        let aside = |effect: &EscrowEffect| {
            matches!(
                effect,
                EscrowEffect::ReadWallet | EscrowEffect::Wallet(_) | EscrowEffect::WakeAt(_)
            )
        };
        effects.into_iter().filter(|effect| !aside(effect)).collect()
    }

    fn at(&mut self, height: u64) -> Vec<EscrowEffect> {
        self.height = height;
        self.tell(EscrowInput::Tick)
    }

    fn after(&mut self, seconds: u64) -> Vec<EscrowEffect> {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.tell(EscrowInput::Tick)
    }

    fn start(&mut self, lease: LeaseId, created_at: u64) -> Vec<EscrowEffect> {
        self.tell(EscrowInput::LeaseStarted { lease, created_at })
    }

    fn read(&mut self, dseq: u64, height: u64, read: AccountRead) -> Vec<EscrowEffect> {
        let deployment = deployment(dseq);
        self.tell(EscrowInput::AccountRead { deployment, height, read })
    }

    /// No answer comes in time.
    fn silence(&mut self) -> Vec<EscrowEffect> {
        self.after(30)
    }

    fn ended(&mut self, lease: LeaseId, outcome: WithdrawOutcome) -> Vec<EscrowEffect> {
        self.tell(EscrowInput::WithdrawEnded { lease, outcome })
    }

    fn landed(&mut self, lease: LeaseId, height: u64) -> Vec<EscrowEffect> {
        let fee = Some(coin("2808uakt"));
        self.ended(lease, WithdrawOutcome::Landed { height, fee })
    }
}

fn reading(dseq: u64) -> EscrowEffect {
    EscrowEffect::ReadAccount(deployment(dseq))
}

fn withdrawals(effects: &[EscrowEffect]) -> Vec<LeaseId> {
    let of = |effect: &EscrowEffect| match effect {
        EscrowEffect::Withdraw { lease, .. } => Some(*lease),
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

fn dry(dseq: u64, since: u64) -> EscrowEffect {
    EscrowEffect::Withdraw { lease: ours(dseq), why: WithdrawReason::Dry { since } }
}

fn failed(permanent: bool) -> WithdrawOutcome {
    WithdrawOutcome::Failed { reason: "no".into(), permanent, fee: None }
}

/// The recorded lease with what was withdrawn from it.
fn recorded(settled_at: u64, funds: &str, withdrawn: u128) -> AccountRead {
    let mut facts = alone(101, settled_at, funds, "500uact");
    facts.payments[0].withdrawn = akash_types::Coin::new("uact".parse().unwrap(), withdrawn);
    facts
}

#[test]
fn the_recorded_lease_is_withdrawn_when_asked_and_its_earnings_are_told() {
    let mut bench = Bench::new(settings());
    bench.height = 112;
    assert_eq!(bench.start(ours(101), 112), [reading(101)]);
    assert_eq!(bench.start(ours(101), 112), []);
    assert_eq!(bench.read(101, 112, recorded(112, "5000000uact", 0)), []);
    assert_eq!(bench.at(116), []);
    let asked = EscrowInput::WithdrawNow(WithdrawScope::Lease(ours(101)));
    assert_eq!(bench.tell(asked), [reading(101)]);
    assert_eq!(
        bench.read(101, 116, recorded(112, "5000000uact", 0)),
        [EscrowEffect::Withdraw { lease: ours(101), why: WithdrawReason::Operator }]
    );
    bench.height = 117;
    assert_eq!(bench.landed(ours(101), 117), [reading(101)]);
    let effects = bench.read(101, 117, recorded(117, "4997500uact", 2_500));
    let [EscrowEffect::Earned(earning)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(earning.received, coin("2500uact"));
    assert_eq!(earning.expected, dec_coin("2500uact"));
    assert_eq!(earning.fees, [coin("2808uakt")]);
    let standing = bench.escrow.standing(ours(101)).unwrap();
    assert_eq!((standing.received, standing.dry_at), (coin("2500uact"), Some(10_113)));
    // The owner closes at 247: the last payment is told, and nothing is watched any more.
    bench.height = 247;
    let ended = EscrowInput::LeaseEnded { lease: ours(101), height: 247 };
    assert_eq!(bench.tell(ended), [reading(101)]);
    let mut facts = recorded(247, "4932500uact", 67_500);
    facts.payments[0].state = EscrowState::Closed;
    facts.leases.clear();
    let effects = bench.read(101, 247, facts);
    let [EscrowEffect::Earned(earning), EscrowEffect::Settled(total)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (&earning.received, &earning.expected),
        (&coin("65000uact"), &dec_coin("65000uact"))
    );
    assert_eq!(total.received, coin("67500uact"));
    assert_eq!(bench.escrow.accounts(), 0);
    assert_eq!(bench.at(1_000_000), []);
}

#[test]
fn nothing_is_withdrawn_before_a_reading_of_the_block_of_the_lease() {
    let mut bench = Bench::new(settings());
    bench.height = 200;
    bench.start(ours(7), 200);
    bench.tell(EscrowInput::WithdrawNow(WithdrawScope::All));
    // A node that lags does not know the lease yet; that says nothing.
    let behind =
        AccountRead { leases: vec![], payments: vec![], ..alone(7, 100, "9uact", "1uact") };
    let effects = bench.read(7, 199, behind.clone());
    let why = CheckFailure::TooOld { got: 199, wanted: 200 };
    assert!(
        matches!(&effects[..], [EscrowEffect::Note(EscrowNote::CheckFailed { why: got, .. })] if *got == why),
        "{effects:?}"
    );
    assert_eq!(bench.after(10), [reading(7)]);
    let effects = bench.read(7, 200, behind);
    assert!(withdrawals(&effects).is_empty());
    assert_eq!(bench.after(20), [reading(7)]);
    bench.height = 201;
    let effects = bench.read(7, 201, alone(7, 200, "1000000uact", "1uact"));
    assert_eq!(withdrawals(&effects), [ours(7)]);
}

#[test]
fn a_dry_account_is_settled_until_the_chain_closes_it() {
    let mut bench = Bench::new(settings());
    bench.height = 10;
    bench.start(ours(7), 10);
    // 20 blocks are paid: 31 is the first that is not.
    let facts = || alone(7, 10, "10000uact", "500uact");
    assert_eq!(bench.read(7, 10, facts()), []);
    assert_eq!(bench.at(30), []);
    assert_eq!(bench.escrow.dryness(ours(7)), None);
    assert_eq!(bench.at(31), [reading(7)]);
    let ran_dry = EscrowNote::RanDry { deployment: deployment(7), since: 31 };
    let effects = bench.read(7, 31, facts());
    assert_eq!(effects, [EscrowEffect::Note(ran_dry), dry(7, 31)]);
    let dryness = bench.escrow.dryness(ours(7)).unwrap();
    assert_eq!((dryness.since, dryness.read_at), (31, 31));
    // It fails for a while: tried again at a growing distance, always on a new reading.
    let mut distances = Vec::new();
    for height in 32..40 {
        bench.height = height;
        let effects = bench.ended(ours(7), failed(false));
        assert_eq!(effects[1], reading(7));
        assert_eq!(bench.read(7, height, facts()), []);
        let mut waited = 0;
        while bench.after(1) != [reading(7)] {
            waited += 1;
            assert!(waited < 600);
        }
        distances.push(waited);
        assert_eq!(bench.read(7, height, facts()), [dry(7, 31)]);
    }
    assert!(distances.is_sorted(), "{distances:?}");
    assert!(distances[0] < 20 && distances[7] > 500, "{distances:?}");
    // It lands; the account says that all is over, and the lease is to be looked at.
    bench.height = 50;
    assert_eq!(bench.landed(ours(7), 50), [reading(7)]);
    let mut over = facts();
    over.leases.clear();
    over.account.as_mut().unwrap().state = EscrowState::Overdrawn;
    over.payments[0].state = EscrowState::Overdrawn;
    let looks_over = EscrowEffect::LooksOver { lease: ours(7), height: 50 };
    assert_eq!(bench.read(7, 50, over), [looks_over]);
    assert_eq!(bench.escrow.dryness(ours(7)), None);
}

#[test]
fn a_deposit_ends_the_dryness() {
    let mut bench = Bench::new(settings());
    bench.height = 10;
    bench.start(ours(7), 10);
    bench.read(7, 10, alone(7, 10, "500uact", "500uact"));
    assert_eq!(bench.at(12), [reading(7)]);
    bench.read(7, 12, alone(7, 10, "500uact", "500uact"));
    bench.ended(ours(7), failed(false));
    let effects = bench.read(7, 13, alone(7, 10, "5000uact", "500uact"));
    let note = EscrowNote::FundedAgain { deployment: deployment(7), dry_at: Some(21) };
    assert_eq!(effects, [EscrowEffect::Note(note)]);
    assert_eq!(bench.escrow.dryness(ours(7)), None);
}

#[test]
fn silence_is_asked_again_and_concludes_nothing() {
    let mut bench = Bench::new(settings());
    bench.height = 10;
    bench.start(ours(7), 10);
    bench.start(ours(8), 10);
    bench.read(8, 10, alone(8, 10, "5000uact", "500uact"));
    // After the limit, and the pause that follows, it is asked again.
    for (failed, pause) in [(1, 10), (2, 20)] {
        let effects = bench.silence();
        let [EscrowEffect::Note(EscrowNote::CheckFailed { failures, ref why, .. })] = effects[..]
        else {
            panic!("{effects:?}")
        };
        assert_eq!((failures, why), (failed, &CheckFailure::Unanswered(Duration::from_secs(30))));
        assert_eq!(bench.after(pause), [reading(7)]);
    }
    // Meanwhile the other one goes its way.
    assert_eq!(bench.at(21), [reading(8)]);
    assert_eq!(withdrawals(&bench.read(8, 21, alone(8, 10, "5000uact", "500uact"))), [ours(8)]);
    // A late answer is taken if it is newer, and only then.
    assert_eq!(bench.read(7, 20, alone(7, 10, "900000000uact", "500uact")), []);
    assert_eq!(bench.read(7, 15, alone(7, 10, "1uact", "500uact")), []);
    assert_eq!(bench.escrow.standing(ours(7)).unwrap().read_at, 20);
    assert_eq!(bench.escrow.dryness(ours(7)), None);
}

#[test]
fn an_account_that_must_be_dry_is_settled_even_when_no_node_answers() {
    let mut bench = Bench::new(settings());
    bench.height = 10;
    bench.start(ours(7), 10);
    bench.read(7, 10, alone(7, 10, "500uact", "500uact"));
    assert_eq!(bench.at(12), [reading(7)]);
    for pause in [10, 20] {
        assert!(withdrawals(&bench.silence()).is_empty());
        assert_eq!(bench.after(pause), [reading(7)]);
    }
    assert_eq!(withdrawals(&bench.silence()), [ours(7)]);
    // One that was never read is unknown, not dry.
    bench.start(ours(8), 10);
    for _ in 0..6 {
        assert!(!withdrawals(&bench.silence()).contains(&ours(8)));
        assert!(!withdrawals(&bench.after(600)).contains(&ours(8)));
    }
}

#[test]
fn one_withdrawal_of_an_account_at_a_time() {
    let mut bench = Bench::new(settings());
    let (first, second) = (lease_of(7, 1, us()), lease_of(7, 2, us()));
    let facts = |settled_at: u64, balances: [&str; 2]| AccountRead {
        account: Some(account(7, settled_at, &["1000000000uact"])),
        leases: vec![paid(first, "500uact"), paid(second, "500uact")],
        payments: vec![
            payment(first, "500uact", balances[0], 0),
            payment(second, "500uact", balances[1], 0),
        ],
    };
    bench.height = 10_000;
    bench.start(first, 1);
    bench.start(second, 1);
    assert_eq!(withdrawals(&bench.read(7, 10_000, facts(1, ["0", "0"]))), [first]);
    // Asking does not send a second one while the first is under way.
    assert_eq!(bench.tell(EscrowInput::WithdrawNow(WithdrawScope::Lease(second))), []);
    assert_eq!(bench.at(10_001), []);
    bench.landed(first, 10_001);
    // A node that has not seen the block yet would show the first as due again.
    assert!(withdrawals(&bench.read(7, 10_000, facts(1, ["0", "0"]))).is_empty());
    assert_eq!(bench.after(10), [reading(7)]);
    assert_eq!(withdrawals(&bench.read(7, 10_001, facts(10_001, ["0", "5000000"]))), [second]);
    bench.height = 10_002;
    bench.landed(second, 10_002);
    assert!(withdrawals(&bench.read(7, 10_002, facts(10_002, ["500", "0"]))).is_empty());
}

#[test]
fn a_lease_that_ends_while_it_is_withdrawn_is_forgotten() {
    let mut bench = Bench::new(settings());
    bench.height = 10_000;
    bench.start(ours(7), 1);
    let facts = alone(7, 1, "1000000000uact", "500uact");
    assert_eq!(withdrawals(&bench.read(7, 10_000, facts.clone())), [ours(7)]);
    let ended = EscrowInput::LeaseEnded { lease: ours(7), height: 10_001 };
    bench.height = 10_001;
    assert_eq!(bench.tell(ended), [EscrowEffect::ForgetWithdraw { lease: ours(7) }, reading(7)]);
    // Its own end comes late, and readings that still show it running do not bring it back.
    bench.ended(ours(7), failed(true));
    assert!(withdrawals(&bench.read(7, 10_001, facts.clone())).is_empty());
    let mut height = 10_001;
    while bench.escrow.accounts() > 0 {
        height += 1;
        assert!(height < 10_020);
        bench.height = height;
        bench.after(600);
        assert!(withdrawals(&bench.read(7, height, facts.clone())).is_empty());
    }
}

#[test]
fn a_payment_that_a_close_left_open_is_read_again_until_the_chain_has_closed_it() {
    let mut bench = Bench::new(settings());
    bench.height = 247;
    bench.start(ours(101), 112);
    bench.read(101, 247, recorded(117, "4997500uact", 2_500));
    let ended = EscrowInput::LeaseEnded { lease: ours(101), height: 247 };
    assert_eq!(bench.tell(ended), [reading(101)]);
    // Another settlement in the same block kept the chain from closing it.
    let settled = |effects: &[EscrowEffect]| {
        effects.iter().any(|effect| matches!(effect, EscrowEffect::Settled(_)))
    };
    assert!(!settled(&bench.read(101, 247, recorded(247, "4932500uact", 67_500))));
    bench.height = 248;
    assert_eq!(bench.after(600), [reading(101)]);
    let mut facts = recorded(248, "4932500uact", 67_500);
    facts.payments[0].state = EscrowState::Closed;
    facts.leases.clear();
    assert!(settled(&bench.read(101, 248, facts)));
    assert_eq!(bench.escrow.accounts(), 0);
}

#[test]
fn a_payment_that_is_closed_is_not_withdrawn() {
    let mut bench = Bench::new(settings());
    bench.height = 10_000;
    bench.start(ours(7), 1);
    let facts = || alone(7, 1, "1000000000uact", "500uact");
    bench.read(7, 10_000, facts());
    // The chain refuses for good: the account is read, and says why.
    let effects = bench.ended(ours(7), failed(true));
    assert_eq!(effects[1..], [reading(7)]);
    let mut closed = facts();
    closed.payments[0].state = EscrowState::Closed;
    closed.leases.clear();
    let looks_over = EscrowEffect::LooksOver { lease: ours(7), height: 10_001 };
    assert_eq!(bench.read(7, 10_001, closed.clone()), [looks_over]);
    bench.tell(EscrowInput::WithdrawNow(WithdrawScope::All));
    let effects = bench.read(7, 10_002, closed);
    let why = Refusal::PaymentClosed;
    assert!(effects.contains(&EscrowEffect::Note(EscrowNote::Refused { lease: ours(7), why })));
    assert!(withdrawals(&effects).is_empty());
}

#[test]
fn what_cannot_be_withdrawn_is_refused_with_a_reason() {
    let mut bench = Bench::new(settings());
    let refused = |lease, why| EscrowEffect::Note(EscrowNote::Refused { lease, why });
    let foreign = lease_of(7, 1, address(2));
    assert_eq!(bench.start(foreign, 1), [refused(foreign, Refusal::NotOurs)]);
    let unknown = EscrowInput::WithdrawNow(WithdrawScope::Lease(ours(7)));
    assert_eq!(bench.tell(unknown), [refused(ours(7), Refusal::Unknown)]);
    bench.start(ours(7), 0);
    bench.tell(EscrowInput::WithdrawNow(WithdrawScope::All));
    let effects = bench.read(7, 1, alone(7, 0, "100uact", "0.4uact"));
    assert_eq!(effects, [refused(ours(7), Refusal::NothingEarned)]);
}

#[test]
fn withdrawals_due_soon_go_along() {
    let mut bench = Bench::new(Settings { withdraw_every: Duration::ZERO, ..settings() });
    // Worth the fee after 5616 blocks; half an hour is 276 blocks.
    for (dseq, settled_at) in [(1, 1), (2, 100), (3, 270), (4, 300), (5, 2_000)] {
        bench.start(ours(dseq), settled_at);
        bench.height = 2_000;
        bench.read(dseq, 2_000, alone(dseq, settled_at, "1000000000uact", "500uact"));
    }
    let mut withdrawn = Vec::new();
    for height in 2_001..5_700 {
        for effect in bench.at(height) {
            let EscrowEffect::ReadAccount(id) = effect else { continue };
            let settled_at = [1, 100, 270, 300, 2_000][usize::try_from(id.dseq()).unwrap() - 1];
            let facts = alone(id.dseq(), settled_at, "1000000000uact", "500uact");
            let effects = bench.read(id.dseq(), height, facts);
            withdrawn.extend(withdrawals(&effects).into_iter().map(|lease| (height, lease)));
        }
    }
    assert_eq!(withdrawn, [(5_617, ours(1)), (5_617, ours(2)), (5_617, ours(3))]);
}

#[test]
fn ends_of_withdrawals_that_never_come_are_looked_for() {
    let mut bench = Bench::new(settings());
    bench.height = 10_000;
    bench.start(ours(7), 1);
    let facts = alone(7, 1, "1000000000uact", "500uact");
    assert_eq!(withdrawals(&bench.read(7, 10_000, facts.clone())), [ours(7)]);
    assert_eq!(bench.after(599), []);
    let unanswered = EscrowEffect::Note(EscrowNote::WithdrawUnanswered { lease: ours(7) });
    assert_eq!(bench.after(1), [unanswered, reading(7)]);
    assert_eq!(withdrawals(&bench.read(7, 10_090, facts)), [ours(7)]);
}

#[test]
fn nothing_to_do_is_not_tried_again_at_once() {
    let mut bench = Bench::new(settings());
    bench.height = 10_000;
    bench.start(ours(7), 1);
    let facts = alone(7, 1, "1000000000uact", "500uact");
    bench.read(7, 10_000, facts.clone());
    assert_eq!(bench.ended(ours(7), WithdrawOutcome::NothingToDo), [reading(7)]);
    assert_eq!(bench.read(7, 10_000, facts.clone()), []);
    assert_eq!(bench.after(10), [reading(7)]);
    assert_eq!(withdrawals(&bench.read(7, 10_001, facts)), [ours(7)]);
}

#[test]
fn ten_thousand_accounts_are_read_a_few_at_a_time_and_cost_nothing_while_nothing_is_due() {
    let mut bench = Bench::new(settings());
    bench.height = 1_000;
    let mut asked: Vec<u64> = Vec::new();
    let dseqs = |effects: Vec<EscrowEffect>| {
        effects.into_iter().filter_map(|effect| match effect {
            EscrowEffect::ReadAccount(id) => Some(id.dseq()),
            _ => None,
        })
    };
    for dseq in 1..=10_000 {
        asked.extend(dseqs(bench.start(ours(dseq), 1_000)));
    }
    assert_eq!(asked.len(), 32);
    let mut read = 0;
    while let Some(dseq) = asked.pop() {
        read += 1;
        asked.extend(dseqs(bench.read(dseq, 1_000, alone(dseq, 1_000, "1000000000uact", "1uact"))));
        assert!(asked.len() <= 32);
    }
    assert_eq!(read, 10_000);
    // The checks to come are spread over the last eighth of the interval, of 92 blocks.
    let quiet: Vec<_> = (1_001..=1_080).flat_map(|height| bench.at(height)).collect();
    assert_eq!(quiet, []);
    let mut heights = 0;
    for height in 1_081..=1_092 {
        let mut asked: Vec<_> = dseqs(bench.at(height)).collect();
        heights += u32::from(!asked.is_empty());
        while let Some(dseq) = asked.pop() {
            let facts = alone(dseq, 1_000, "1000000000uact", "1uact");
            asked.extend(dseqs(bench.read(dseq, height, facts)));
        }
    }
    assert!(heights >= 10, "{heights}");
}

#[test]
fn a_payment_that_a_close_left_open_is_withdrawn_however_often_that_fails() {
    let mut bench = Bench::new(settings());
    bench.height = 100;
    bench.start(ours(7), 1);
    bench.read(7, 100, alone(7, 100, "1000000000uact", "500uact"));
    bench.height = 201;
    let ended = EscrowInput::LeaseEnded { lease: ours(7), height: 201 };
    assert_eq!(bench.tell(ended), [reading(7)]);
    // The lease is over, its payment is open and holds what was earned until then.
    let left = |balance: &str, withdrawn| {
        let mut facts = alone(7, 200, "999950000uact", "500uact");
        facts.leases.clear();
        facts.payments = vec![payment(ours(7), "500uact", balance, withdrawn)];
        facts
    };
    let why = WithdrawReason::LeftOpen { left: dec_coin("50000uact") };
    let withdraw = EscrowEffect::Withdraw { lease: ours(7), why };
    assert_eq!(bench.read(7, 201, left("50000", 0)), std::slice::from_ref(&withdraw));
    for attempt in 0..20 {
        let effects = bench.ended(ours(7), failed(false));
        assert!(effects.contains(&reading(7)), "{attempt}: {effects:?}");
        assert!(withdrawals(&bench.read(7, 201, left("50000", 0))).is_empty(), "not at once");
        assert_eq!(bench.after(600), [reading(7)]);
        assert_eq!(bench.read(7, 201, left("50000", 0)), std::slice::from_ref(&withdraw));
    }
    bench.height = 300;
    assert_eq!(bench.landed(ours(7), 300), [reading(7)]);
    let effects = bench.read(7, 300, left("0", 50_000));
    let [EscrowEffect::Earned(earning), EscrowEffect::Settled(total)] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((&earning.received, &total.received), (&coin("50000uact"), &coin("50000uact")));
    assert_eq!(bench.escrow.accounts(), 0, "nothing is left to look at");
}

#[test]
fn a_payment_left_open_with_less_than_the_fee_is_given_up() {
    let mut bench = Bench::new(settings());
    bench.height = 100;
    bench.start(ours(7), 1);
    bench.read(7, 100, alone(7, 100, "1000000000uact", "500uact"));
    bench.tell(EscrowInput::LeaseEnded { lease: ours(7), height: 100 });
    let mut facts = alone(7, 100, "1000000000uact", "500uact");
    facts.leases.clear();
    facts.payments = vec![payment(ours(7), "500uact", "2807", 0)];
    for _ in 0..8 {
        assert!(withdrawals(&bench.read(7, 100, facts.clone())).is_empty());
        bench.after(600);
    }
    assert_eq!(bench.escrow.accounts(), 0);
}

#[test]
fn until_when_an_account_pays_is_told_before_it_is_dry() {
    let mut bench = Bench::new(settings());
    bench.height = 100;
    bench.start(ours(7), 1);
    assert_eq!(bench.escrow.outlook(ours(7)), None, "nothing is known before it was read");
    bench.read(7, 100, alone(7, 100, "50000uact", "500uact"));
    let outlook = bench.escrow.outlook(ours(7)).unwrap();
    assert_eq!((outlook.dry_at, outlook.blocks_left), (Some(201), Some(100)));
    bench.at(150);
    assert_eq!(bench.escrow.outlook(ours(7)).unwrap().blocks_left, Some(50));
    assert_eq!(bench.escrow.dryness(ours(7)), None);
}
