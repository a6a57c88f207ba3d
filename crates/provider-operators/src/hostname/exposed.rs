//! The ports that a lease opens to the world, and how they are to be served.

use akash_types::LeaseId;
use provider_crd::Manifest;
use provider_crd::manifest::{Expose, ReadError};

/// What the Go operator takes when a `Manifest` says nothing about HTTP, as old ones do not.
const DEFAULTS: (u32, u32, u32) = (1_048_576, 60_000, 3);

/// What a lease's `Manifest` says about its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposedPorts {
    pub lease: LeaseId,
    services: Vec<Service>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Service {
    name: String,
    runs: bool,
    ports: Vec<Port>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    number: u32,
    hosts: Vec<String>,
    options: HttpOptions,
}

/// How requests are passed on. Times are in milliseconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// The largest body of a request.
    pub max_body_size: u32,
    /// How long the service may be silent.
    pub read_timeout: u32,
    /// How long the service may take nothing.
    pub send_timeout: u32,
    /// How often a request is tried.
    pub next_tries: u32,
    /// For how long; 0 for no limit.
    pub next_timeout: u32,
    pub next_cases: Vec<String>,
    /// How answers are buffered.
    pub proxy: ProxyOptions,
}

/// How answers are buffered; 0 leaves it to the proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// Whether answers are passed on as they come.
    pub buffering_disable: bool,
    /// The buffer for the first part of an answer.
    pub buffer_size: u32,
    /// How many buffers there are for the rest.
    pub buffers_number: u32,
    pub buffers_size: u32,
    /// How much of them may be busy while the rest is read.
    pub busy_buffers_size: u32,
    /// How long to wait for a connection, in milliseconds.
    pub connect_timeout: u32,
}

/// Why a port is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    #[error("the lease runs no service of this name")]
    Service,
    #[error("the service does not open this port to the world")]
    Port,
}

impl ExposedPorts {
    /// What a `Manifest` says.
    ///
    /// When it names no lease; others are read nevertheless.
    pub fn of(manifest: &Manifest) -> Result<Self, ReadError> {
        let services = manifest.spec.group.services.iter().map(|service| Service {
            name: service.name.clone(),
            runs: service.count > 0,
            ports: service.expose.iter().filter(|expose| expose.global).map(port).collect(),
        });
        Ok(Self { lease: manifest.lease()?, services: services.collect() })
    }

    /// How a port of a service is to be served: as the first one says that is seen so from outside.
    pub fn port(&self, service: &str, number: u32) -> Result<&HttpOptions, Closed> {
        let named = |it: &&Service| it.name == service && it.runs;
        let service = self.services.iter().find(named).ok_or(Closed::Service)?;
        let port = service.ports.iter().find(|port| port.number == number);
        port.map(|port| &port.options).ok_or(Closed::Port)
    }

    /// Whether the tenant asked for this hostname.
    pub fn asks_for(&self, host: &str) -> bool {
        let mut ports = self.services.iter().flat_map(|service| &service.ports);
        ports.any(|port| port.hosts.iter().any(|asked| asked.eq_ignore_ascii_case(host)))
    }
}

fn port(expose: &Expose) -> Port {
    let number = if expose.external_port == 0 { expose.port } else { expose.external_port };
    let given = &expose.http_options;
    let proxy = given.proxy.as_ref().map(|given| ProxyOptions {
        buffering_disable: given.buffering_disable,
        buffer_size: given.buffer_size,
        buffers_number: given.buffers_number,
        buffers_size: given.buffers_size,
        busy_buffers_size: given.busy_buffers_size,
        connect_timeout: given.connect_timeout,
    });
    let proxy = proxy.unwrap_or_default();
    let options = if given.max_body_size == 0 {
        HttpOptions { proxy, ..HttpOptions::default() }
    } else {
        HttpOptions {
            max_body_size: given.max_body_size,
            read_timeout: given.read_timeout,
            send_timeout: given.send_timeout,
            next_tries: given.next_tries,
            next_timeout: given.next_timeout,
            next_cases: given.next_cases.clone(),
            proxy,
        }
    };
    Port { number: number.into(), hosts: expose.hosts.clone(), options }
}

impl Default for HttpOptions {
    fn default() -> Self {
        let (max_body_size, timeout, next_tries) = DEFAULTS;
        Self {
            max_body_size,
            read_timeout: timeout,
            send_timeout: timeout,
            next_tries,
            next_timeout: timeout,
            next_cases: vec!["error".to_owned(), "timeout".to_owned()],
            proxy: ProxyOptions::default(),
        }
    }
}
