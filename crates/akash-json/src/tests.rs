//! Printing and reading, against what nodes and the Go program wrote and against each other.

use akash_proto::cosmos::tx::v1beta1::{AuthInfo, TxBody, TxRaw};
use akash_types::Dec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::{ProptestConfig, any as arbitrary, prop_assert_eq, proptest};
use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};
use prost_types::{Any, Duration, Timestamp};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::print::duration;
use super::*;

const RECORDED: &str = include_str!("../../../fixtures/chain/grpc.jsonl");

#[derive(Deserialize)]
struct Call {
    name: String,
    method: String,
    code: u32,
    #[serde(default)]
    response_b64: String,
    rest_json: Option<Box<RawValue>>,
}

/// JSON without the spaces between its tokens.
fn compact(json: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in json.chars() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if !c.is_whitespace() {
            out.push(c);
            quoted = c == '"';
        }
    }
    out
}

#[test]
fn every_recorded_answer_is_what_the_node_printed() {
    let mut compared = 0;
    for line in RECORDED.lines() {
        let call: Call = serde_json::from_str(line).unwrap();
        // The node's own versions of CometBFT's messages are not ours to print.
        if call.code != 0 || call.method.starts_with("/cosmos.base.tendermint.") {
            continue;
        }
        // Not all of them are served as REST too.
        let Some(wanted) = call.rest_json.filter(|json| !json.get().starts_with("{\"code\""))
        else {
            continue;
        };
        let bytes = STANDARD.decode(&call.response_b64).unwrap();
        let printed = answer(&call.method, &bytes).unwrap().to_json();
        assert_eq!(printed, compact(wanted.get()), "{}", call.name);
        compared += 1;
    }
    assert!(compared >= 18, "{compared}");
}

#[test]
fn recorded_transactions_print_as_they_were_generated() {
    let recorded = include_str!("../../../fixtures/chain/tx-closebid-ok.json");
    let recorded: serde_json::Value = serde_json::from_str(recorded).unwrap();
    let raw = STANDARD.decode(recorded["tx_raw_b64"].as_str().unwrap()).unwrap();
    let raw = akash_proto::cosmos::tx::v1beta1::TxRaw::decode(raw.as_slice()).unwrap();
    let body = akash_proto::cosmos::tx::v1beta1::TxBody::decode(raw.body_bytes.as_slice()).unwrap();
    let printed: serde_json::Value =
        serde_json::from_str(&message(&body).unwrap().to_json()).unwrap();
    assert_eq!(printed, recorded["tx_json"]["body"]);
}

#[test]
fn spans_and_unknown_messages_have_their_form() {
    let span = |seconds, nanos| duration(&Duration { seconds, nanos });
    assert_eq!(span(3600, 0), Document::text("3600s"));
    assert_eq!(span(1, 500_000_000), Document::text("1.500s"));
    assert_eq!(span(0, 1), Document::text("0.000000001s"));
    assert_eq!(span(-1, -500_000), Document::text("-1.000500s"));
    let unknown = Any { type_url: "/x.Y".to_owned(), value: vec![1] };
    assert_eq!(super::any(&unknown).to_json(), r#"{"@type":"/x.Y","value":"AQ=="}"#);
}

#[test]
fn recorded_transactions_are_read_to_the_bytes_that_were_signed() {
    for recorded in [
        include_str!("../../../fixtures/chain/tx-closebid-ok.json"),
        include_str!("../../../fixtures/chain/tx-createbid-ok.json"),
    ] {
        let recorded: serde_json::Value = serde_json::from_str(recorded).unwrap();
        let raw = STANDARD.decode(recorded["tx_raw_b64"].as_str().unwrap()).unwrap();
        let raw = TxRaw::decode(raw.as_slice()).unwrap();
        let body: TxBody = read(&recorded["tx_json"]["body"]).unwrap();
        assert_eq!(body.encode_to_vec(), raw.body_bytes);
        // It was printed before it was signed.
        let auth_info: AuthInfo = read(&recorded["tx_json"]["auth_info"]).unwrap();
        let signed = AuthInfo::decode(raw.auth_info_bytes.as_slice()).unwrap();
        assert_eq!(auth_info, AuthInfo { signer_infos: Vec::new(), ..signed });
    }
}

#[test]
fn what_is_not_the_message_is_refused_with_its_place() {
    let send = |key: &str, value: serde_json::Value| {
        let mut message = json!({"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": "a"});
        message[key] = value;
        read::<TxBody>(&json!({"messages": [message]})).unwrap_err().to_string()
    };
    for (key, value, wanted) in [
        ("amounts", json!([]), "messages[0]: cosmos.bank.v1beta1.MsgSend has no field \"amounts\""),
        ("amount", json!({}), "messages[0].amount: expected a list, found an object"),
        ("amount", json!([1]), "messages[0].amount[0]: expected an object, found a number"),
        ("amount", json!([{"denom": 1}]), "messages[0].amount[0].denom: expected a text"),
        ("fromAddress", json!("b"), "messages[0]: \"from_address\" is there under two names"),
        ("@type", json!("/x.Y"), "messages[0]: messages of type \"/x.Y\" are not known"),
        ("@type", json!(null), "messages[0].@type: expected a text, found null"),
    ] {
        let error = send(key, value);
        assert!(error.starts_with(wanted), "{error}\n{wanted}");
    }
    for (field, value) in [
        ("timeout_height", json!("-1")),
        ("timeout_height", json!(1.5)),
        ("timeout_height", json!("18446744073709551616")),
        ("timeout_height", json!(true)),
        ("timeout_timestamp", json!("yesterday")),
        ("unordered", json!("true")),
        ("messages", json!([{}])),
        ("messages", json!([null])),
    ] {
        assert!(read::<TxBody>(&json!({field: value.clone()})).is_err(), "{field}: {value}");
    }
    assert!(read::<TxBody>(&json!([])).is_err());
    assert_eq!(read::<TxBody>(&json!({"timeoutHeight": 7})).unwrap().timeout_height, 7);
    assert_eq!(read::<TxBody>(&json!({"timeout_height": null})).unwrap().timeout_height, 0);
}

#[test]
fn one_of_several_is_one() {
    let mode = json!({"single": {"mode": "SIGN_MODE_DIRECT"}, "multi": {}});
    let error = read::<AuthInfo>(&json!({"signer_infos": [{"mode_info": mode}]})).unwrap_err();
    assert!(error.to_string().contains("of which one is allowed"), "{error}");
}

/// All messages of the chain. What a provider says of itself is not on it, and has quantities of
/// Kubernetes, which tell an empty text from none.
fn descriptors() -> Vec<MessageDescriptor> {
    let on_chain = |message: &MessageDescriptor| match message.full_name().split_once('.') {
        Some(("akash", rest)) => {
            !["provider.v1.", "inventory."].iter().any(|p| rest.starts_with(p))
        }
        Some((first, _)) => first == "cosmos",
        None => false,
    };
    pool().unwrap().all_messages().filter(on_chain).collect()
}

/// Makes messages out of numbers, for as long as there are any.
struct Maker<'a>(std::slice::Iter<'a, u64>);

