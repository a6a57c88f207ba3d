//! Which variables the script sees.

use std::ffi::{OsStr, OsString};

/// Names that a script may need and that give nothing away.
const PASSED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    // Where the network is reached from: scripts ask for exchange rates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    // What the script of the Helm chart reads.
    "WHITELIST_URL",
    "DEBUG_BID_SCRIPT",
];

/// Names that begin like this, too.
const PREFIXES: [&str; 2] = ["PRICE_TARGET_", "LC_"];

/// The variables of `all` that the price script gets: those that it may need, and those named in
/// `also`. The others stay here, since the environment of a provider holds passwords of keys and
/// tokens of clusters. `docs/price-script.md` lists them.
pub fn environment(
    all: impl IntoIterator<Item = (OsString, OsString)>,
    also: &[String],
) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        PASSED.contains(&name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || also.iter().any(|also| also == name)
    };
    all.into_iter().filter(|(name, _)| passes(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../../docs/price-script.md");

    #[test]
    fn secrets_stay_and_prices_pass() {
        let all = [
            ("PATH", "/bin"),
            ("AKASH_KEY_PASSWORD", "x"),
            ("AP_KEYRING_BACKEND", "x"),
            ("KUBECONFIG", "x"),
            ("CF_DNS_API_TOKEN", "x"),
            ("PRICE_TARGET_CPU", "1.60"),
            ("PRICE_TARGET_GPU_MAPPINGS", "a100=950"),
            ("WHITELIST_URL", "https://x"),
            ("LC_ALL", "C"),
            ("MY_RATE", "2"),
            ("MY_SECRET", "x"),
            ("LD_PRELOAD", "x"),
        ];
        let all = all.map(|(name, value)| (name.into(), value.into()));
        let passed = environment(all, &["MY_RATE".to_owned()]);
        let names: Vec<_> = passed.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "PATH",
                "PRICE_TARGET_CPU",
                "PRICE_TARGET_GPU_MAPPINGS",
                "WHITELIST_URL",
                "LC_ALL",
                "MY_RATE"
            ]
        );
    }

    #[test]
    fn the_guide_names_all_of_them() {
        for name in PASSED.iter().chain(&PREFIXES) {
            assert!(GUIDE.contains(&format!("`{name}")), "{name} is not in docs/price-script.md");
        }
    }
}
