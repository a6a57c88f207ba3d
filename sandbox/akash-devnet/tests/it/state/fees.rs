//! What is checked before messages run, with codes and texts, and what gas things cost.

use akash_proto::akash::deployment::v1beta4::MsgUpdateDeployment;
use akash_proto::cosmos::bank::v1beta1::MsgSend;
use akash_proto::cosmos::tx::v1beta1::{Fee, TxRaw};
use akash_proto::to_any;
use prost::Message;
use prost_types::Any;

use crate::state::support::{
    Chain, Draft, Market, RICH, Wallet, close_bid, coin, create_bid, create_deployment,
    create_lease, withdraw,
};

fn pair() -> (Chain, Wallet, Wallet) {
    let (from, to) = (Wallet::numbered(1), Wallet::numbered(2));
    (Chain::new(&[&from]), from, to)
}

fn send(from: &Wallet, to: &Wallet, amount: u64) -> Any {
    to_any(&MsgSend {
        from_address: from.text(),
        to_address: to.text(),
        amount: vec![coin(amount, "uakt")],
    })
}

/// What a changed transaction is refused with, by CheckTx and in a block.
fn refused(change: impl FnOnce(&mut Draft)) -> ((String, u32, String), (String, u32, String)) {
    let (mut chain, from, to) = pair();
    let mut draft = Draft::new(vec![send(&from, &to, 5)]);
    change(&mut draft);
    let tx = chain.signed(&from, &draft);
    let checked = chain.state.clone().check_tx(&tx);
    let delivered = chain.state.deliver_tx(&tx);
    (
        (checked.codespace, checked.code, checked.log),
        (delivered.codespace, delivered.code, delivered.log),
    )
}

fn both(change: impl FnOnce(&mut Draft), code: u32, text: &str) {
    let (checked, delivered) = refused(change);
    assert_eq!(checked, ("sdk".to_owned(), code, text.to_owned()));
    assert_eq!(delivered, checked);
}

#[test]
fn refusals_have_the_nodes_codes_and_texts() {
    both(
        |draft| draft.sequence = Some(3),
        32,
        "account sequence mismatch, expected 0, got 3: incorrect account sequence",
    );
    let unverified = "signature verification failed; please verify account number (0) and \
                      chain-id (local): (unable to verify single signer signature): unauthorized";
    both(|draft| draft.chain_id = "other".to_owned(), 4, unverified);
    both(|draft| draft.number = Some(9), 4, unverified);
    both(
        |draft| draft.body.memo = "x".repeat(257),
        12,
        "maximum number of characters is 256 but received 257 characters: memo too large",
    );
    both(
        |draft| draft.fee.gas_limit = 1_000,
        11,
        "out of gas in location: ReadPerByte; gasWanted: 1000, gasUsed: 1003: out of gas",
    );
    both(
        |draft| draft.body.messages.clear(),
        18,
        "must contain at least one message: invalid request",
    );
    both(
        |draft| draft.mode = 127,
        37,
        "sign mode SIGN_MODE_LEGACY_AMINO_JSON is not supported by this network, use \
         SIGN_MODE_DIRECT: feature not supported",
    );
    both(
        |draft| draft.body.messages[0].type_url = "/cosmos.gov.v1.MsgVote".to_owned(),
        2,
        "unable to resolve type URL /cosmos.gov.v1.MsgVote: tx parse error",
    );
    both(
        |draft| draft.fee.amount = vec![coin(20_000_000_000_000_u64, "uakt")],
        5,
        "spendable balance 10000000000000uakt is smaller than 20000000000000uakt: insufficient \
         funds: insufficient funds",
    );
}

#[test]
fn only_the_mempool_wants_a_minimum_fee() {
    let (checked, delivered) = refused(|draft| {
        draft.fee = Fee { amount: vec![coin(1, "uakt")], gas_limit: 200_000, ..Fee::default() };
    });
    assert_eq!(checked.2, "insufficient fees; got: 1uakt required: 5000uakt: insufficient fee");
    assert_eq!((checked.1, delivered.1), (13, 0));
    let (checked, delivered) = refused(|draft| draft.fee.amount.clear());
    assert_eq!(checked.2, "insufficient fees; got:  required: 10000uakt: insufficient fee");
    assert_eq!(delivered.1, 0);
}

