//! JSON as Go writes it.

use serde_json::Value;

use super::{Encoder, Keys};

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One line, keys sorted bytewise: the form that is hashed.
    Canonical,
    /// One line, keys as declared.
    Compact,
    /// Two spaces per level, keys as declared.
    Pretty,
}

/// Appends JSON to a buffer.
#[derive(Debug)]
pub(crate) struct JsonEncoder {
    out: Vec<u8>,
    layout: Layout,
    depth: usize,
    /// The key whose value comes next; written only when a value does come.
    pending_key: Option<&'static str>,
    /// Whether the current object or array has something in it already.
    has_items: bool,
}

impl JsonEncoder {
    pub(crate) fn new(layout: Layout, capacity: usize) -> Self {
        Self {
            out: Vec::with_capacity(capacity),
            layout,
            depth: 0,
            pending_key: None,
            has_items: false,
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// What comes before a value: a comma, a line break, the key.
    fn before_value(&mut self) {
        if self.depth > 0 {
            if self.has_items {
                self.out.push(b',');
            }
            self.line_break(self.depth);
        }
        self.has_items = true;
        if let Some(key) = self.pending_key.take() {
            self.out.push(b'"');
            self.out.extend_from_slice(key.as_bytes());
            self.out.extend_from_slice(if self.layout == Layout::Pretty {
                b"\": "
            } else {
                b"\":"
            });
        }
    }

    fn line_break(&mut self, depth: usize) {
        if self.layout == Layout::Pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * depth, b' ');
        }
    }

    fn nested(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Self)) {
        self.before_value();
        self.out.push(open);
        self.depth += 1;
        self.has_items = false;
        fill(self);
        self.depth -= 1;
        if self.has_items {
            self.line_break(self.depth);
        }
        self.out.push(close);
        self.has_items = true;
    }
}

impl Encoder for JsonEncoder {
    const WRITES_ZERO_KIND: bool = false;

    fn object(&mut self, keys: &'static Keys, mut field: impl FnMut(&mut Self, &'static str)) {
        let order = if self.layout == Layout::Canonical { keys.sorted } else { keys.declared };
        self.nested(b'{', b'}', |encoder| {
            for key in order {
                encoder.pending_key = Some(key);
                field(encoder, key);
            }
            encoder.pending_key = None;
        });
    }

    fn array<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.nested(b'[', b']', |encoder| {
            for value in items {
                item(encoder, value);
            }
        });
    }

    fn absent_list(&mut self) {
        self.null();
    }

    fn null(&mut self) {
        self.before_value();
        self.out.extend_from_slice(b"null");
    }

    fn text(&mut self, text: &str) {
        self.before_value();
        self.out.push(b'"');
        escape(&mut self.out, text);
        self.out.push(b'"');
    }

    fn number(&mut self, number: u64) {
        self.before_value();
        self.out.extend_from_slice(digits(number, &mut [0; 20]).as_bytes());
    }

    fn boolean(&mut self, value: bool) {
        self.before_value();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }
}

/// Any JSON on one line with sorted keys and Go's escapes: the form that is hashed.
pub(crate) fn sorted_json(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_sorted(&mut out, value);
    out
}

fn write_sorted(out: &mut Vec<u8>, value: &Value) {
    let text = |out: &mut Vec<u8>, text: &str| {
        out.push(b'"');
        escape(out, text);
        out.push(b'"');
    };
    match value {
        Value::String(string) => text(out, string),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_sorted(out, item);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                text(out, key);
                out.push(b':');
                write_sorted(out, value);
            }
            out.push(b'}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }
}

/// Go's escapes: the characters that could end a string or start markup, control characters, and
/// the two line separators that JavaScript once stumbled over.
fn escape(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let (replacement, length): (&[u8], usize) = match byte {
            b'"' => (b"\\\"", 1),
            b'\\' => (b"\\\\", 1),
            b'\n' => (b"\\n", 1),
            b'\r' => (b"\\r", 1),
            b'\t' => (b"\\t", 1),
            0x08 => (b"\\b", 1),
            0x0c => (b"\\f", 1),
            b'<' => (b"\\u003c", 1),
            b'>' => (b"\\u003e", 1),
            b'&' => (b"\\u0026", 1),
            0x00..=0x1f => (control(*byte), 1),
            0xe2 => match bytes.get(at..at + 3) {
                Some([0xe2, 0x80, 0xa8]) => (b"\\u2028", 3),
                Some([0xe2, 0x80, 0xa9]) => (b"\\u2029", 3),
                _ => (b"", 0),
            },
            _ => (b"", 0),
        };
        if length == 0 {
            at += 1;
            continue;
        }
        out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
        out.extend_from_slice(replacement);
        at += length;
        copied = at;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
}

/// `\u00xx` for a control character.
fn control(byte: u8) -> &'static [u8] {
    const ESCAPES: &[u8; 6 * 32] = b"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\
        \\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\\u000e\\u000f\
        \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\
        \\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f";
    let start = 6 * usize::from(byte);
    ESCAPES.get(start..start + 6).unwrap_or_default()
}

/// Writes a number's digits into the end of `buffer`, which holds any of 64 bits.
pub(crate) fn digits(mut number: u64, buffer: &mut [u8; 20]) -> &str {
    let mut start = buffer.len();
    for (index, slot) in buffer.iter_mut().enumerate().rev() {
        *slot = b'0' + (number % 10) as u8;
        start = index;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    buffer.get(start..).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    static KEYS: Keys = Keys { declared: &["b", "a", "c"], sorted: &["a", "b", "c"] };

    fn encoded(layout: Layout) -> String {
        let mut encoder = JsonEncoder::new(layout, 0);
        encoder.object(&KEYS, |encoder, key| match key {
            "a" => encoder.array(&[1u64, 23], |encoder, item| encoder.number(*item)),
            "b" => encoder.array(&[] as &[u64], |encoder, item| encoder.number(*item)),
            _ => {}
        });
        String::from_utf8(encoder.finish()).unwrap()
    }

    #[test]
    fn layouts() {
        assert_eq!(encoded(Layout::Canonical), r#"{"a":[1,23],"b":[]}"#);
        assert_eq!(encoded(Layout::Compact), r#"{"b":[],"a":[1,23]}"#);
        assert_eq!(encoded(Layout::Pretty), "{\n  \"b\": [],\n  \"a\": [\n    1,\n    23\n  ]\n}");
    }

    #[test]
    fn escapes_as_go_does() {
        let mut out = Vec::new();
        escape(&mut out, "a\"\\\u{8}\u{c}\n\r\t\u{1}\u{1f}<>&\u{2028}\u{2029}\u{202a}/\u{7f}é€");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u003c\\u003e\\u0026\\u2028\\u2029\u{202a}/\u{7f}é€"
        );
    }

    #[test]
    fn the_same_digits_as_display() {
        for number in [0, 7, 10, 1_048_576, u64::MAX] {
            assert_eq!(digits(number, &mut [0; 20]), number.to_string());
        }
    }
}
