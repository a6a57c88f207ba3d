//! YAML as the Go program writes it: two spaces, lists not indented, keys sorted.
//!
//! One thing differs: long lines are not folded, which means the same to every reader.

use crate::Document;

pub(crate) fn render(document: &Document) -> String {
    let mut out = String::new();
    match document {
        Document::List(items) if !items.is_empty() => put_list(items, 0, false, &mut out),
        Document::Map(entries) if !entries.is_empty() => put_map(entries, 0, false, &mut out),
        other => {
            out.push_str(&inline(other));
            out.push('\n');
        }
    }
    out
}

/// The text of a key in YAML, from the space after its colon to the end of its last line; further
/// lines are indented by `indent` spaces.
pub fn value(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let lines = text.strip_suffix('\n').unwrap_or(text);
    // One line with its end is written as lines are, too.
    if is_block(text) || (lines.len() < text.len() && is_block(&format!("{lines}\n-"))) {
        put_block(text, indent, &mut out);
    } else {
        out.push_str(&format!(" {}\n", scalar(text)));
    }
    out
}

/// `started`: the first line has its indentation already, from the dash of a list.
fn put_map(entries: &[(String, Document)], indent: usize, mut started: bool, out: &mut String) {
    let mut sorted: Vec<&(String, Document)> = entries.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    for (key, value) in sorted {
        if !std::mem::take(&mut started) {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(&scalar(key));
        out.push(':');
        match value {
            Document::List(items) if !items.is_empty() => {
                out.push('\n');
                put_list(items, indent, false, out);
            }
            Document::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                put_map(entries, indent + 2, false, out);
            }
            Document::Text(text) if is_block(text) => put_block(text, indent + 2, out),
            other => out.push_str(&format!(" {}\n", inline(other))),
        }
    }
}

fn put_list(items: &[Document], indent: usize, mut started: bool, out: &mut String) {
    for item in items {
        if !std::mem::take(&mut started) {
            out.push_str(&" ".repeat(indent));
        }
        out.push('-');
        match item {
            Document::List(items) if !items.is_empty() => {
                out.push(' ');
                put_list(items, indent + 2, true, out);
            }
            Document::Map(entries) if !entries.is_empty() => {
                out.push(' ');
                put_map(entries, indent + 2, true, out);
            }
            Document::Text(text) if is_block(text) => put_block(text, indent + 2, out),
            other => out.push_str(&format!(" {}\n", inline(other))),
        }
    }
}

/// Text of several lines, as it is.
fn put_block(text: &str, indent: usize, out: &mut String) {
    let body = text.strip_suffix('\n');
    // Without a mark there is one line end after the text; with `-` none.
    out.push_str(if body.is_some() { " |\n" } else { " |-\n" });
    for line in body.unwrap_or(text).split('\n') {
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Whether lines can be written as they are: a first one that is indented, an empty last one or a
/// character that cannot be seen would be read as something else.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && !text.chars().any(|c| c != '\n' && !is_printable(c))
}

fn inline(document: &Document) -> String {
    match document {
        Document::Null => "null".to_owned(),
        Document::Bool(value) => value.to_string(),
        Document::Number(digits) => digits.clone(),
        Document::Text(text) => scalar(text),
        Document::List(_) => "[]".to_owned(),
        Document::Map(_) => "{}".to_owned(),
    }
}

/// A text on one line: plain where no reader takes it for something else.
fn scalar(text: &str) -> String {
    if text.chars().any(|c| !is_printable(c)) || reads_as_other(text) {
        return double_quoted(text);
    }
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether a plain text would be read as a number, a truth value, null or a time.
fn reads_as_other(text: &str) -> bool {
    const WORDS: [&str; 11] =
        ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let lower = text.to_ascii_lowercase();
    let unsigned = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
    WORDS.contains(&lower.as_str())
        || matches!(text, "<<" | "=")
        || matches!(unsigned, ".inf" | ".nan")
        || is_number(&unsigned.replace('_', ""))
        || is_date(text)
}

/// Numbers of any base, 60 included, and with exponents.
fn is_number(text: &str) -> bool {
    let all =
        |digits: &str, is: fn(&char) -> bool| !digits.is_empty() && digits.chars().all(|c| is(&c));
    let decimal = |digits: &str| all(digits, char::is_ascii_digit);
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, char::is_ascii_hexdigit);
    }
    if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0o")) {
        return decimal(digits);
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let either = decimal(whole) && (places.is_empty() || decimal(places));
    let number = either || (whole.is_empty() && decimal(places));
    let sixties = whole.contains(':') && whole.split(':').all(decimal);
    (number && decimal(exponent)) || sixties
}