#[test]
fn a_transaction_has_its_height() {
    let (mut chain, from, to) = pair();
    chain.skip_to(10);
    let mut draft = Draft::new(vec![send(&from, &to, 5)]);
    draft.body.timeout_height = 9;
    let tx = chain.signed(&from, &draft);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!(result.code, 30);
    assert_eq!(result.log, "block height: 10, timeout height: 9: tx timeout height");
    draft.body.timeout_height = 10;
    let tx = chain.signed(&from, &draft);
    assert!(chain.state.deliver_tx(&tx).is_ok());
}

#[test]
fn who_never_had_coins_cannot_send() {
    let (mut chain, _, stranger) = pair();
    let tx = Draft::new(vec![send(&stranger, &stranger, 5)]).sign(&stranger, 0, 0);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!(result.code, 9);
    let text = format!("fee payer address: {} does not exist: unknown address", stranger.text());
    assert_eq!(result.log, text);
}

#[test]
fn both_halves_of_a_signature_range_are_not_accepted() {
    let (mut chain, from, to) = pair();
    let tx = chain.signed(&from, &Draft::new(vec![send(&from, &to, 5)]));
    let mut raw = TxRaw::decode(tx.as_slice()).unwrap();
    let signature = k256::ecdsa::Signature::from_slice(&raw.signatures[0]).unwrap();
    let (r, s) = signature.split_scalars();
    let high = k256::ecdsa::Signature::from_scalars(r, -s).unwrap();
    raw.signatures[0] = high.to_bytes().to_vec();
    let result = chain.state.deliver_tx(&raw.encode_to_vec());
    assert_eq!(result.code, 4);
    raw.signatures[0] = Vec::new();
    assert_eq!(chain.state.deliver_tx(&raw.encode_to_vec()).code, 4);
    raw.signatures.clear();
    assert_eq!(chain.state.deliver_tx(&raw.encode_to_vec()).code, 15);
    raw.signatures = vec![vec![0; 64]; 2];
    let result = chain.state.deliver_tx(&raw.encode_to_vec());
    assert_eq!(result.log, "wrong number of signers; expected 1, got 2: unauthorized");
}

#[test]
fn messages_of_several_accounts_need_all_their_signatures() {
    let (first, second) = (Wallet::numbered(1), Wallet::numbered(2));
    let mut chain = Chain::new(&[&first, &second]);
    let messages = vec![send(&first, &second, 5), send(&second, &first, 7)];
    let draft = Draft::new(messages.clone());
    let alone = draft.sign(&first, 0, 0);
    let result = chain.state.deliver_tx(&alone);
    assert_eq!(result.log, "wrong number of signers; expected 2, got 1: unauthorized");
    let swapped = draft.sign_by(&[(&second, 1, 0), (&first, 0, 0)]);
    let result = chain.state.deliver_tx(&swapped);
    let text = format!(
        "pubKey does not match signer address {} with signer index: 0: invalid pubkey",
        first.text()
    );
    assert_eq!((result.code, result.log), (8, text));
    let both = draft.sign_by(&[(&first, 0, 0), (&second, 1, 0)]);
    let result = chain.state.deliver_tx(&both);
    assert_eq!((result.code, result.log.as_str()), (0, ""));
    assert_eq!((chain.account(&first), chain.account(&second)), ((0, 1), (1, 1)));
    assert_eq!(chain.balance(first.address, "uakt"), u128::from(RICH) - 20_000 + 2);
    // Who pays the fee signs too.
    let mut draft = Draft::new(messages.into_iter().take(1).collect());
    draft.fee.payer = second.text();
    let tx = draft.sign_by(&[(&first, 0, 1), (&second, 1, 1)]);
    let before = chain.balance(second.address, "uakt");
    assert!(chain.state.deliver_tx(&tx).is_ok());
    assert_eq!(chain.balance(second.address, "uakt"), before - 10_000 + 5);
}

