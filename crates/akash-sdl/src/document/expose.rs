//! `services.<name>.expose`: ports and who may reach them.

use super::reader::{Reader, Spot};
use crate::problem::{Path, Place, Shown};
use crate::yaml::Node;

#[derive(Clone, Debug)]
pub(crate) struct Expose<'d> {
    pub(crate) place: Place,
    pub(crate) port: Spot<u32>,
    /// The port outside, `as` in the SDL; 0 means the same as inside.
    pub(crate) external_port: Spot<u32>,
    /// As written; empty when absent.
    pub(crate) proto: Spot<&'d str>,
    pub(crate) to: Vec<ExposeTo<'d>>,
    pub(crate) accept: Option<Vec<Spot<&'d str>>>,
    pub(crate) http_options: HttpOptions<'d>,
}

#[derive(Clone, Debug)]
pub(crate) struct ExposeTo<'d> {
    pub(crate) place: Place,
    pub(crate) service: &'d str,
    pub(crate) global: bool,
    /// Name of an IP endpoint; empty when absent.
    pub(crate) ip: Spot<&'d str>,
}

/// Zero means "not given" throughout, as in the existing tools.
#[derive(Clone, Debug)]
pub(crate) struct HttpOptions<'d> {
    pub(crate) max_body_size: Spot<u32>,
    pub(crate) read_timeout: Spot<u32>,
    pub(crate) send_timeout: Spot<u32>,
    pub(crate) next_tries: u32,
    pub(crate) next_timeout: u32,
    pub(crate) next_cases: Vec<Spot<&'d str>>,
    pub(crate) proxy_buffer_size: Spot<u32>,
    pub(crate) proxy: Option<Proxy>,
}

/// `http_options.proxy`.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    pub(crate) place: Place,
    pub(crate) buffering_disable: bool,
    pub(crate) buffer_size: Spot<u32>,
    pub(crate) buffers_number: Spot<u32>,
    pub(crate) buffers_size: Spot<u32>,
    pub(crate) busy_buffers_size: Spot<u32>,
    pub(crate) connect_timeout: Spot<u32>,
}

impl HttpOptions<'_> {
    fn absent(place: Place) -> Self {
        let zero = Spot { value: 0, place };
        Self {
            max_body_size: zero,
            read_timeout: zero,
            send_timeout: zero,
            next_tries: 0,
            next_timeout: 0,
            next_cases: Vec::new(),
            proxy_buffer_size: zero,
            proxy: None,
        }
    }
}

impl<'d> Expose<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Option<Self> {
        let place = node.place;
        let mut expose = Self {
            place,
            port: Spot { value: 0, place },
            external_port: Spot { value: 0, place },
            proto: Spot { value: "", place },
            to: Vec::new(),
            accept: None,
            http_options: HttpOptions::absent(place),
        };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
            "port" => {
                if let Some(port) = reader.unsigned(value, path) {
                    expose.port = port;
                }
            }
            "as" => {
                if let Some(port) = reader.unsigned(value, path) {
                    expose.external_port = port;
                }
            }
            "proto" => {
                if let Some(proto) = reader.text(value, path) {
                    expose.proto = proto;
                }
            }
            "to" => expose.to = reader.list(value, path, ExposeTo::decode).unwrap_or_default(),
            "accept" => expose.accept = accept(reader, value, path),
            "http_options" => expose.http_options = http_options(reader, value, path),
            _ => reader.unknown_key(key, path, "port, as, proto, to, accept, http_options"),
        });
        // A null item is dropped; anything else that is no mapping is refused already.
        is_mapping.then_some(expose)
    }
}

impl<'d> ExposeTo<'d> {
    fn decode<'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Self> {
        let place = node.place;
        let mut to = Self { place, service: "", global: false, ip: Spot { value: "", place } };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
            "service" => to.service = reader.text(value, path).map_or("", |text| text.value),
            "global" => to.global = reader.boolean(value, path).is_some_and(|flag| flag.value),
            "ip" => {
                if let Some(ip) = reader.text(value, path) {
                    to.ip = ip;
                }
            }
            // Has no effect here, but the existing tools know the key.
            "http_options" => {}
            _ => reader.unknown_key(key, path, "service, global, ip"),
        });
        is_mapping.then_some(to)
    }
}

fn accept<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<Vec<Spot<&'d str>>> {
    let hosts = reader.texts(node, path)?;
    for (index, host) in hosts.iter().enumerate() {
        if !could_be_host(host.value) {
            reader.problem_allowing(
                path.index(index),
                host.place,
                format!("{} is not a hostname", Shown(host.value)),
                "a name such as www.example.com",
            );
        }
    }
    Some(hosts)
}

/// The first, coarse test of a host: it must make a URL together with `http://`. Hosts of
/// services that are deployed are tested as DNS names later.
fn could_be_host(host: &str) -> bool {
    let authority = host.split(['/', '?']).next().unwrap_or_default();
    let bad = |c: char| {
        c.is_control()
            || matches!(c, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '#')
    };
    let port_is_number = match authority.rsplit_once(':') {
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    };
    port_is_number && !authority.contains(bad) && !host.chars().any(char::is_control)
}

