//! How yaml.v3 writes a text: plain where that reads back as the same text, else quoted, and as
//! a literal block when it has several lines.
//!
//! In three cases yaml.v3 writes what does not read back as the same text: several lines of which
//! the first is empty or indented, Unicode's own line separators, and a leading byte order mark.
//! Those are double-quoted here, which loses nothing.

/// Writes a text as the value of a field or item. `block_indent` is the column at which the lines
/// of a literal block begin.
pub(super) fn write_scalar(out: &mut String, text: &str, block_indent: usize) {
    let form = Form::of(text);
    if text.contains('\n') && form.block_allowed {
        write_literal(out, text, block_indent);
    } else if text.contains('\n') || reads_as_something_else(text) || !form.single_quoted_allowed {
        write_double_quoted(out, text);
    } else if form.plain_allowed {
        out.push_str(text);
    } else {
        write_single_quoted(out, text);
    }
}

/// Which styles can hold a text.
struct Form {
    plain_allowed: bool,
    single_quoted_allowed: bool,
    block_allowed: bool,
}

impl Form {
    fn of(text: &str) -> Self {
        let (mut indicators, mut tabs, mut special) = (false, false, false);
        let (mut break_then_space, mut space_then_break, mut breaks) = (false, false, false);
        let mut previous = None;
        let mut rest = text.chars();
        indicators |= text.starts_with("---") || text.starts_with("...");
        while let Some(current) = rest.next() {
            let next = rest.clone().next();
            // A tab counts as blank where the text might go on as a comment or a key.
            let blank_after = next.is_none_or(|c| matches!(c, ' ' | '\t'));
            let blank_before = previous.is_none_or(|c| {
                matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\0')
            });
            indicators |= match (previous, current) {
                (
                    None,
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                    | '%' | '@' | '`',
                ) => true,
                (None, '?' | '-') | (_, ':') => blank_after,
                (Some(_), '#') => blank_before,
                _ => false,
            };
            tabs |= current == '\t';
            special |= current != '\t' && !is_printable(current);
            breaks |= is_break(current);
            break_then_space |= current == ' ' && previous.is_some_and(is_break);
            space_then_break |= is_break(current) && previous == Some(' ');
            previous = Some(current);
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let bare_edge = text.starts_with(edge) || text.ends_with(edge);
        let unquotable = break_then_space || space_then_break || tabs || special;
        Self {
            plain_allowed: !(bare_edge || unquotable || breaks || indicators),
            single_quoted_allowed: !unquotable,
            block_allowed: !(text.starts_with(edge)
                || text.ends_with(' ')
                || space_then_break
                || special),
        }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// yaml.v3 does not count characters beyond the basic plane as printable.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn write_single_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for c in text.chars() {
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
    }
    out.push('\'');
}

fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            c if is_printable(c) => {
                out.push(c);
                continue;
            }
            c => {
                let code = u32::from(c);
                out.push_str(&match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                });
                continue;
            }
        };
        out.push('\\');
        out.push(short);
    }
    out.push('"');
}

/// Ends without a line break of its own when the text has one.
fn write_literal(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if !text.ends_with('\n') {
        out.push('-');
    } else if text.ends_with("\n\n") || text == "\n" {
        out.push('+');
    }
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
}

/// Whether the text, written plain, would be read as a number, a boolean, null or a time.
fn reads_as_something_else(text: &str) -> bool {
    matches!(
        text,
        "" | "~"
            | "null"
            | "Null"
            | "NULL"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "y"
            | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
            | ".nan"
            | ".NaN"
            | ".NAN"
            | ".inf"
            | ".Inf"
            | ".INF"
            | "+.inf"
            | "+.Inf"
            | "+.INF"
            | "-.inf"
            | "-.Inf"
            | "-.INF"
    ) || is_number(text)
        || is_base_60(text)
        || is_time(text)
}

fn is_number(text: &str) -> bool {
    if text.starts_with('.') {
        return is_decimal_float(text);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-') {
        return false;
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let based = |radix: u32| {
        unsigned.get(2..).is_some_and(|digits| {
            !digits.is_empty()
                && digits.chars().all(|c| c.is_digit(radix))
                && u64::from_str_radix(digits, radix).is_ok()
        })
    };
    match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => based(16),
        [b'0', b'o' | b'O', ..] => based(8),
        [b'0', b'b' | b'B', ..] => based(2),
        _ => is_decimal_float(unsigned),
    }
}

