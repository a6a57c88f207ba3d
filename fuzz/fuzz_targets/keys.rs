//! Any bytes as what keys are kept in: items and files of keyrings, armored exports, PEM files.
//! The first byte says as what.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    akash_keys::fuzzing::read_as(*kind, data);
});
