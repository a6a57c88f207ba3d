//! How a route says how requests are passed on.

use std::collections::BTreeMap;

use crate::hostname::exposed::{HttpOptions, ProxyOptions};

type Annotations = BTreeMap<String, String>;

/// For ingress-nginx. Other controllers do not read them.
pub(super) fn ingress(options: &HttpOptions) -> Annotations {
    // A case is a status if it begins like one.
    let is_status = |case: &str| case.starts_with(['1', '2', '3', '4', '5']);
    [
        ("proxy-read-timeout", seconds(options.read_timeout).to_string()),
        ("proxy-send-timeout", seconds(options.send_timeout).to_string()),
        ("proxy-next-upstream-tries", options.next_tries.to_string()),
        ("proxy-body-size", options.max_body_size.to_string()),
        ("proxy-next-upstream-timeout", seconds(options.next_timeout).to_string()),
        ("proxy-next-upstream", cases(options, is_status)),
    ]
    .into_iter()
    .chain(proxy(&options.proxy))
    .map(|(key, value)| (format!("{INGRESS}/{key}"), value))
    .collect()
}

/// What is said about buffers, only where the tenant says it. Sets that nginx refuses are left out:
/// it would not load any configuration any more.
fn proxy(options: &ProxyOptions) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if options.buffering_disable {
        found.push(("proxy-buffering", "off".to_owned()));
    }
    let size = options.buffer_size;
    if size > 0 {
        found.push(("proxy-buffer-size", size.to_string()));
    }
    if options.connect_timeout > 0 {
        found.push(("proxy-connect-timeout", seconds(options.connect_timeout).to_string()));
    }
    let is_given = options.buffers_number > 0 || options.busy_buffers_size > 0;
    if size > 0 && is_given {
        let or = |given: u32, other: u64| if given == 0 { other } else { u64::from(given) };
        let size = u64::from(size);
        let number = or(options.buffers_number, 4);
        let busy = or(options.busy_buffers_size, size.saturating_mul(2));
        let most = number.saturating_sub(1).saturating_mul(size);
        if number >= 2 && (size..=most).contains(&busy) {
            found.push(("proxy-buffers-number", number.to_string()));
            found.push(("proxy-busy-buffers-size", busy.to_string()));
        }
    }
    found
}

/// Keys of what [`proxy`] says.
const PROXY: [&str; 5] = [
    "proxy-buffering",
    "proxy-buffer-size",
    "proxy-connect-timeout",
    "proxy-buffers-number",
    "proxy-busy-buffers-size",
];
const INGRESS: &str = "nginx.ingress.kubernetes.io";

/// Whether an annotation is one that most routes do not have.
pub(super) fn is_optional(key: &str) -> bool {
    let key = key.strip_prefix(INGRESS).and_then(|key| key.strip_prefix('/'));
    key.is_some_and(|key| PROXY.contains(&key))
}

/// For NGINX Gateway Fabric.
pub(super) fn http_route(options: &HttpOptions, buffer_size: &str) -> Annotations {
    let mut found = vec![
        ("client-max-body-size", options.max_body_size.to_string()),
        ("proxy-read-timeout", seconds(options.read_timeout).to_string()),
        ("proxy-send-timeout", seconds(options.send_timeout).to_string()),
        ("proxy-next-upstream-tries", options.next_tries.to_string()),
    ];
    if options.next_timeout > 0 {
        found.push(("proxy-next-upstream-timeout", format!("{}s", seconds(options.next_timeout))));
    }
    if !options.next_cases.is_empty() {
        found.push(("proxy-next-upstream", cases(options, is_registered)));
    }
    if !buffer_size.is_empty() {
        found.push(("proxy-buffer-size", buffer_size.to_owned()));
    }
    found.into_iter().map(|(key, value)| (format!("nginx.org/{key}"), value)).collect()
}

/// Whole seconds, rounded up.
const fn seconds(milliseconds: u32) -> u32 {
    milliseconds.div_ceil(1000)
}

fn cases(options: &HttpOptions, is_status: impl Fn(&str) -> bool) -> String {
    let case = |case: &String| match is_status(case) {
        true => format!("http_{case}"),
        false => case.clone(),
    };
    options.next_cases.iter().map(case).collect::<Vec<_>>().join(" ")
}

