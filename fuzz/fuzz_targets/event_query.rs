//! Any text as a query for events: read or refused; what is read prints as itself, and asking it
//! about events does no harm.
#![no_main]

use akash_devnet::node::Query;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(query) = text.parse::<Query>() else { return };
    let printed = query.to_string();
    let Ok(again) = printed.parse::<Query>() else {
        // A space is written after every tag, and after these two it means something else. Nothing
        // reads the printed form: it only tells subscriptions apart.
        assert!(printed.contains("TIME ") || printed.contains("DATE "), "{printed}");
        return;
    };
    assert_eq!(again.to_string(), printed);
    for value in ["", "7", "-7.5e3", "18446744073709551616", "2026-01-31T12:00:00.5Z", "x'y"] {
        let tags = [("tm.event", value), ("tx.height", value), ("a", value)];
        assert_eq!(query.matches(&tags, &[]), again.matches(&tags, &[]));
    }
    let (low, high) = query.range("tx.height");
    let _ = (low <= high, query.required("tm.event"));
});
