//! Any bytes as a message of any topic of the bus, and as the URL of its Redis: read or refused,
//! never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use provider_bus::{Target, Topic};

fuzz_target!(|text: &str| {
    for topic in Topic::ALL {
        let _ = topic.check(text);
    }
    let _ = text.parse::<Target>();
});
