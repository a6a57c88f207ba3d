//! Any bytes as what a gateway or its client reads: queries, groups to be screened, frames and
//! documents. Read or refused, never a panic, and what is written again is read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use provider_api::migrate::MigrateHostnames;
use provider_api::query::{Query, ShellParams, StreamParams, parse_u32, parse_u64};
use provider_api::screening::parse_group;
use provider_api::status::{LeaseStatus, ProviderStatus, VersionDocument};
use provider_api::stream::{ClientFrame, EventFrame, LogFrame, ServerFrame};

fuzz_target!(|bytes: &[u8]| {
    let frame = bytes.to_vec().into();
    if let Ok(read) = ClientFrame::decode(&frame) {
        assert_eq!(ClientFrame::decode(&read.encode()), Ok(read));
    }
    let _ = ServerFrame::decode(&frame);
    let _ = parse_group(bytes);
    let _ = serde_json::from_slice::<MigrateHostnames>(bytes);
    let _ = serde_json::from_slice::<ProviderStatus>(bytes);
    let _ = serde_json::from_slice::<LeaseStatus>(bytes);
    let _ = serde_json::from_slice::<VersionDocument>(bytes);
    let _ = serde_json::from_slice::<LogFrame>(bytes);
    let _ = serde_json::from_slice::<EventFrame>(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (parse_u64(text), parse_u32(text));
    let query = Query::parse(text);
    if let Ok(params) = StreamParams::read(&query) {
        let again = StreamParams::read(&Query::parse(&params.to_query().to_text()));
        assert_eq!(again, Ok(params));
    }
    if let Some(params) = ShellParams::read(&query) {
        let again = ShellParams::read(&Query::parse(&params.to_query().to_text()));
        assert_eq!(again, Some(params));
    }
});