#[test]
fn a_checked_transaction_counts_for_the_next_check() {
    let (chain, from, to) = pair();
    let mut mempool = chain.state.clone();
    for sequence in 0..3 {
        let tx = Draft::new(vec![send(&from, &to, 5)]).sign(&from, 0, sequence);
        let result = mempool.check_tx(&tx);
        assert_eq!((result.code, result.gas_wanted), (0, 400_000));
        // The messages did not run.
        assert!(result.data.is_empty());
        assert_eq!(mempool.check_tx(&tx).code, 32);
    }
    assert_eq!(chain.account(&from), (0, 0));
}

#[test]
fn an_account_is_made_by_its_first_coins_and_shows_its_key_when_it_signs() {
    let (mut chain, from, to) = pair();
    let tx = chain.signed(&from, &Draft::new(vec![send(&from, &to, 1_000_000)]));
    let result = chain.state.deliver_tx(&tx);
    assert!(result.is_ok());
    // Numbers 1 to 3 are those of modules.
    assert_eq!(chain.account(&to), (4, 0));
    let sent = chain.deliver(&to, vec![send(&to, &from, 7)]);
    assert_eq!((sent.code, chain.account(&to)), (0, (4, 1)));
}

#[test]
fn a_failed_message_undoes_those_before_it_and_keeps_the_fee() {
    let (mut chain, from, to) = pair();
    let messages = vec![send(&from, &to, 5), send(&from, &to, u64::MAX)];
    let before = chain.balance(from.address, "uakt");
    let result = chain.deliver(&from, messages);
    assert_eq!((result.codespace.as_str(), result.code), ("sdk", 5));
    assert!(result.log.starts_with("failed to execute message; message index: 1: spendable"));
    assert_eq!(chain.balance(to.address, "uakt"), 0);
    assert_eq!(chain.balance(from.address, "uakt"), before - 20_000);
    assert_eq!(chain.account(&from).1, 1);
    assert_eq!(result.events.len(), 7, "only those of fee and signature");
}

#[test]
fn simulations_check_the_sequence_and_nothing_else_of_the_signature() {
    let (chain, from, to) = pair();
    let mut draft = Draft::new(vec![send(&from, &to, 5)]);
    draft.fee = Fee::default();
    draft.signed = false;
    draft.chain_id = "other".to_owned();
    let simulated = chain.state.simulate(&chain.signed(&from, &draft)).unwrap();
    assert_eq!(simulated.responses[0].type_url, "/cosmos.bank.v1beta1.MsgSendResponse");
    assert!(simulated.events.iter().all(|event| event.attributes.iter().all(|(.., index)| !index)));
    draft.sequence = Some(1);
    let error = chain.state.simulate(&chain.signed(&from, &draft)).unwrap_err();
    let text = "account sequence mismatch, expected 0, got 1: incorrect account sequence [";
    assert!(error.to_string().starts_with(text), "{error}");
    assert_eq!(error.error.code, 32);
}

