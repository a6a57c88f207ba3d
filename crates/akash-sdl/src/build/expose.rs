//! Exposes of a service, the endpoints they need, and the numbers of IP endpoints.

use akash_types::{Endpoint, EndpointKind};

use super::order;
use crate::document::{Document, Expose, ExposeTo, Proxy, Reader, Service, Spot};
use crate::manifest::{
    HttpOptions, PROXY_LIMITS, Protocol, ProxyOptions, ServiceExpose, expose_before,
};
use crate::problem::{Path, Shown};

const DEFAULT_MAX_BODY_SIZE: u32 = 1_048_576;
const MOST_MAX_BODY_SIZE: u32 = 104_857_600;
const DEFAULT_TIMEOUT_MS: u32 = 60_000;
const DEFAULT_NEXT_TRIES: u32 = 3;
const DEFAULT_NEXT_CASES: [&str; 2] = ["error", "timeout"];
const MOST_PROXY_BUFFER_SIZE: u32 = 1_048_576;
const NEXT_CASES: [&str; 10] =
    ["error", "timeout", "500", "502", "503", "504", "403", "404", "429", "off"];

/// The numbers of IP endpoints, which tie an expose to its endpoint on chain.
#[derive(Debug, Default)]
pub(super) struct SequenceNumbers<'d> {
    sorted: Vec<&'d str>,
}

impl<'d> SequenceNumbers<'d> {
    /// Every exposure counts except those that are global without an address, so links between
    /// services (whose address is the empty name) push the numbers up, and a name used twice has
    /// the number of its last use. No rule would have been designed like this; it is the one
    /// that stands on chain.
    pub(super) fn of(document: &Document<'d>) -> Self {
        let mut sorted: Vec<&str> = document
            .deployment
            .iter()
            .filter_map(|(name, _)| document.services.get(name.value))
            .flat_map(|service| &service.expose)
            .flat_map(|expose| &expose.to)
            .filter(|to| !(to.global && to.ip.value.is_empty()))
            .map(|to| to.ip.value)
            .collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    fn get(&self, name: &str) -> u32 {
        u32::try_from(self.sorted.partition_point(|other| *other <= name)).unwrap_or(u32::MAX)
    }
}

/// A service's exposes in the manifest's order.
pub(super) fn exposes(
    reader: &mut Reader<'_, '_>,
    service: &Service<'_>,
    numbers: &SequenceNumbers<'_>,
) -> Vec<ServiceExpose> {
    let count = service.expose.iter().map(|expose| expose.to.len().max(1)).sum();
    let mut result = Vec::with_capacity(count);
    let services = Path::ROOT.key("services");
    let name = services.key(service.name.value);
    let list = name.key("expose");
    for (index, expose) in service.expose.iter().enumerate() {
        add_expose(reader, expose, list.index(index), numbers, &mut result);
    }
    order::sort(&mut result, expose_before);
    result
}

fn add_expose(
    reader: &mut Reader<'_, '_>,
    expose: &Expose<'_>,
    path: Path<'_>,
    numbers: &SequenceNumbers<'_>,
    result: &mut Vec<ServiceExpose>,
) {
    let base = ServiceExpose {
        port: expose.port.value,
        external_port: expose.external_port.value,
        proto: protocol(reader, expose.proto, path),
        hosts: expose.accept.as_deref().map(owned),
        http_options: http_options(reader, expose, path.key("http_options")),
        ..ServiceExpose::default()
    };
    let Some((last, others)) = expose.to.split_last() else {
        result.push(base);
        return;
    };
    let with = |base: ServiceExpose, to: &ExposeTo<'_>| {
        let numbered = to.global && !to.ip.value.is_empty();
        ServiceExpose {
            service: to.service.to_owned(),
            global: to.global,
            ip: to.ip.value.to_owned(),
            endpoint_sequence_number: if numbered { numbers.get(to.ip.value) } else { 0 },
            ..base
        }
    };
    for to in others {
        result.push(with(base.clone(), to));
    }
    result.push(with(base, last));
}

pub(super) fn owned(texts: &[Spot<&str>]) -> Vec<String> {
    texts.iter().map(|text| text.value.to_owned()).collect()
}

fn protocol(reader: &mut Reader<'_, '_>, proto: Spot<&str>, path: Path<'_>) -> Protocol {
    match proto.value {
        "" => Protocol::Tcp,
        name if name.eq_ignore_ascii_case("tcp") => Protocol::Tcp,
        name if name.eq_ignore_ascii_case("udp") => Protocol::Udp,
        other => {
            let message = format!("unsupported service protocol {}", Shown(other));
            reader.problem_allowing(path.key("proto"), proto.place, message, "tcp or udp");
            Protocol::Tcp
        }
    }
}

