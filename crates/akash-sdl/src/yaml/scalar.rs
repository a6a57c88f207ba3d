//! How a scalar becomes a value.
//!
//! The rules are those of Go's yaml.v3, which all existing tools read SDLs with: YAML 1.2's core
//! schema, plus octal numbers with a leading zero, `_` between digits, and `yes`/`no`/`on`/`off`
//! where a boolean is asked for.

use super::Scalar;

/// Whether the scalar stands for "nothing".
pub(crate) fn is_null(scalar: &Scalar<'_>) -> bool {
    !scalar.is_text && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL")
}

/// Why a scalar is not an unsigned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberProblem {
    /// Quoted text, which is not read as a number even when it looks like one.
    Quoted,
    NotANumber,
    Negative,
    Fraction,
    TooLarge,
}

/// Reads an unsigned number of at most 32 bits.
pub(crate) fn unsigned(scalar: &Scalar<'_>) -> Result<u32, NumberProblem> {
    if scalar.is_text {
        return Err(NumberProblem::Quoted);
    }
    let text: String = scalar.text.chars().filter(|c| *c != '_').collect();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let value = match integer(digits) {
        Some(value) => value?,
        None => integral_float(digits)?,
    };
    match u32::try_from(value) {
        Ok(0) => Ok(0),
        _ if negative => Err(NumberProblem::Negative),
        Ok(value) => Ok(value),
        Err(_) => Err(NumberProblem::TooLarge),
    }
}

/// Digits with an optional base prefix; `None` when it is not written as an integer.
fn integer(digits: &str) -> Option<Result<u64, NumberProblem>> {
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(u64::from_str_radix(body, radix).map_err(|_| NumberProblem::TooLarge))
}

/// `80.0` and `8e1` are numbers without a fraction and are taken as such. Go would also take
/// `80.5` and cut it to 80; a port or a count that is half a number is a mistake, so it is
/// refused here.
fn integral_float(digits: &str) -> Result<u64, NumberProblem> {
    let looks_like_float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if !looks_like_float {
        return Err(NumberProblem::NotANumber);
    }
    let value: f64 = digits.parse().map_err(|_| NumberProblem::NotANumber)?;
    if value > f64::from(u32::MAX) {
        return Err(NumberProblem::TooLarge);
    }
    if value.fract() != 0.0 {
        return Err(NumberProblem::Fraction);
    }
    // In range and without a fraction, checked above.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(value as u64)
}

/// Reads a boolean, with the spellings of YAML 1.1 that people still write.
pub(crate) fn boolean(scalar: &Scalar<'_>) -> Option<bool> {
    match &*scalar.text {
        "true" | "True" | "TRUE" if !scalar.is_text => Some(true),
        "false" | "False" | "FALSE" if !scalar.is_text => Some(false),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn plain(text: &str) -> Scalar<'_> {
        Scalar { text: Cow::Borrowed(text), is_text: false }
    }

    fn quoted(text: &str) -> Scalar<'_> {
        Scalar { text: Cow::Borrowed(text), is_text: true }
    }

    #[test]
    fn numbers_as_yaml_v3_reads_them() {
        for (text, expected) in [
            ("80", Ok(80)),
            ("+80", Ok(80)),
            ("8_0", Ok(80)),
            ("0x50", Ok(80)),
            ("0o120", Ok(80)),
            ("0120", Ok(80)),
            ("0b1010000", Ok(80)),
            ("80.0", Ok(80)),
            ("8e1", Ok(80)),
            ("08", Ok(8)),
            ("0", Ok(0)),
            ("-0", Ok(0)),
            ("4294967295", Ok(u32::MAX)),
            ("4294967296", Err(NumberProblem::TooLarge)),
            ("99999999999999999999999", Err(NumberProblem::TooLarge)),
            ("1e400", Err(NumberProblem::TooLarge)),
            ("-1", Err(NumberProblem::Negative)),
            ("80.5", Err(NumberProblem::Fraction)),
            ("eighty", Err(NumberProblem::NotANumber)),
            ("", Err(NumberProblem::NotANumber)),
            (".inf", Err(NumberProblem::NotANumber)),
            ("1.2.3", Err(NumberProblem::NotANumber)),
            ("0x", Err(NumberProblem::NotANumber)),
            ("true", Err(NumberProblem::NotANumber)),
        ] {
            assert_eq!(unsigned(&plain(text)), expected, "{text:?}");
        }
        assert_eq!(unsigned(&quoted("80")), Err(NumberProblem::Quoted));
    }

    #[test]
    fn booleans_with_old_spellings() {
        for text in ["true", "True", "TRUE", "y", "Yes", "on", "ON"] {
            assert_eq!(boolean(&plain(text)), Some(true), "{text}");
        }
        for text in ["false", "False", "n", "No", "off"] {
            assert_eq!(boolean(&plain(text)), Some(false), "{text}");
        }
        for text in ["", "1", "tRUE", "enabled"] {
            assert_eq!(boolean(&plain(text)), None, "{text}");
        }
        // yaml.v3 takes quoted "yes" for a boolean but not quoted "true".
        assert_eq!(boolean(&quoted("yes")), Some(true));
        assert_eq!(boolean(&quoted("true")), None);
    }

    #[test]
    fn nothing_is_only_nothing_when_plain() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert!(is_null(&plain(text)), "{text:?}");
            assert!(!is_null(&quoted(text)), "{text:?}");
        }
        assert!(!is_null(&plain("nULL")));
    }
}
