//! What a provider that was started with `--metrics-listener` measures.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use anyhow::{Context, Result};

/// An address whose port was free a moment ago.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The value of a metric without labels.
pub fn metric(listener: SocketAddr, name: &str) -> Result<String> {
    let mut stream = TcpStream::connect(listener)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let values = page.lines().filter_map(|line| line.split_once(' '));
    let value = values.into_iter().find_map(|(of, value)| (of == name).then_some(value));
    value.map(|value| value.trim().to_owned()).with_context(|| format!("no {name} in: {page}"))
}
