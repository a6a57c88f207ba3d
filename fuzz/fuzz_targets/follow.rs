//! Any text at all as a frame of the WebSocket and as results of a block: read or refused, never a
//! panic; and what is read holds together.
#![no_main]

use akash_chain::follow::decode::{read_frame, read_results};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = read_frame(text);
    let Ok((_, effects)) = read_results(text) else { return };
    for event in &effects.events {
        let _ = event.event.deployment_id();
        let Some(place) = event.tx else { continue };
        let tx = effects.txs.get(place.index as usize).expect("the transaction is in the list");
        assert_eq!(tx.code, place.code);
    }
});
