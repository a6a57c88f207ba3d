//! Any bytes at all as an SDL file: read or refused, never a panic; and what is read holds
//! together.
#![no_main]

use akash_sdl::{Manifest, Sdl};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match Sdl::read_bytes(data) {
        Ok(sdl) => {
            let manifest = sdl.manifest();
            manifest.validate_against(sdl.groups()).expect("fits its own groups");
            let json = manifest.to_json();
            let decoded = Manifest::from_json(json.as_bytes()).expect("reads its own JSON");
            assert_eq!(&decoded.manifest, manifest);
            let _ = manifest.to_yaml();
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
});
