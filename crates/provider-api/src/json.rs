//! JSON written as Go's encoder writes it: no spaces, and `<`, `>`, `&` escaped.
//!
//! Clients read any JSON; what is recorded and compared is this one.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

/// `value` as JSON, in one line without its end.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    let mut encoder = serde_json::Serializer::with_formatter(&mut out, AsGo);
    value.serialize(&mut encoder)?;
    Ok(out)
}

/// `value` as JSON in one line, with its end: how frames carry it.
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut out = to_vec(value)?;
    out.push(b'\n');
    // Only whole texts were written.
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// `value` as JSON in many lines, indented by two spaces, without the end of the last: how results
/// are printed.
pub fn to_pretty<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut out = Vec::with_capacity(256);
    let formatter = PrettyAsGo(PrettyFormatter::new());
    let mut encoder = serde_json::Serializer::with_formatter(&mut out, formatter);
    value.serialize(&mut encoder)?;
    // Only whole texts were written.
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[derive(Clone, Copy, Debug)]
struct AsGo;

/// Lines and indentation of one formatter, texts of the other.
struct PrettyAsGo(PrettyFormatter<'static>);

macro_rules! like_pretty {
    ($($name:ident($($first:ident)?)),+ $(,)?) => {
        $(fn $name<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W
            $(, $first: bool)?
        ) -> io::Result<()> {
            self.0.$name(writer $(, $first)?)
        })+
    };
}

impl Formatter for PrettyAsGo {
    like_pretty!(
        begin_array(),
        end_array(),
        begin_array_value(first),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first),
        begin_object_value(),
        end_object_value(),
    );

    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        AsGo.write_string_fragment(writer, fragment)
    }
}

impl Formatter for AsGo {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, marked) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut marked = marked.chars();
            if let Some(mark) = marked.next() {
                write!(writer, "\\u{:04x}", u32::from(mark))?;
            }
            rest = marked.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_markup_is_escaped_as_go_does() {
        let text = "<appd> a&b \u{2028}\u{2029} \"é\"\n";
        let json = String::from_utf8(to_vec(text).unwrap()).unwrap();
        assert_eq!(json, r#""\u003cappd\u003e a\u0026b \u2028\u2029 \"é\"\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn many_lines_are_indented_and_escaped_as_go_does() {
        let value = serde_json::json!({"a": ["<", {}], "b": []});
        let wanted = "{\n  \"a\": [\n    \"\\u003c\",\n    {}\n  ],\n  \"b\": []\n}";
        assert_eq!(to_pretty(&value).unwrap(), wanted);
    }

    #[test]
    fn a_line_ends_with_its_break() {
        assert_eq!(to_line(&[1, 2]).unwrap(), "[1,2]\n");
    }
}
