//! Any bytes at all as an SDL file: read or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // To be filled with akash-sdl's reader: `akash_sdl::Sdl::read`.
    let _ = std::str::from_utf8(data);
});
