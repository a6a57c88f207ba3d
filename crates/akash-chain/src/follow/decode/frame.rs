//! A frame of the WebSocket.

use std::borrow::Cow;

use serde::Deserialize;

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The subscription is accepted.
    Subscribed,
    /// There is a block of this height.
    Block(u64),
    /// The node refuses, or has ended the subscription.
    Refused(String),
    /// Something else.
    Other,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    result: Option<Result<'a>>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Result<'a> {
    #[serde(borrow)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    value: Option<Value<'a>>,
}

#[derive(Deserialize)]
struct Value<'a> {
    #[serde(borrow)]
    header: Option<Header<'a>>,
}

#[derive(Deserialize)]
struct Header<'a> {
    #[serde(borrow)]
    height: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<String>,
}

/// Reads a frame. What has another shape is [`Frame::Other`]: a sign of life, and nothing more.
pub fn read_frame(text: &str) -> Frame {
    let Ok(wire) = serde_json::from_str::<Wire<'_>>(text) else { return Frame::Other };
    if let Some(Refusal { message, data }) = wire.error {
        return Frame::Refused(data.filter(|data| !data.is_empty()).unwrap_or(message));
    }
    let Some(result) = wire.result else { return Frame::Other };
    let Some(data) = result.data else { return Frame::Subscribed };
    let header = data.value.and_then(|value| value.header);
    let height = header.and_then(|header| header.height.parse().ok());
    height.map_or(Frame::Other, Frame::Block)
}
