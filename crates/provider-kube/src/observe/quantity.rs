//! Amounts as Kubernetes writes them, read exactly.

/// A whole amount, rounded up; `None` if the text is none, or too large.
#[must_use]
pub fn whole(text: &str) -> Option<i64> {
    scaled(text, 1)
}

/// An amount in thousandths, rounded up; `None` if the text is none, or too large.
#[must_use]
pub fn milli(text: &str) -> Option<i64> {
    scaled(text, 1000)
}

/// `text × scale`, rounded away from zero as the scheduler does.
fn scaled(text: &str, scale: i128) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let (digits, places) = number.split_once('.').unwrap_or((number, ""));
    if digits.is_empty() && places.is_empty() || places.contains('.') {
        return None;
    }
    let (factor, divisor) = multiplier(suffix)?;
    let shift = 10_i128.checked_pow(u32::try_from(places.len()).ok()?)?;
    let mantissa = format!("{digits}{places}").parse::<i128>().ok()?;
    let product = mantissa.checked_mul(factor)?.checked_mul(scale)?;
    let divisor = shift.checked_mul(divisor)?;
    let rounded = product / divisor + i128::from(product % divisor != 0);
    i64::try_from(if negative { -rounded } else { rounded }).ok()
}

/// What a suffix stands for, as a fraction.
fn multiplier(suffix: &str) -> Option<(i128, i128)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const LARGE: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    const SMALL: [&str; 3] = ["m", "u", "n"];
    let power = |list: &[&str]| {
        let place = list.iter().position(|known| *known == suffix)?;
        u32::try_from(place + 1).ok()
    };
    if suffix.is_empty() {
        return Some((1, 1));
    }
    if let Some(power) = power(&BINARY) {
        return Some((1024_i128.checked_pow(power)?, 1));
    }
    if let Some(power) = power(&LARGE) {
        return Some((1000_i128.checked_pow(power)?, 1));
    }
    if let Some(power) = power(&SMALL) {
        return Some((1, 1000_i128.checked_pow(power)?));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
    let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
    Some(if exponent < 0 { (1, power) } else { (power, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_amount_is_read() {
        for (text, amount, thousandths) in [
            ("0", Some(0), Some(0)),
            ("50m", Some(1), Some(50)),
            ("1500m", Some(2), Some(1500)),
            ("2", Some(2), Some(2000)),
            ("0.5", Some(1), Some(500)),
            (".5", Some(1), Some(500)),
            ("1.5Gi", Some(1_610_612_736), Some(1_610_612_736_000)),
            ("64Mi", Some(67_108_864), Some(67_108_864_000)),
            ("5G", Some(5_000_000_000), Some(5_000_000_000_000)),
            ("12e6", Some(12_000_000), Some(12_000_000_000)),
            ("1E", Some(1_000_000_000_000_000_000), None),
            ("1E3", Some(1000), Some(1_000_000)),
            ("100u", Some(1), Some(1)),
            ("-1", Some(-1), Some(-1000)),
            ("1Zi", None, None),
            ("", None, None),
            (".", None, None),
            ("1.2.3", None, None),
            ("100Ei", None, None),
            ("1e99", None, None),
        ] {
            assert_eq!(whole(text), amount, "{text}");
            assert_eq!(milli(text), thousandths, "{text} in thousandths");
        }
    }
}