fn http_options<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> HttpOptions<'d> {
    let mut options = HttpOptions::absent(node.place);
    reader.mapping(node, path, |reader, key, value, path| {
        let number = |reader: &mut Reader<'d, 'a>| {
            reader.unsigned(value, path).unwrap_or(Spot { value: 0, place: value.place })
        };
        match key.value {
            "max_body_size" => options.max_body_size = number(reader),
            "read_timeout" => options.read_timeout = timeout(reader, value, path, "read"),
            "send_timeout" => options.send_timeout = timeout(reader, value, path, "send"),
            "next_tries" => options.next_tries = number(reader).value,
            "next_timeout" => options.next_timeout = number(reader).value,
            "next_cases" => options.next_cases = reader.texts(value, path).unwrap_or_default(),
            "proxy_buffer_size" => options.proxy_buffer_size = number(reader),
            "proxy" => options.proxy = proxy(reader, value, path),
            _ => reader.unknown_key(
                key,
                path,
                "max_body_size, read_timeout, send_timeout, next_tries, next_timeout, next_cases, \
                 proxy_buffer_size, proxy",
            ),
        }
    });
    options
}

/// A time in milliseconds, or with one of the units ms, s, m and h.
fn timeout<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
    which: &str,
) -> Spot<u32> {
    let place = node.place;
    let Some(text) = reader.text(node, path) else { return Spot { value: 0, place } };
    let value = match milliseconds(text.value) {
        Ok(value) => value,
        Err(TimeoutProblem::Form) => {
            reader.problem_allowing(
                path,
                place,
                format!("{} is not a time", Shown(text.value)),
                "milliseconds or a whole-number duration using ms, s, m, or h",
            );
            0
        }
        Err(TimeoutProblem::TooLarge) => {
            let message = format!(
                "http option not allowed: {which} timeout cannot be greater than {} ms",
                u32::MAX
            );
            reader.problem(path, place, message);
            0
        }
    };
    Spot { value, place }
}

#[derive(Debug, PartialEq, Eq)]
enum TimeoutProblem {
    Form,
    TooLarge,
}

fn milliseconds(text: &str) -> Result<u32, TimeoutProblem> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end).ok_or(TimeoutProblem::Form)?;
    let factor: u128 = match unit {
        "" | "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(TimeoutProblem::Form),
    };
    if digits.is_empty() {
        return Err(TimeoutProblem::Form);
    }
    let number: u128 = digits.parse().map_err(|_| TimeoutProblem::TooLarge)?;
    let milliseconds = number.checked_mul(factor).ok_or(TimeoutProblem::TooLarge)?;
    u32::try_from(milliseconds).map_err(|_| TimeoutProblem::TooLarge)
}

fn proxy<'d, 'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Proxy> {
    let place = node.place;
    let zero = Spot { value: 0, place };
    let mut proxy = Proxy {
        place,
        buffering_disable: false,
        buffer_size: zero,
        buffers_number: zero,
        buffers_size: zero,
        busy_buffers_size: zero,
        connect_timeout: zero,
    };
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| {
        let number = |reader: &mut Reader<'d, 'a>| {
            reader.unsigned(value, path).unwrap_or(Spot { value: 0, place: value.place })
        };
        match key.value {
            "buffering_disable" => {
                proxy.buffering_disable =
                    reader.boolean(value, path).is_some_and(|flag| flag.value);
            }
            "buffer_size" => proxy.buffer_size = number(reader),
            "buffers_number" => proxy.buffers_number = number(reader),
            "buffers_size" => proxy.buffers_size = number(reader),
            "busy_buffers_size" => proxy.busy_buffers_size = number(reader),
            "connect_timeout" => proxy.connect_timeout = number(reader),
            _ => reader.unknown_key(
                key,
                path,
                "buffering_disable, buffer_size, buffers_number, buffers_size, busy_buffers_size, \
                 connect_timeout",
            ),
        }
    });
    is_mapping.then_some(proxy)
}

#[cfg(test)]
mod tests {
    use super::{TimeoutProblem, could_be_host, milliseconds};

    #[test]
    fn timeouts_have_a_unit_or_are_milliseconds() {
        for (text, wanted) in [
            ("0", Ok(0)),
            ("60000", Ok(60_000)),
            ("1ms", Ok(1)),
            ("90s", Ok(90_000)),
            ("5m", Ok(300_000)),
            ("1h", Ok(3_600_000)),
            ("4294967295", Ok(u32::MAX)),
            ("4294967296", Err(TimeoutProblem::TooLarge)),
            ("1194h", Err(TimeoutProblem::TooLarge)),
            ("99999999999999999999999999999999999999999h", Err(TimeoutProblem::TooLarge)),
            ("", Err(TimeoutProblem::Form)),
            ("s", Err(TimeoutProblem::Form)),
            ("1h30m", Err(TimeoutProblem::Form)),
            ("1.5h", Err(TimeoutProblem::Form)),
            ("-1", Err(TimeoutProblem::Form)),
            ("+1", Err(TimeoutProblem::Form)),
            ("1 s", Err(TimeoutProblem::Form)),
            ("1d", Err(TimeoutProblem::Form)),
            ("1é", Err(TimeoutProblem::Form)),
        ] {
            assert_eq!(milliseconds(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn hosts_that_could_be_part_of_a_url() {
        for host in ["example.com", "*.example.com", "a_b", "host:8080", "", "UPPER.case"] {
            assert!(could_be_host(host), "{host}");
        }
        for host in ["two words", "host:port", "a\tb", "<script>"] {
            assert!(!could_be_host(host), "{host}");
        }
    }
}