/// `2026-11-15`, and whatever follows it.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let day = rest.split(['t', 'T', ' ']).next().unwrap_or_default();
    year.len() == 4 && digits(year, 4) && digits(month, 2) && digits(day, 2)
}

fn is_plain(text: &str) -> bool {
    const INDICATORS: &str = "#,[]{}&*!|>'\"%@`";
    let first = text.chars().next().unwrap_or(' ');
    let dashed =
        matches!(first, '-' | '?' | ':') && text.chars().nth(1).is_none_or(|second| second == ' ');
    !INDICATORS.contains(first)
        && !dashed
        && !text.starts_with(' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xff => out.push_str(&format!("\\x{:02X}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_looks_as_go_prints_it() {
        let document: Document = serde_json::json!({
            "owner": "akash1x",
            "dseq": "101",
            "attributes": [{"value": "us-west", "key": "region"}, {"key": "a", "value": ""}],
            "info": {"website": "https://example.com", "email": ""},
            "empty": [],
            "none": null,
            "count": 1,
        })
        .into();
        assert_eq!(
            document.to_yaml(),
            "attributes:
- key: region
  value: us-west
- key: a
  value: \"\"
count: 1
dseq: \"101\"
empty: []
info:
  email: \"\"
  website: https://example.com
none: null
owner: akash1x
"
        );
    }

    #[test]
    fn texts_are_quoted_where_they_would_be_read_as_something_else() {
        for (text, wanted) in [
            ("plain text", "plain text"),
            ("1.5", "\"1.5\""),
            ("0x1f", "\"0x1f\""),
            ("1_000", "\"1_000\""),
            ("12:30", "\"12:30\""),
            ("2026-11-15", "\"2026-11-15\""),
            ("2026-11-15T18:53:13Z", "\"2026-11-15T18:53:13Z\""),
            ("1e5", "\"1e5\""),
            (".5", "\".5\""),
            ("-7", "\"-7\""),
            ("122D0A2B", "122D0A2B"),
            ("1.2.3", "1.2.3"),
            ("true", "\"true\""),
            ("No", "\"No\""),
            ("n", "\"n\""),
            ("1/1/akash1x", "1/1/akash1x"),
            ("3600s", "3600s"),
            ("{\"@type\":\"x\"}", "'{\"@type\":\"x\"}'"),
            ("a: b", "'a: b'"),
            ("- a", "'- a'"),
            ("it's", "it's"),
            ("'q", "'''q'"),
            ("tab\there", "\"tab\\there\""),
            ("/akash.market.v1beta5.MsgCreateBid", "/akash.market.v1beta5.MsgCreateBid"),
        ] {
            assert_eq!(scalar(text), wanted);
        }
    }

    #[test]
    fn lines_stay_lines() {
        let document = Document::map([
            ("a", Document::text("one\ntwo\n")),
            ("b", Document::text("one\ntwo")),
            ("c", Document::text(" one\ntwo")),
        ]);
        assert_eq!(
            document.to_yaml(),
            "a: |\n  one\n  two\nb: |-\n  one\n  two\nc: \" one\\ntwo\"\n"
        );
    }
}