/// Not limited: an hour-long answer is one.
fn timeout(given: Spot<u32>) -> u32 {
    if given.value == 0 { DEFAULT_TIMEOUT_MS } else { given.value }
}

fn http_options(reader: &mut Reader<'_, '_>, expose: &Expose<'_>, path: Path<'_>) -> HttpOptions {
    let given = &expose.http_options;
    let mut limited = |key: &'static str, value: Spot<u32>, most: u32, default: u32| {
        if value.value > most {
            let message = format!("http option not allowed: {} is too large", value.value);
            reader.problem_allowing(path.key(key), value.place, message, format!("at most {most}"));
        }
        if value.value == 0 { default } else { value.value }
    };
    HttpOptions {
        max_body_size: limited(
            "max_body_size",
            given.max_body_size,
            MOST_MAX_BODY_SIZE,
            DEFAULT_MAX_BODY_SIZE,
        ),
        read_timeout: timeout(given.read_timeout),
        send_timeout: timeout(given.send_timeout),
        next_tries: if given.next_tries == 0 { DEFAULT_NEXT_TRIES } else { given.next_tries },
        next_timeout: given.next_timeout,
        // Not defaulted: a value would change the hash of every manifest that has none.
        proxy_buffer_size: limited(
            "proxy_buffer_size",
            given.proxy_buffer_size,
            MOST_PROXY_BUFFER_SIZE,
            0,
        ),
        next_cases: next_cases(reader, &given.next_cases, path.key("next_cases")),
        proxy: given.proxy.as_ref().and_then(|proxy| self::proxy(reader, proxy, path.key("proxy"))),
    }
}

/// What is written into the manifest; none if nothing is set.
fn proxy(reader: &mut Reader<'_, '_>, given: &Proxy, path: Path<'_>) -> Option<ProxyOptions> {
    if (given.buffers_number.value == 0) != (given.buffers_size.value == 0) {
        reader.problem(
            path,
            given.place,
            "proxy.buffers_number and proxy.buffers_size must be set together",
        );
    }
    for limit in &PROXY_LIMITS {
        let value = match limit.field {
            "buffer_size" => given.buffer_size,
            "buffers_number" => given.buffers_number,
            "buffers_size" => given.buffers_size,
            _ => given.busy_buffers_size,
        };
        if value.value > limit.most {
            let message = format!("providers refuse more than {}", limit.most);
            reader.lint(path.key(limit.field), value.place, message);
        }
    }
    let set = |value: Spot<u32>| (value.value != 0).then_some(value.value);
    let proxy = ProxyOptions {
        buffering_disable: given.buffering_disable.then_some(true),
        buffer_size: set(given.buffer_size),
        buffers_number: set(given.buffers_number),
        buffers_size: set(given.buffers_size),
        busy_buffers_size: set(given.busy_buffers_size),
        connect_timeout: set(given.connect_timeout),
    };
    (proxy != ProxyOptions::default()).then_some(proxy)
}

fn next_cases(reader: &mut Reader<'_, '_>, cases: &[Spot<&str>], path: Path<'_>) -> Vec<String> {
    if cases.is_empty() {
        return DEFAULT_NEXT_CASES.map(str::to_owned).to_vec();
    }
    for (index, case) in cases.iter().enumerate() {
        if !NEXT_CASES.contains(&case.value) {
            let message = format!("next case is unknown: {}", Shown(case.value));
            reader.problem_allowing(path.index(index), case.place, message, NEXT_CASES.join(", "));
        } else if case.value == "off" && cases.len() > 1 {
            reader.problem(
                path.index(index),
                case.place,
                "if 'off' is specified, no other cases may be specified",
            );
        }
    }
    owned(cases)
}

/// The endpoints that exposes need: one for the port, and one more for a leased address.
pub(super) fn endpoints(exposes: &[ServiceExpose]) -> Vec<Endpoint> {
    let mut endpoints = Vec::with_capacity(exposes.len());
    for expose in exposes.iter().filter(|expose| expose.global) {
        let kind =
            if expose.is_ingress() { EndpointKind::SharedHttp } else { EndpointKind::RandomPort };
        endpoints.push(Endpoint { kind, sequence_number: 0 });
        if !expose.ip.is_empty() {
            endpoints.push(Endpoint {
                kind: EndpointKind::LeasedIp,
                sequence_number: expose.endpoint_sequence_number,
            });
        }
    }
    endpoints
}