#[test]
fn gas_is_about_what_was_recorded() {
    let mut market = Market::new(1);
    let (tenant, provider) = (&market.tenant, &market.providers[0]);
    let chain = &mut market.chain;
    let used = |chain: &mut Chain, wallet: &Wallet, messages: Vec<Any>| {
        let mut bare = Draft::new(messages.clone());
        bare.fee = Fee::default();
        bare.signed = false;
        let simulated = chain.state.simulate(&chain.signed(wallet, &bare)).unwrap().gas_used;
        let result = chain.deliver(wallet, messages);
        assert_eq!((result.code, result.log.as_str()), (0, ""));
        chain.next();
        let difference = result.gas_used - i64::try_from(simulated).unwrap();
        assert!((15_500..=16_500).contains(&difference), "{difference}");
        result.gas_used
    };
    let within = |name: &str, gas: i64, recorded: i64| {
        let off = (gas - recorded).abs() * 100 / recorded;
        assert!(off <= 6, "{name}: {gas}, recorded {recorded}");
    };
    let create = create_deployment(tenant, 5);
    within("create deployment", used(chain, tenant, vec![to_any(&create)]), 139_805);
    let bid = create_bid(tenant, 5, provider);
    within("create bid", used(chain, provider, vec![to_any(&bid)]), 121_173);
    let lease = create_lease(tenant, 5, provider);
    within("create lease", used(chain, tenant, vec![to_any(&lease)]), 162_467);
    let message = withdraw(tenant, 5, provider);
    within("withdraw", used(chain, provider, vec![to_any(&message)]), 90_821);
    let close = close_bid(tenant, 5, provider);
    within("close bid with lease", used(chain, provider, vec![to_any(&close)]), 244_449);
    used(chain, tenant, vec![to_any(&create_deployment(tenant, 6))]);
    used(chain, provider, vec![to_any(&create_bid(tenant, 6, provider))]);
    let close = close_bid(tenant, 6, provider);
    within("close open bid", used(chain, provider, vec![to_any(&close)]), 117_960);
    for dseq in 100..150 {
        chain.send(tenant, &create_deployment(tenant, dseq));
    }
    let bids = (100..150).map(|dseq| to_any(&create_bid(tenant, dseq, provider))).collect();
    within("each of 50 bids", used(chain, provider, bids) / 50, 79_305);
}

/// CosmJS simulates without a fee and multiplies by 1.3.
#[test]
fn an_update_gets_through_with_1_3_times_what_was_simulated_without_a_fee() {
    let mut market = Market::new(1);
    let tenant = &market.tenant;
    let chain = &mut market.chain;
    chain.send(tenant, &create_deployment(tenant, 5));
    chain.next();
    let id = create_deployment(tenant, 5).id;
    let update = to_any(&MsgUpdateDeployment { id, hash: vec![9; 32] });
    let mut bare = Draft::new(vec![update.clone()]);
    bare.fee = Fee::default();
    bare.signed = false;
    let simulated = chain.state.simulate(&chain.signed(tenant, &bare)).unwrap().gas_used;
    let mut draft = Draft::new(vec![update]);
    draft.fee.gas_limit = simulated * 13 / 10;
    let tx = chain.signed(tenant, &draft);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.code, result.log.as_str()), (0, ""), "{simulated}");
}

#[test]
fn coins_that_cannot_be_sent_are_not() {
    let (mut chain, from, to) = pair();
    let mut message =
        MsgSend { from_address: from.text(), to_address: to.text(), amount: vec![coin(5, "uact")] };
    let text = "uact transfers are currently disabled: send transactions are disabled";
    assert_eq!(chain.refused(&from, &message), crate::state::support::refusal("bank", 5, text));
    message.amount = vec![coin(5, "uakt")];
    message.to_address = "akash14pphss726thpwws3yc458hggufynm9x77l4l2u".to_owned();
    let text = format!("{} is not allowed to receive funds: unauthorized", message.to_address);
    assert_eq!(chain.refused(&from, &message), crate::state::support::refusal("sdk", 4, &text));
    message.amount = vec![coin(0, "uakt")];
    assert_eq!(chain.refused(&from, &message).1, 10);
}

#[test]
fn fees_move_on_with_the_next_block() {
    let (mut chain, from, to) = pair();
    chain.deliver(&from, vec![send(&from, &to, 5)]);
    let collector = "akash17xpfvakm2amg962yls6f84z3kell8c5lazw8j8";
    assert_eq!(chain.balance(collector, "uakt"), 10_000);
    let next = crate::state::support::block(chain.state.height() + 1);
    let events = chain.state.begin_block(next);
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["coin_spent", "coin_received", "transfer", "message"]);
    assert!(events.iter().all(|event| event.get("mode") == Some("BeginBlock")));
    assert_eq!(chain.balance(collector, "uakt"), 0);
}
