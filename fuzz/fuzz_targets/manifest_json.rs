//! Any bytes at all as a manifest's JSON: read or refused, never a panic; and what is read comes
//! back the same, with the same hash.
#![no_main]

use akash_sdl::Manifest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(decoded) = Manifest::from_json(data) else { return };
    let manifest = decoded.manifest;
    let _ = manifest.validate();
    let again = Manifest::from_json(manifest.to_json().as_bytes()).expect("reads its own JSON");
    assert_eq!(again.manifest.version(), manifest.version());
    assert!(again.unknown_keys.is_empty());
    let through_proto =
        Manifest::from_proto(manifest.clone().into_proto()).expect("reads its own messages");
    assert_eq!(through_proto.into_proto(), manifest.into_proto());
});
