//! The strategy `shellScript`: what a program of the operator is asked, and how its answer is read.
//!
//! Running it is somebody else's work. Whatever goes wrong, there is no bid.

use std::fmt::Write;

use akash_types::{Address, Dec, DecCoin, GpuModel, GroupSpec, ResourceOffer, Resources};

use super::PriceError;
use super::scale::EPHEMERAL;
use crate::inventory::leased_ips;

/// Places that a script is asked to round to.
const PRICE_PRECISION: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRequest {
    /// What it reads: a line of JSON.
    pub stdin: String,
    /// Variables that are set for it besides those of this process.
    pub environment: [(&'static str, String); 2],
}

impl ScriptRequest {
    /// Asks for the price of what is offered to `owner`: with the cards that were chosen, and the
    /// most that the group pays.
    pub fn new(owner: &Address, offer: &[ResourceOffer], most: &DecCoin) -> Self {
        let mut json = String::from("{\"resources\":[");
        for (index, offer) in offer.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            push_resources(&mut json, &offer.resources, offer.count);
        }
        json.push_str("],\"price\":{\"denom\":");
        push_text(&mut json, most.denom().as_str());
        let amount = most.amount();
        push(&mut json, format_args!(",\"amount\":\"{amount}\"}},"));
        push(&mut json, format_args!("\"price_precision\":{PRICE_PRECISION}}}\n"));
        let environment =
            [("AKASH_OWNER", owner.to_string()), ("AKASH_DENOM", most.denom().to_string())];
        Self { stdin: json, environment }
    }
}

fn push_resources(json: &mut String, resources: &Resources, count: u32) {
    let (memory, cpu) = (resources.memory.quantity, resources.cpu.units);
    push(json, format_args!("{{\"memory\":{memory},\"cpu\":{cpu},\"gpu\":"));
    push_gpu(json, &resources.gpu);
    json.push_str(",\"storage\":[");
    for (index, volume) in resources.storage.iter().enumerate() {
        json.push_str(if index > 0 { ",{\"class\":" } else { "{\"class\":" });
        push_text(json, volume.class().unwrap_or(EPHEMERAL));
        push(json, format_args!(",\"size\":{}}}", volume.quantity));
    }
    let (endpoints, ips) = (resources.endpoints.len(), leased_ips(&resources.endpoints));
    push(json, format_args!("],\"count\":{count},\"endpoint_quantity\":{endpoints},"));
    push(json, format_args!("\"ip_lease_quantity\":{ips}}}"));
}

fn push_gpu(json: &mut String, gpu: &akash_types::Gpu) {
    push(json, format_args!("{{\"units\":{},\"attributes\":{{", gpu.units));
    // An offer names the one card that was chosen, so that it is the one that is priced.
    if let Some(card) = gpu.requests().ok().and_then(|mut requests| requests.pop()) {
        push(json, format_args!("\"vendor\":{{\"{}\":{{\"model\":", card.vendor.as_str()));
        push_text(
            json,
            match &card.model {
                GpuModel::Any => "*",
                GpuModel::Named(name) => name,
            },
        );
        if let Some(gib) = card.ram_gib {
            push(json, format_args!(",\"ram\":\"{gib}Gi\""));
        }
        if let Some(interface) = card.interface {
            push(json, format_args!(",\"interface\":\"{}\"", interface.as_str()));
        }
        json.push_str("}}");
    }
    json.push_str("}}");
}

fn push(json: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = json.write_fmt(text);
}

/// A JSON text as Go writes it: `<`, `>` and `&` escaped too.
fn push_text(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                push(json, format_args!("\\u{:04x}", u32::from(character)));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    #[error("the price script could not be run: {0}")]
    NotRun(String),
    #[error("the price script took longer than its limit")]
    TimedOut,
    #[error("the price script ended with {status}: {stderr}")]
    Failed {
        /// How it ended, such as `exit code 1`.
        status: String,
        /// What it wrote to standard error, shortened.
        stderr: String,
    },
}

/// Reads what a script printed: a decimal above zero with at most 18 places, white space around it.
pub fn read_script_output(group: &GroupSpec, stdout: &[u8]) -> Result<DecCoin, PriceError> {
    let quoted = || String::from_utf8_lossy(stdout).trim().chars().take(80).collect();
    let text = std::str::from_utf8(stdout).map_err(|_| PriceError::Output { text: quoted() })?;
    let price: Dec = text.trim().parse().map_err(|_| PriceError::Output { text: quoted() })?;
    if price.is_negative() {
        return Err(PriceError::Negative { price });
    }
    if price.is_zero() {
        return Err(PriceError::Zero);
    }
    super::in_denom_of(group, price)
}
