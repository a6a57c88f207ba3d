//! Bodies of requests, not too large, not too slow, and counted as they arrive.
//!
//! JSON takes many times its size once it is read: `[0,0,…` has a value for every two bytes. So its
//! values are counted while it arrives, a document with too many is refused before anything is made
//! of it, and what they will take is counted with the bytes.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt;
use provider_api::error::ErrorCode;

use super::Readable;
use super::failure::Failure;
use crate::places::Held;

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

/// Reads a body whole. `held` keeps what it weighs.
pub(super) async fn read<B: Readable>(
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