/// `^(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`; plain digits match too.
fn is_decimal_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    mantissa_ok
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// `^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`: times of day were numbers once.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (body, fraction) = match unsigned.split_once('.') {
        Some((body, fraction)) => (body, fraction),
        None => (unsigned, ""),
    };
    if !fraction.chars().all(|c| c.is_ascii_digit() || c == '_') {
        return false;
    }
    let mut parts = body.split(':');
    let first = parts.next().unwrap_or_default();
    let mut sixties = parts.peekable();
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_')
        && sixties.peek().is_some()
        && sixties.all(|part| match part.as_bytes() {
            [digit] => digit.is_ascii_digit(),
            [b'0'..=b'5', digit] => digit.is_ascii_digit(),
            _ => false,
        })
}

/// Dates, and dates with a time, in the forms yaml.v3 knows.
fn is_time(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let Some((day, time)) = rest.split_at_checked(day_end) else { return false };
    let short = |text: &str| -> Option<u32> {
        let fits = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { text.parse().ok() } else { None }
    };
    let (true, Ok(year), Some(month), Some(day)) = (
        year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()),
        year.parse::<u32>(),
        short(month),
        short(day),
    ) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    if !(1..=days).contains(&day) {
        return false;
    }
    match time.as_bytes() {
        [] => true,
        [b' ', ..] => time.get(1..).is_some_and(|clock| is_clock(clock, false)),
        [b'T' | b't', ..] => time.get(1..).is_some_and(|clock| is_clock(clock, true)),
        _ => false,
    }
}

fn is_clock(text: &str, wants_zone: bool) -> bool {
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(at) => text.split_at_checked(at).unwrap_or((text, "")),
        None => (text, ""),
    };
    let zone_ok = match zone.as_bytes() {
        [] => !wants_zone,
        [b'Z'] => wants_zone,
        [b'+' | b'-', h1 @ b'0'..=b'2', h2, b':', m1 @ b'0'..=b'5', m2] => {
            wants_zone && [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    };
    let (hms, fraction) = match clock.split_once(['.', ',']) {
        Some((hms, fraction)) => (hms, Some(fraction)),
        None => (clock, None),
    };
    let in_range = |part: Option<&str>, end: u32| {
        part.is_some_and(|part| {
            matches!(part.len(), 1 | 2)
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && part.parse::<u32>().is_ok_and(|number| number < end)
        })
    };
    let mut parts = hms.split(':');
    zone_ok
        && in_range(parts.next(), 24)
        && in_range(parts.next(), 60)
        && in_range(parts.next(), 60)
        && parts.next().is_none()
        && fraction.is_none_or(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are yaml.v3's own.
    #[test]
    fn styles() {
        for (text, expected) in [
            ("sh", "sh"),
            ("-c", "-c"),
            ("- x", "'- x'"),
            ("", "\"\""),
            ("50", "\"50\""),
            ("1.5", "\"1.5\""),
            ("0x1F", "\"0x1F\""),
            ("1_000", "\"1_000\""),
            ("true", "\"true\""),
            ("yes", "\"yes\""),
            ("null", "\"null\""),
            ("12:30", "\"12:30\""),
            ("2020-01-02", "\"2020-01-02\""),
            ("2020-13-02", "2020-13-02"),
            ("2020-01-02T03:04:05Z", "\"2020-01-02T03:04:05Z\""),
            ("a: b", "'a: b'"),
            ("a:b", "a:b"),
            ("a #b", "'a #b'"),
            ("a#b", "a#b"),
            ("it's", "it's"),
            ("'q'", "'''q'''"),
            ("\"q\"", "'\"q\"'"),
            (" lead", "' lead'"),
            ("tab\there", "\"tab\\there\""),
            ("nginx:1.25", "nginx:1.25"),
            ("https://x/y", "https://x/y"),
            ("*", "'*'"),
            ("{}", "'{}'"),
            ("é", "é"),
            ("😀", "\"\\U0001F600\""),
            ("a\nb", "|-\n    a\n    b"),
            ("a\nb\n", "|\n    a\n    b"),
            ("a\n\nb\n\n", "|+\n    a\n\n    b\n"),
            (" a\nb", "\" a\\nb\""),
            ("\na", "\"\\na\""),
            ("\u{2028}", "\"\\L\""),
            ("a \nb", "\"a \\nb\""),
            ("<<", "<<"),
            ("1e3", "\"1e3\""),
            ("1.2.3", "1.2.3"),
        ] {
            let mut out = String::new();
            write_scalar(&mut out, text, 4);
            assert_eq!(out, expected, "{text:?}");
        }
    }
}
