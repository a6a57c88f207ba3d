//! Directives of nginx for one route of NGINX Gateway Fabric.
//!
//! NGINX Gateway Fabric reads no annotations. A `SnippetsFilter` puts directives into the location
//! of a route, as text. So nothing that a tenant wrote ever gets into it: every directive has a name
//! of our own and numbers or words of a fixed list as its values.

use kube_access::ResourceKind;
use provider_crd::{labels, names};
use serde_json::{Value, json};

use crate::hostname::claim::Claim;
use crate::hostname::exposed::{HttpOptions, ProxyOptions};
use crate::hostname::name;

/// When nginx can try the next backend.
const CASES: [&str; 12] = [
    "error",
    "timeout",
    "invalid_header",
    "http_500",
    "http_502",
    "http_503",
    "http_504",
    "http_403",
    "http_404",
    "http_429",
    "non_idempotent",
    "off",
];

/// The filter of a hostname's route, which owns it.
pub fn snippets_filter(claim: &Claim, options: &HttpOptions, route_uid: &str) -> Value {
    let (kind, route) = (ResourceKind::SNIPPETS_FILTER, ResourceKind::HTTP_ROUTE);
    let name = name::route_of(&claim.host);
    json!({
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": name,
            "namespace": names::lease_namespace(&claim.lease),
            "labels": labels::managed_for(&claim.lease),
            "ownerReferences": [{
                "apiVersion": route.api_version,
                "kind": route.name,
                "name": name,
                "uid": route_uid,
                "controller": true,
            }],
        },
        "spec": {"snippets": [{"context": "http.server.location", "value": directives(options)}]},
    })
}

/// The rule's reference to the filter of this name.
pub(super) fn reference(name: &str) -> Value {
    json!({
        "type": "ExtensionRef",
        "extensionRef": {
            "group": "gateway.nginx.org",
            "kind": ResourceKind::SNIPPETS_FILTER.name,
            "name": name,
        },
    })
}

/// Whether a rule's filter is a reference to a filter of directives.
pub(super) fn is_reference(filter: &Value) -> bool {
    let part = |key: &str| filter.pointer(&format!("/extensionRef/{key}")).and_then(Value::as_str);
    part("group") == Some("gateway.nginx.org")
        && part("kind") == Some(ResourceKind::SNIPPETS_FILTER.name)
}

/// One directive a line; what is 0 is left out.
fn directives(options: &HttpOptions) -> String {
    let HttpOptions { max_body_size, read_timeout, send_timeout, .. } = options;
    let HttpOptions { next_tries, next_timeout, proxy, .. } = options;
    let mut lines = Vec::new();
    let mut line = |name: &str, number: u32, unit: &str| {
        if number > 0 {
            lines.push(format!("{name} {number}{unit};"));
        }
    };
    line("client_max_body_size", *max_body_size, "");
    line("proxy_read_timeout", *read_timeout, "ms");
    line("proxy_send_timeout", *send_timeout, "ms");
    line("proxy_connect_timeout", proxy.connect_timeout.div_ceil(1000), "s");
    if proxy.buffering_disable {
        lines.push("proxy_buffering off;".to_owned());
    }
    if let Some([size, number, each, busy]) = buffers(proxy) {
        lines.push(format!("proxy_buffer_size {size};"));
        lines.push(format!("proxy_buffers {number} {each};"));
        lines.push(format!("proxy_busy_buffers_size {busy};"));
    }
    let mut line = |name: &str, number: u32, unit: &str| {
        if number > 0 {
            lines.push(format!("{name} {number}{unit};"));
        }
    };
    line("proxy_next_upstream_tries", *next_tries, "");
    line("proxy_next_upstream_timeout", *next_timeout, "ms");
    let cases: Vec<&str> = options.next_cases.iter().filter_map(|it| case(it)).collect();
    if !cases.is_empty() {
        lines.push(format!("proxy_next_upstream {};", cases.join(" ")));
    }
    lines.join("\n")
}

/// Size of the first buffer, number and size of the others, and how much of them may be busy. None
/// of it if nothing is asked for, or something that nginx refuses: then it would load no
/// configuration at all any more.
fn buffers(proxy: &ProxyOptions) -> Option<[u64; 4]> {
    let ProxyOptions { buffer_size, buffers_number, buffers_size, busy_buffers_size, .. } = *proxy;
    if (buffers_number == 0) != (buffers_size == 0) || (buffer_size == 0 && buffers_size == 0) {
        return None;
    }
    let or = |given: u32, other: u64| if given == 0 { other } else { u64::from(given) };
    let size = or(buffer_size, buffers_size.into());
    let each = or(buffers_size, buffer_size.into());
    let number = or(buffers_number, 8);
    let least = size.max(each);
    let busy = or(busy_buffers_size, least);
    let most = number.saturating_sub(1).saturating_mul(each);
    (number >= 2 && (least..=most).contains(&busy)).then_some([size, number, each, busy])
}

