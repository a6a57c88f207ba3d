//! Queries as clients write them.

use super::*;

fn event(kind: &str, attributes: &[(&str, &str)]) -> Event {
    let attributes =
        attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned(), true));
    Event { kind: kind.to_owned(), attributes: attributes.collect() }
}

fn holds(query: &str) -> bool {
    let events = [
        event("transfer", &[("sender", "akash1a"), ("amount", "5000uakt")]),
        event("akash.market.v1.EventBidCreated", &[("id", r#"{"owner":"akash1a"}"#)]),
        event("block", &[("time", "2026-11-15T18:57:20Z"), ("day", "2026-11-15")]),
    ];
    let tags = [("tm.event", "Tx"), ("tx.height", "10"), ("tx.hash", "AB")];
    query.parse::<Query>().unwrap().matches(&tags, &events)
}

#[test]
fn conditions_hold_for_tags_and_for_attributes() {
    for query in [
        "tm.event='Tx'",
        "tm.event = 'Tx' AND tx.height=10",
        "tx.height>9 AND tx.height<11 AND tx.height>=10 AND tx.height<=10",
        "transfer.sender='akash1a' AND transfer.amount=5000",
        "transfer.sender EXISTS",
        "transfer EXISTS",
        "akash.market.v1.EventBidCreated.id CONTAINS 'akash1a'",
        "block.time > TIME 2026-11-15T18:57:19Z",
        "block.day = DATE 2026-11-15",
    ] {
        assert!(holds(query), "{query}");
    }
    for query in [
        "tm.event='NewBlock'",
        "tx.height=10 AND tx.height=11",
        "transfer.recipient EXISTS",
        "transfer.sender='akash1'",
        "transfer.sender=5",
        "trans EXISTS",
        "block.time < TIME 2026-11-15T18:57:19Z",
    ] {
        assert!(!holds(query), "{query}");
    }
}

#[test]
fn a_query_has_one_form_however_it_was_written() {
    let form = |text: &str| text.parse::<Query>().unwrap().to_string();
    assert_eq!(form("tm.event='Tx'"), "tm.event = 'Tx'");
    assert_eq!(form(" a.b  EXISTS   AND c.d>=1.5 "), "a.b EXISTS AND c.d >= 1.5");
    assert_eq!(form("a = TIME 2026-11-15T18:57:20Z"), "a = TIME 2026-11-15T18:57:20Z");
}

#[test]
fn what_is_no_query_is_refused_where_it_goes_wrong() {
    let error = |text: &str| text.parse::<Query>().unwrap_err().to_string();
    assert_eq!(error(""), "offset 0: EOF");
    assert_eq!(error("tm.event"), "offset 8: EOF");
    assert_eq!(error("tm.event='Tx"), "offset 9: EOF");
    assert_eq!(error("&"), "offset 0: invalid input & at offset 1");
    assert_eq!(error("a='b' c='d'"), "offset 6: got tag, want AND operator");
    assert_eq!(error("a>'b'"), "offset 2: got string, wanted number, timestamp or datestamp");
    assert_eq!(error("a CONTAINS 5"), "offset 11: got number, wanted string");
    assert_eq!(error("a = DATE 2026-13-01"), "offset 4: invalid DATE value");
    assert!(error("a b").starts_with("offset 2: got tag, wanted <= operator"));
}

#[test]
fn a_query_tells_what_it_narrows_down_to() {
    let query: Query = "tx.height>5 AND tx.height<=9 AND tx.hash='AB'".parse().unwrap();
    assert_eq!(query.range("tx.height"), (6, 9));
    assert_eq!(query.range("other"), (0, u64::MAX));
    assert_eq!(query.required("tx.hash"), Some("AB"));
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in ".{0,60}") {
        let _ = text.parse::<Query>();
    }
}
