use std::time::Duration;

use super::{coin, settings};
use crate::chain::Head;
use crate::escrow::{Escrow, EscrowEffect, EscrowInput, Funds, Shortage, WalletState};
use crate::time::{BlockTime, Now};
use akash_types::Coin;

fn head(height: u64) -> Head {
    Head { height, time: BlockTime::from_unix(height * 13 / 2) }
}

fn shortage(held: &str, needed: &str) -> Shortage {
    Shortage { held: coin(held), needed: coin(needed) }
}

/// Deposit 500000uakt, ten fees of 2808uakt in reserve, minimum 1000000.
#[test]
fn what_is_held_decides_whether_bids_can_be_paid() {
    let low = |held: &str| WalletState::Low(shortage(held, "1000000uakt"));
    let empty = |held: &str| WalletState::Empty(shortage(held, "528080uakt"));
    for (held, expected) in [
        (vec!["1000000uakt"], WalletState::Fine),
        (vec!["999999uakt"], low("999999uakt")),
        (vec!["528080uakt"], low("528080uakt")),
        (vec!["528079uakt"], empty("528079uakt")),
        (vec!["9000000uact"], empty("0uakt")),
        (vec![], empty("0uakt")),
        (vec!["600000uakt", "400000uakt"], WalletState::Fine),
    ] {
        let held: Vec<Coin> = held.into_iter().map(coin).collect();
        let state = WalletState::of(&held.into(), &settings());
        assert_eq!(state, expected);
        assert_eq!(state.allows_bids(), !matches!(expected, WalletState::Empty(_)));
    }
}

#[test]
fn a_deposit_in_another_denomination_is_needed_beside_the_fees() {
    let mut settings = settings();
    settings.bid_deposit = coin("500000uact");
    let of = |held: &[&str]| {
        let held: Vec<Coin> = held.iter().map(|held| coin(held)).collect();
        WalletState::of(&held.into(), &settings)
    };
    assert_eq!(of(&["1000000uakt", "500000uact"]), WalletState::Fine);
    let short = shortage("499999uact", "500000uact");
    assert_eq!(of(&["1000000uakt", "499999uact"]), WalletState::Empty(short));
    let short = shortage("28079uakt", "28080uakt");
    assert_eq!(of(&["28079uakt", "500000uact"]), WalletState::Empty(short));
}

#[test]
fn another_account_that_pays_fees_needs_the_reserve_and_the_provider_the_deposit() {
    let of = |provider: &str, payer: &str| {
        let (provider, fee_payer) = (vec![coin(provider)], Some(vec![coin(payer)]));
        WalletState::of(&Funds { provider, fee_payer, akt_price: None }, &settings())
    };
    assert_eq!(of("500000uakt", "1000000uakt"), WalletState::Fine);
    let low = shortage("28080uakt", "1000000uakt");
    assert_eq!(of("500000uakt", "28080uakt"), WalletState::Low(low));
    let short = shortage("28079uakt", "28080uakt");
    assert_eq!(of("9000000uakt", "28079uakt"), WalletState::Empty(short));
    let short = shortage("499999uakt", "500000uakt");
    assert_eq!(of("499999uakt", "9000000uakt"), WalletState::Empty(short));
}

#[test]
fn bids_stop_and_resume_by_themselves_and_silence_changes_nothing() {
    let mut escrow = Escrow::new(settings());
    let mut now = Now::default();
    let mut tell = |height: u64, input: EscrowInput, wait: u64| {
        now = now.after(Duration::from_secs(wait));
        let mut effects = escrow.handle(now, head(height), input);
        effects.retain(|effect| !matches!(effect, EscrowEffect::WakeAt(_)));
        (effects, escrow.wallet().cloned())
    };
    let read = |height: u64, held: &str| EscrowInput::WalletRead {
        height,
        funds: vec![coin(held)].into(),
    };

    let (effects, state) = tell(1, EscrowInput::Tick, 0);
    assert!(effects.contains(&EscrowEffect::ReadWallet));
    assert_eq!(state, None);
    let (effects, _) = tell(1, read(1, "5000000uakt"), 1);
    assert!(effects.contains(&EscrowEffect::Wallet(WalletState::Fine)));
    // Next one after the interval: 600 s are 92 blocks of 6.5 s.
    assert_eq!(tell(92, EscrowInput::Tick, 0).0, []);
    assert!(tell(93, EscrowInput::Tick, 0).0.contains(&EscrowEffect::ReadWallet));
    // No answer comes: it is asked again, and nothing is concluded.
    assert_eq!(
        tell(93, EscrowInput::Tick, 30),
        (vec![EscrowEffect::ReadWallet], Some(WalletState::Fine))
    );
    let (_, state) = tell(93, read(93, "7uakt"), 1);
    assert!(!state.unwrap().allows_bids());
    // An answer of an earlier height comes late.
    let (effects, state) = tell(93, read(50, "5000000uakt"), 1);
    assert_eq!(effects, []);
    assert!(!state.unwrap().allows_bids());
    // Less of too little is no news.
    assert!(tell(102, EscrowInput::Tick, 0).0.contains(&EscrowEffect::ReadWallet));
    assert_eq!(tell(102, read(102, "6uakt"), 0).0, []);
    // Nobody answers at all: asked again after the limit.
    assert!(tell(111, EscrowInput::Tick, 0).0.contains(&EscrowEffect::ReadWallet));
    assert_eq!(tell(111, EscrowInput::Tick, 29).0, []);
    assert!(tell(111, EscrowInput::Tick, 1).0.contains(&EscrowEffect::ReadWallet));
    let (effects, _) = tell(112, read(112, "5000000uakt"), 1);
    assert!(effects.contains(&EscrowEffect::Wallet(WalletState::Fine)));
}