impl Maker<'_> {
    fn next(&mut self) -> u64 {
        self.0.next().copied().unwrap_or_default()
    }

    fn message(&mut self, descriptor: &MessageDescriptor, depth: u32) -> DynamicMessage {
        let mut message = DynamicMessage::new(descriptor.clone());
        for field in descriptor.fields() {
            let wanted = self.next();
            // A decimal that is not there prints as zero and comes back as one.
            let needed = DECIMALS.contains(&field.full_name());
            let too_deep = depth == 0 && matches!(field.kind(), Kind::Message(_));
            if (wanted.is_multiple_of(4) && !needed) || too_deep || field.is_map() {
                continue;
            }
            let value = match field.is_list() {
                true => Value::List((0..wanted % 3).map(|_| self.value(&field, depth)).collect()),
                false => self.value(&field, depth),
            };
            message.set_field(&field, value);
        }
        message
    }

    fn value(&mut self, field: &FieldDescriptor, depth: u32) -> Value {
        let number = self.next();
        let [.., low] = number.to_le_bytes().map(i32::from);
        match field.kind() {
            Kind::Bool => Value::Bool(number.is_multiple_of(2)),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(-low),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(u32::MAX - low.unsigned_abs()),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(number.cast_signed()),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(number),
            Kind::Float => Value::F32(0.0),
            Kind::Double => Value::F64(0.0),
            Kind::String if DECIMALS.contains(&field.full_name()) => {
                Value::String(Dec::from_wire(&number.to_string()).unwrap().to_wire())
            }
            Kind::String => Value::String(format!("{}\u{2028}\"<ü{number}", '\u{1}')),
            Kind::Bytes if DIGITS.contains(&field.full_name()) => {
                Value::Bytes(number.to_string().into_bytes().into())
            }
            Kind::Bytes => Value::Bytes(number.to_le_bytes().to_vec().into()),
            // Numbers without a name as well.
            Kind::Enum(_) => Value::EnumNumber(low),
            Kind::Message(descriptor) => Value::Message(self.inner(&descriptor, number, depth)),
        }
    }

    fn inner(&mut self, descriptor: &MessageDescriptor, number: u64, depth: u32) -> DynamicMessage {
        let seconds = i64::try_from(number % 200_000_000_000).unwrap();
        let nanos = i32::try_from(number % 1_000_000_000).unwrap();
        let bytes = match descriptor.full_name() {
            ANY => self.any(number, depth).encode_to_vec(),
            // Until the year 5138.
            TIMESTAMP => Timestamp { seconds: seconds / 2, nanos }.encode_to_vec(),
            DURATION => Duration { seconds: -seconds, nanos: -nanos }.encode_to_vec(),
            _ => return self.message(descriptor, depth - 1),
        };
        DynamicMessage::decode(descriptor.clone(), bytes.as_slice()).unwrap()
    }

    fn any(&mut self, number: u64, depth: u32) -> Any {
        let known = descriptors();
        let index = usize::try_from(number).unwrap() % (known.len() + 1);
        match known.get(index) {
            Some(descriptor) if depth > 0 => Any {
                type_url: format!("/{}", descriptor.full_name()),
                value: self.message(descriptor, depth - 1).encode_to_vec(),
            },
            _ => Any { type_url: "/x.Y".to_owned(), value: number.to_le_bytes().to_vec() },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_printed_is_read_back(
        kind in 0..descriptors().len(),
        numbers in proptest::collection::vec(arbitrary::<u64>(), 0..120),
    ) {
        let descriptor = descriptors().swap_remove(kind);
        let bytes = Maker(numbers.iter()).message(&descriptor, 4).encode_to_vec();
        let printed = print::decode(descriptor.clone(), &bytes).unwrap().to_json();
        let json = serde_json::from_str(&printed).unwrap();
        let read = read::encoded(descriptor, &json);
        prop_assert_eq!(read.map_err(|error| error.to_string()), Ok(bytes), "{}", printed);
    }

    #[test]
    fn no_json_makes_reading_panic(text in "\\PC{0,60}", number in arbitrary::<i64>()) {
        for value in [json!(text), json!(number), json!([text]), json!({ text: number })] {
            for field in ["messages", "memo", "timeout_height", "timeout_timestamp"] {
                let _ = read::<TxBody>(&json!({ field: value.clone() }));
            }
        }
    }
}
