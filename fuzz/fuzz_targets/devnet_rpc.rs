//! Any bytes as a request to the devnet's JSON-RPC: read or refused, never a panic; and what is
//! answered is JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    akash_devnet::server::read_rpc(data);
});