/// The word of nginx for a case, out of those that there are.
fn case(text: &str) -> Option<&'static str> {
    let is = |word: &str| word == text || word.strip_prefix("http_") == Some(text);
    CASES.into_iter().find(|word| is(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every directive that may be there, in its order.
    const NAMES: [&str; 11] = [
        "client_max_body_size",
        "proxy_read_timeout",
        "proxy_send_timeout",
        "proxy_connect_timeout",
        "proxy_buffering",
        "proxy_buffer_size",
        "proxy_buffers",
        "proxy_busy_buffers_size",
        "proxy_next_upstream_tries",
        "proxy_next_upstream_timeout",
        "proxy_next_upstream",
    ];

    fn proxy(numbers: [u32; 4]) -> ProxyOptions {
        let [buffer_size, buffers_number, buffers_size, busy_buffers_size] = numbers;
        ProxyOptions {
            buffer_size,
            buffers_number,
            buffers_size,
            busy_buffers_size,
            ..ProxyOptions::default()
        }
    }

    #[test]
    fn directives_come_in_their_order_and_zeros_are_left_out() {
        let options = HttpOptions::default();
        assert_eq!(
            directives(&options),
            "client_max_body_size 1048576;\nproxy_read_timeout 60000ms;\n\
             proxy_send_timeout 60000ms;\nproxy_next_upstream_tries 3;\n\
             proxy_next_upstream_timeout 60000ms;\nproxy_next_upstream error timeout;"
        );
        let all = HttpOptions {
            max_body_size: 5,
            read_timeout: 3_600_000,
            send_timeout: 1,
            next_tries: 2,
            next_timeout: 7,
            next_cases: ["502", "http_503", "non_idempotent"].map(str::to_owned).into(),
            proxy: ProxyOptions {
                buffering_disable: true,
                connect_timeout: 1500,
                ..proxy([4096, 8, 8192, 16384])
            },
        };
        assert_eq!(
            directives(&all),
            "client_max_body_size 5;\nproxy_read_timeout 3600000ms;\nproxy_send_timeout 1ms;\n\
             proxy_connect_timeout 2s;\nproxy_buffering off;\nproxy_buffer_size 4096;\n\
             proxy_buffers 8 8192;\nproxy_busy_buffers_size 16384;\nproxy_next_upstream_tries 2;\n\
             proxy_next_upstream_timeout 7ms;\nproxy_next_upstream http_502 http_503 non_idempotent;"
        );
    }

    #[test]
    fn buffers_are_said_all_or_not_at_all() {
        for (given, wanted) in [
            ([0, 0, 0, 0], None),
            ([0, 0, 0, 4096], None),
            ([4096, 4, 0, 0], None),
            ([4096, 0, 8192, 0], None),
            ([4096, 0, 0, 0], Some([4096, 8, 4096, 4096])),
            ([0, 4, 8192, 0], Some([8192, 4, 8192, 8192])),
            ([4096, 4, 8192, 24576], Some([4096, 4, 8192, 24576])),
            // More than all buffers but one, less than one, and a single one.
            ([4096, 4, 8192, 24577], None),
            ([16384, 4, 8192, 8192], None),
            ([4096, 1, 8192, 8192], None),
        ] {
            assert_eq!(buffers(&proxy(given)), wanted, "{given:?}");
        }
    }

    proptest! {
        /// Whatever a tenant asks for: only these directives, each once and in this order, with
        /// numbers and the words of the list.
        #[test]
        fn no_input_changes_the_set_of_directives(
            numbers in prop::array::uniform10(any::<u32>()),
            disable: bool,
            cases in prop::collection::vec(
                prop_oneof![
                    ".*",
                    Just("off; } server { listen 1; #".to_owned()),
                    Just("error;\nproxy_pass http://x".to_owned()),
                    Just("${var}".to_owned()),
                    prop::sample::select(&CASES[..]).prop_map(str::to_owned),
                    "[1-5][0-9]{2}",
                ],
                0..8,
            ),
        ) {
            let [a, b, c, d, e, f, g, h, i, j] = numbers;
            let options = HttpOptions {
                max_body_size: a,
                read_timeout: b,
                send_timeout: c,
                next_tries: d,
                next_timeout: e,
                next_cases: cases,
                proxy: ProxyOptions {
                    buffering_disable: disable,
                    connect_timeout: f,
                    ..proxy([g % 4096, h % 16, i % 4096, j % 65536])
                },
            };
            let text = directives(&options);
            let mut left = NAMES.iter();
            for line in text.lines() {
                let (name, values) = line.strip_suffix(';').unwrap().split_once(' ').unwrap();
                prop_assert!(left.any(|known| *known == name), "{name} in {text}");
                for value in values.split(' ') {
                    let digits = value.trim_end_matches("ms").trim_end_matches('s');
                    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
                    prop_assert!(is_number || CASES.contains(&value), "{value:?} in {text}");
                }
            }
        }
    }
}
