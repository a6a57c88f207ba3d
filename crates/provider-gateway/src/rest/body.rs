//! Bodies of requests, not too large, not too slow, and counted as they arrive; and what is made of
//! them, a large one apart.
//!
//! JSON takes many times its size once it is read: `[0,0,…` has a value for every two bytes. So its
//! values are counted while it arrives, a document with too many is refused before anything is made
//! of it, and what they will take is counted with the bytes.

use std::time::Duration;

use akash_types::Address;
use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, StatusCode};
use http_body_util::BodyExt;
use provider_api::error::ErrorCode;
use provider_engine::cluster::port::Cluster;

use super::Readable;
use super::failure::Failure;
use crate::Gateway;
use crate::gateway::address_of;
use crate::places::Held;
use crate::port::Provider;

/// Bytes of a document that is read at once, where it arrived.
const LARGE_DOCUMENT: usize = 64 * 1024;
/// Most values in a JSON document. A service of a manifest has about a hundred.
const MOST_VALUES: usize = 32 * 1024;
/// What a value takes once it is read, in bytes.
const VALUE: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    /// Anything whose reader is bounded by the size of the text.
    Text,
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// Reads the body of a request of `account`, of at most `largest` bytes, and makes of it what
    /// `make` does. What the request weighs is counted until the second value is dropped.
    pub(super) async fn read_body<B: Readable, T: Send + 'static>(
        &self,
        account: Option<Address>,
        parts: &Parts,
        (body, kind, largest): (B, Kind, usize),
        make: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
    ) -> Result<(T, Held), Failure> {
        let mut held = self.held(account, &parts.extensions);
        let body = read(body, kind, largest, self.settings.body_patience, &mut held).await?;
        Ok((self.read_document(body, make).await?, held))
    }

    /// Nothing yet, for what a request of `account` will make this process hold. Who has a lease
    /// here does not share with those that have none.
    pub(crate) fn held(&self, account: Option<Address>, extensions: &Extensions) -> Held {
        let published = self.provider.published();
        let is_tenant = |account: &Address| {
            published.leases.iter().any(|lease| lease.alive && lease.id.owner() == *account)
        };
        match account.filter(is_tenant) {
            Some(account) => Held::Tenant(self.tenants.empty(account)),
            None => Held::Stranger(self.settings.strangers.held_for(address_of(extensions))),
        }
    }

    /// Makes sense of a body. A large one is read on a thread apart, one at a time: it takes many
    /// times its size, and long enough for others to notice.
    pub(crate) async fn read_document<T: Send + 'static>(
        &self,
        body: Bytes,
        read: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        if body.len() <= LARGE_DOCUMENT {
            return read(&body);
        }
        // Never closed.
        let _turn = self.reading.acquire().await;
        let read = tokio::task::spawn_blocking(move || read(&body)).await;
        read.unwrap_or_else(|_| {
            let text = "the document could not be read";
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Err(Failure::plain(status, ErrorCode::Internal, text))
        })
    }
}

/// Reads a body whole. `held` keeps what it weighs.
async fn read<B: Readable>(
    body: B,
    kind: Kind,
    largest: usize,
    patience: Duration,
    held: &mut Held,
) -> Result<Bytes, Failure> {
    let (mut seen, mut scan) = (0, JsonScan::default());
    read_until(body, patience, held, |read, held| {
        if read.len() > largest {
            return Err(too_large(largest));
        }
        if kind == Kind::Json {
            let before = scan.values;
            scan.push(read.get(seen..).unwrap_or_default());
            seen = read.len();
            if scan.values > MOST_VALUES {
                return Err(too_many_values(MOST_VALUES));
            }
            held.grow(scan.values.saturating_sub(before).saturating_mul(VALUE))?;
        }
        Ok(false)
    })
    .await
}

/// Reads a body until `is_enough`, or to its end. Nothing is allocated for what has not arrived.
pub(crate) async fn read_until<B: Readable>(
    body: B,
    patience: Duration,
    held: &mut Held,
    mut is_enough: impl FnMut(&[u8], &mut Held) -> Result<bool, Failure>,
) -> Result<Bytes, Failure> {
    let mut body = std::pin::pin!(body);
    let mut read = Vec::new();
    let reading = async {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let text = format!("reading the body: {}", error.into());
                Failure::plain(StatusCode::BAD_REQUEST, ErrorCode::BadBody, text)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            held.grow(data.len())?;
            // A quarter more than there is, and not twice as much.
            if read.capacity().saturating_sub(read.len()) < data.len() {
                read.reserve_exact(data.len().max(read.len() / 4));
            }
            read.extend_from_slice(&data);
            if is_enough(&read, held)? {
                break;
            }
        }
        Ok(())
    };
    match tokio::time::timeout(patience, reading).await {
        Ok(done) => done.map(|()| read.into()),
        Err(_) => {
            let text = format!("the body did not arrive within {} seconds", patience.as_secs());
            Err(Failure::plain(StatusCode::REQUEST_TIMEOUT, ErrorCode::BodyTooSlow, text))
        }
    }
}

pub(crate) fn too_large(largest: usize) -> Failure {
    let text = format!("the body has more than {largest} bytes");
    Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::BodyTooLarge, text)
}

pub(crate) fn too_many_values(most: usize) -> Failure {
    let text = format!("the body has more than {most} values");
    Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::BodyTooLarge, text)
}

/// Counts the values of a JSON document as it arrives: never fewer than a parser finds before it
/// gives up.
#[derive(Debug, Default)]
struct JsonScan {
    values: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl JsonScan {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_in_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_text = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.is_in_text = true,
                    // Every value but the outermost comes after one of these, or after the key of
                    // an entry that does.
                    b'[' | b'{' | b',' => self.values = self.values.saturating_add(1),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn below(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(|item| 1 + below(item)).sum(),
            Value::Object(entries) => entries.values().map(|entry| 1 + below(entry)).sum(),
            _ => 0,
        }
    }

    fn count(text: &str, piece: usize) -> usize {
        let mut scan = JsonScan::default();
        text.as_bytes().chunks(piece).for_each(|piece| scan.push(piece));
        scan.values
    }

    #[test]
    fn values_are_counted_wherever_the_text_is_cut() {
        let text = r#"[1, "a,[{\",\\", {"k\"": [], "l": {"m": null}}]"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value, json!([1, "a,[{\",\\", {"k\"": [], "l": {"m": null}}]));
        for piece in 1..text.len() {
            assert_eq!(count(text, piece), 7, "{piece}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[\\PC\\\\\"]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[\\PC\\\\\"]{0,4}", inner, 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_is_missed(value in any_json(), piece in 1..20_usize) {
            let text = value.to_string();
            prop_assert!(count(&text, piece) >= below(&value), "{text}");
        }
    }
}
