//! Any bytes as protobuf messages from a chain node: decoded and converted to
//! akash-types or refused, and what converted converts back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // To be filled with akash-proto's messages and akash-types' conversions.
    let _ = std::str::from_utf8(data);
});
