//! Arguments of methods, from JSON or from the query of a URL, by CometBFT's rules.

use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole number, as text.
    Int,
    /// Bytes: base64 in JSON.
    Bytes,
    /// Bytes: hexadecimal in JSON.
    Hex,
    Text,
    Flag,
}

/// An argument of a method: its name and kind.
pub(super) type Spec = (&'static str, Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Arg {
    Absent,
    Int(i64),
    Bytes(Vec<u8>),
    Text(String),
    Flag(bool),
}

/// The arguments of a call, in the order of the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Args(Vec<Arg>);

impl Args {
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn int(&self, index: usize) -> Option<i64> {
        match self.0.get(index) {
            Some(Arg::Int(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        match self.0.get(index) {
            Some(Arg::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    pub(super) fn text(&self, index: usize) -> &str {
        match self.0.get(index) {
            Some(Arg::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn flag(&self, index: usize) -> bool {
        matches!(self.0.get(index), Some(Arg::Flag(true)))
    }

    /// Arguments as an object by name, or as a list of all of them.
    pub(super) fn from_json(specs: &[Spec], params: &RawValue) -> Result<Self, String> {
        if let Ok(named) = serde_json::from_str::<HashMap<String, &RawValue>>(params.get()) {
            let arg = |&(name, kind): &Spec| {
                named.get(name).map_or(Ok(Arg::Absent), |raw| json_arg(kind, raw.get()))
            };
            return Ok(Self(specs.iter().map(arg).collect::<Result<_, _>>()?));
        }
        let list: Vec<&RawValue> = serde_json::from_str(params.get())
            .map_err(|why| format!("unknown type for JSON params: {why}. Expected map or array"))?;
        if list.len() != specs.len() {
            let names: Vec<&str> = specs.iter().map(|(name, _)| *name).collect();
            let given: Vec<&str> = list.iter().map(|raw| raw.get()).collect();
            return Err(format!(
                "expected {} parameters ([{}]), got {} ([{}])",
                specs.len(),
                names.join(" "),
                list.len(),
                given.join(" ")
            ));
        }
        let arg = |(&(_, kind), raw): (&Spec, &&RawValue)| json_arg(kind, raw.get());
        Ok(Self(specs.iter().zip(&list).map(arg).collect::<Result<_, _>>()?))
    }

    /// Arguments from the query of a URL. An empty one counts as absent.
    pub(super) fn from_uri(
        specs: &[Spec],
        query: &HashMap<String, String>,
    ) -> Result<Self, String> {
        let arg = |&(name, kind): &Spec| match query.get(name).map_or("", String::as_str) {
            "" => Ok(Arg::Absent),
            text => uri_arg(kind, text),
        };
        Ok(Self(specs.iter().map(arg).collect::<Result<_, _>>()?))
    }
}

fn json_arg(kind: Kind, json: &str) -> Result<Arg, String> {
    if json == "null" {
        return Ok(Arg::Absent);
    }
    let text = || serde_json::from_str::<String>(json).map_err(|error| error.to_string());
    Ok(match kind {
        Kind::Int => {
            let quoted = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let digits = quoted.ok_or_else(|| {
                format!("invalid 64-bit integer encoding {json:?}, expected string")
            })?;
            let wrong =
                |_| format!("json: cannot unmarshal number {digits} into Go value of type int64");
            Arg::Int(digits.parse().map_err(wrong)?)
        }
        Kind::Bytes => Arg::Bytes(BASE64_STANDARD.decode(text()?).map_err(|_| illegal_base64())?),
        Kind::Hex => Arg::Bytes(decode_hex(&text()?)?),
        Kind::Text => Arg::Text(text()?),
        Kind::Flag => Arg::Flag(serde_json::from_str(json).map_err(|error| error.to_string())?),
    })
}

fn uri_arg(kind: Kind, text: &str) -> Result<Arg, String> {
    if kind == Kind::Int && is_whole(text) {
        return json_arg(kind, &format!("\"{text}\""));
    }
    let prefixed = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    if prefixed {
        let bytes = decode_hex(text.get(2..).unwrap_or_default());
        return match kind {
            Kind::Int => Err("got a hex string arg, but expected 'int64'".to_owned()),
            Kind::Flag => Err("got a hex string arg, but expected 'bool'".to_owned()),
            Kind::Text => Ok(Arg::Text(String::from_utf8_lossy(&bytes?).into_owned())),
            Kind::Bytes | Kind::Hex => Ok(Arg::Bytes(bytes?)),
        };
    }
    let quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    if quoted && matches!(kind, Kind::Bytes | Kind::Hex) {
        let text: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(Arg::Bytes(text.into_bytes()));
    }
    json_arg(kind, text)
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn decode_hex(text: &str) -> Result<Vec<u8>, String> {
    hex::decode(text).map_err(|error| match error {
        hex::FromHexError::OddLength => "encoding/hex: odd length hex string".to_owned(),
        hex::FromHexError::InvalidHexCharacter { c, .. } => {
            format!("encoding/hex: invalid byte: U+{:04X} {c:?}", u32::from(c))
        }
        error => format!("encoding/hex: {error}"),
    })
}

fn illegal_base64() -> String {
    "illegal base64 data".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: [Spec; 5] = [
        ("height", Kind::Int),
        ("tx", Kind::Bytes),
        ("data", Kind::Hex),
        ("path", Kind::Text),
        ("prove", Kind::Flag),
    ];

    fn json(params: &str) -> Result<Args, String> {
        Args::from_json(&SPECS, &RawValue::from_string(params.to_owned()).unwrap())
    }

    fn uri(name: &str, value: &str) -> Result<Args, String> {
        let query = HashMap::from([(name.to_owned(), value.to_owned())]);
        Args::from_uri(&SPECS, &query)
    }

    #[test]
    fn json_arguments_by_name_and_by_place() {
        let args = json(r#"{"height":"5","tx":"AQI=","data":"0aff","path":"/p","prove":true}"#);
        let args = args.unwrap();
        assert_eq!(
            (args.int(0), args.bytes(1), args.bytes(2)),
            (Some(5), &[1, 2][..], &[10, 255][..])
        );
        assert_eq!((args.text(3), args.flag(4)), ("/p", true));
        assert_eq!(json(r#"["5","AQI=","0aff","/p",true]"#).unwrap(), args);
        let none = json("{}").unwrap();
        assert_eq!(
            (none.int(0), none.bytes(1), none.text(3), none.flag(4)),
            (None, &[][..], "", false)
        );
        assert_eq!(json(r#"{"height":null}"#).unwrap(), none);
    }

    #[test]
    fn wrong_json_arguments_are_refused_as_cometbft_refuses_them() {
        let number = json(r#"{"height":5}"#).unwrap_err();
        assert_eq!(number, r#"invalid 64-bit integer encoding "5", expected string"#);
        let few = json(r#"["5"]"#).unwrap_err();
        assert_eq!(few, r#"expected 5 parameters ([height tx data path prove]), got 1 (["5"])"#);
        assert!(json("7").unwrap_err().ends_with("Expected map or array"));
        assert!(json(r#"{"tx":"%"}"#).is_err() && json(r#"{"data":"xyz"}"#).is_err());
        assert!(json(r#"{"height":"x"}"#).is_err() && json(r#"{"path":5}"#).is_err());
    }

    #[test]
    fn arguments_in_a_url_follow_cometbfts_quoting() {
        assert_eq!(uri("height", "5").unwrap().int(0), Some(5));
        assert_eq!(uri("height", "\"5\"").unwrap().int(0), Some(5));
        assert_eq!(uri("height", "").unwrap().int(0), None);
        assert_eq!(uri("tx", "0x0102").unwrap().bytes(1), [1, 2]);
        assert_eq!(uri("tx", "\"ab\"").unwrap().bytes(1), b"ab");
        assert_eq!(uri("data", "0X0a").unwrap().bytes(2), [10]);
        assert_eq!(uri("path", "\"/p\"").unwrap().text(3), "/p");
        assert_eq!(uri("path", "0x2f70").unwrap().text(3), "/p");
        assert!(uri("prove", "true").unwrap().flag(4));
        assert_eq!(uri("height", "0x5").unwrap_err(), "got a hex string arg, but expected 'int64'");
        assert!(uri("path", "bare").is_err() && uri("tx", "0x0").is_err());
        assert!(uri("height", "five").is_err() && uri("prove", "maybe").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_argument_breaks_the_reader(name in 0..5_usize, value in ".{0,20}") {
            let (name, _) = SPECS[name];
            let _ = uri(name, &value);
        }
    }
}