/// Whether a case is a status that is registered for HTTP.
fn is_registered(case: &str) -> bool {
    let code = case.parse::<u16>().ok().and_then(|code| http::StatusCode::from_u16(code).ok());
    code.is_some_and(|code| code.canonical_reason().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> HttpOptions {
        HttpOptions {
            max_body_size: 5,
            read_timeout: 1,
            send_timeout: 2001,
            next_tries: 0,
            next_timeout: 0,
            next_cases: Vec::new(),
            proxy: ProxyOptions::default(),
        }
    }

    fn of<'a>(found: &'a Annotations, prefix: &str, key: &str) -> Option<&'a str> {
        found.get(&format!("{prefix}/{key}")).map(String::as_str)
    }

    #[test]
    fn times_are_rounded_up_and_no_limit_is_zero() {
        let found = ingress(&options());
        let of = |key| of(&found, "nginx.ingress.kubernetes.io", key);
        assert_eq!(of("proxy-read-timeout"), Some("1"));
        assert_eq!(of("proxy-send-timeout"), Some("3"));
        assert_eq!(of("proxy-next-upstream-timeout"), Some("0"));
        assert_eq!(of("proxy-next-upstream"), Some(""));
        assert_eq!(of("proxy-body-size"), Some("5"));
    }

    #[test]
    fn buffers_are_said_to_ingress_nginx_as_a_pair_that_it_can_use() {
        let said = |numbers: [u32; 3]| {
            let [buffer_size, buffers_number, busy_buffers_size] = numbers;
            let proxy = ProxyOptions {
                buffer_size,
                buffers_number,
                busy_buffers_size,
                ..ProxyOptions::default()
            };
            let found = ingress(&HttpOptions { proxy, ..options() });
            let of = |key| of(&found, "nginx.ingress.kubernetes.io", key).map(str::to_owned);
            (of("proxy-buffer-size"), of("proxy-buffers-number"), of("proxy-busy-buffers-size"))
        };
        let some = |text: &str| Some(text.to_owned());
        for (given, number, busy) in [
            ([4096, 0, 0], None, None),
            ([4096, 8, 0], some("8"), some("8192")),
            ([4096, 0, 12288], some("4"), some("12288")),
            ([4096, 0, 12289], None, None),
            ([4096, 4, 4095], None, None),
            ([4096, 1, 4096], None, None),
            ([4096, 2, 0], None, None),
        ] {
            assert_eq!(said(given), (some("4096"), number, busy), "{given:?}");
        }
        assert_eq!(said([0, 8, 8192]), (None, None, None), "only with a buffer size");
        let proxy = ProxyOptions {
            buffering_disable: true,
            connect_timeout: 1001,
            ..ProxyOptions::default()
        };
        let found = ingress(&HttpOptions { proxy, ..options() });
        let of = |key| of(&found, "nginx.ingress.kubernetes.io", key);
        assert_eq!((of("proxy-buffering"), of("proxy-connect-timeout")), (Some("off"), Some("2")));
        assert!(ingress(&options()).keys().all(|key| !is_optional(key)));
        assert!(found.keys().any(|key| is_optional(key)));
    }

    #[test]
    fn a_gateway_is_told_only_what_there_is_to_tell() {
        let found = http_route(&options(), "");
        let of = |key| of(&found, "nginx.org", key);
        for key in ["proxy-next-upstream-timeout", "proxy-next-upstream", "proxy-buffer-size"] {
            assert_eq!(of(key), None, "{key}");
        }
        assert_eq!(of("proxy-next-upstream-tries"), Some("0"));
        let found = http_route(&HttpOptions { next_timeout: 1500, ..options() }, "16k");
        assert_eq!(found.get("nginx.org/proxy-next-upstream-timeout").unwrap(), "2s");
    }

    #[test]
    fn statuses_are_told_from_words() {
        let next_cases = ["error", "502", "off", "599"].map(str::to_owned).into();
        let options = HttpOptions { next_cases, ..options() };
        let both = (ingress(&options), http_route(&options, ""));
        let of = |found: &Annotations, prefix| {
            found.get(&format!("{prefix}/proxy-next-upstream")).cloned().unwrap()
        };
        assert_eq!(of(&both.0, "nginx.ingress.kubernetes.io"), "error http_502 off http_599");
        assert_eq!(of(&both.1, "nginx.org"), "error http_502 off 599");
    }
}
