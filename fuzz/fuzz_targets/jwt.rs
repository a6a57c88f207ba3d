//! Any bytes as a token, and any bytes as the claims of a token that is well signed. What is
//! believed can be made again and is believed again.
#![no_main]

use std::time::{Duration, UNIX_EPOCH};

use akash_keys::SecretKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use provider_api::jwt::{Algorithm, Token, issue};

const NOW: u64 = 1_800_000_000;
/// Of akash10z3dccmx6ysj58tn4sgk95tv0xy84mwcj5ypkx, whom the seeds name.
const KEY: &str = "2a899a0e2ca668355c6ed0869063b947dce53a44ef7e281834ed79db47c315cc";

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Token::parse(text);
    }
    let key = SecretKey::from_hex(KEY).expect("a key");
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let text = format!("{}.{}", encode(b"{\"alg\":\"ES256K\"}"), encode(data));
    let token = format!("{text}.{}", encode(&key.sign(text.as_bytes())));
    let Ok(token) = Token::parse(&token) else { return };
    let now = UNIX_EPOCH + Duration::from_secs(NOW);
    let Ok(claims) = token.verify(&key.public_key(), now) else { return };
    if claims.issuer == key.public_key().address() {
        let again = issue(&claims, Algorithm::Es256kAdr36, &key).expect("rules hold");
        let again = Token::parse(&again).expect("a token").verify(&key.public_key(), now);
        assert_eq!(again, Ok(claims));
    }
});
