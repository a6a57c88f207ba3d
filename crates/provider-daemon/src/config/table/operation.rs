//! Money, files and what the operator sees.

use crate::config::setting::Setting;

const KEPT_ELSEWHERE: &str = "what is kept is in --store-path, and may be deleted";

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("withdrawal-period", "SPAN", "24h", "How long earnings wait at most; 0 is for ever").live(),
    Setting::new("lease-funds-monitor-interval", "SPAN", "10m", "How often the account of a lease is read at least, 1m to 24h").live(),
    Setting::new("minimum-balance", "AMOUNT", "1000000", "Below this much, in the denomination of fees, the operator is warned").live(),
    Setting::new("provider-config", "FILE", "", "provider.yaml: attributes that an order must ask for, and settings").not_in_file(),
    Setting::new("metrics-listener", "ADDRESS", "", "Where /metrics is served [default: nowhere]"),
    Setting::new("redis-url", "URL", "", "Redis that carries facts to other processes: redis://HOST or redis+sentinel://HOST,HOST/MASTER").secret(),
    Setting::new("ctl-socket", "FILE", "", "Socket for `provider-services ctl` [default: provider.sock in --home]"),
    Setting::new("store-path", "FILE", "", "Database of height, journal and history [default: provider-store.redb in --home]"),
    Setting::new("persistent-config-backend", "KIND", "bbolt", "bbolt or memory").unused(KEPT_ELSEWHERE),
    Setting::new("persistent-config-path", "FILE", "", "Its file").unused(KEPT_ELSEWHERE),
    Setting::new("log_level", "LEVEL", "info", "What is logged: debug, info, warn, error, or MODULE:LEVEL with commas between").live(),
    Setting::new("log_format", "FORMAT", "plain", "plain or json"),
    Setting::switch("log_color", "false", "Log in colours"),
    Setting::new("log_timestamp", "FORMAT", "", "Form of times in logs").unused("they are RFC 3339 in UTC"),
    Setting::switch("trace", "false", "Errors with their stack").unused("errors always say what they come from"),
];
