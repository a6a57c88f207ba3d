//! Any bytes as a manifest a tenant sends: read or refused, and what was read
//! writes canonical JSON that reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // To be filled with akash-sdl's manifest reader and canonical writer.
    let _ = std::str::from_utf8(data);
});
