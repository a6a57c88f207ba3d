//! Ports of nodes that lead to services.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use k8s_openapi::api::core::v1::Service;

/// The range of an API server that was started without `--service-node-port-range`.
pub(crate) const DEFAULT_RANGE: RangeInclusive<u16> = 30_000..=32_767;

/// What comes before the range in the refusal of a port outside of it.
const SAID_BEFORE: &str = "The range of valid ports is ";

/// The node ports of `services`. A port number counts once: protocols of one service share it.
pub(crate) fn used<'a>(services: impl IntoIterator<Item = &'a Service>) -> BTreeSet<i32> {
    let ports = services.into_iter().filter_map(|service| service.spec.as_ref()).flat_map(|spec| {
        let checked = spec.health_check_node_port;
        spec.ports.iter().flatten().filter_map(|port| port.node_port).chain(checked)
    });
    ports.filter(|port| *port > 0).collect()
}

/// The range of node ports that an API server names when it refuses a port outside of it.
pub(crate) fn range_in(refusal: &str) -> Option<RangeInclusive<u16>> {
    let (_, after) = refusal.split_once(SAID_BEFORE)?;
    let is_range = |c: char| c.is_ascii_digit() || c == '-';
    let (first, last) = after.split(|c| !is_range(c)).next()?.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_port_counts_once_and_only_if_it_is_on_nodes() {
        let service = |ports: serde_json::Value, check: i32| -> Service {
            let spec = json!({"ports": ports, "healthCheckNodePort": check});
            serde_json::from_value(json!({"spec": spec})).unwrap()
        };
        let dns = json!([
            {"port": 53, "protocol": "TCP", "nodePort": 30053},
            {"port": 53, "protocol": "UDP", "nodePort": 30053},
            {"port": 80, "nodePort": 30080}
        ]);
        let inside = json!([{"port": 80}]);
        let services = [service(dns, 0), service(inside, 0), service(json!([]), 32000)];
        assert_eq!(used(&services), [30_053, 30_080, 32_000].into());
    }

    #[test]
    fn the_range_is_read_from_a_refusal() {
        let refusal = "Service \"x\" is invalid: spec.ports[0].nodePort: Invalid value: 1: provided \
                       port is not in the valid range. The range of valid ports is 30000-30010";
        assert_eq!(range_in(refusal), Some(30_000..=30_010));
        assert_eq!(range_in(&format!("{refusal}, and more")), Some(30_000..=30_010));
        for text in ["", "The range of valid ports is ", "The range of valid ports is 9-1"] {
            assert_eq!(range_in(text), None, "{text}");
        }
    }
}
