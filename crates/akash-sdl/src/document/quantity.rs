//! Amounts of CPU, memory and storage as people write them.
//!
//! The rest of the project counts in integers only. Here, and nowhere else, numbers go through
//! `f64`: the existing tools do (`0.29` CPUs, `1.5Gi`), and what they put on chain has to come
//! out to the last unit. Both languages parse to the nearest double and cut toward zero, so the
//! results are the same.

use crate::problem::Shown;

/// What is wrong with a quantity, and what would be right.
pub(crate) type QuantityProblem = (String, &'static str);

const CPU_FORMS: &str = "thousandths of a CPU such as 100m, or CPUs such as 0.5";
const BYTE_FORMS: &str = "bytes, with a suffix k M G T P E or Ki Mi Gi Ti Pi Ei, e.g. 512Mi";
const RAM_FORMS: &str = "bytes, with a suffix Ki Mi Gi Ti Pi Ei, e.g. 80Gi";
const GPU_FORMS: &str = "a whole number such as 1";

const KI: u64 = 1024;
const MI: u64 = KI * 1024;
const GI: u64 = MI * 1024;
const TI: u64 = GI * 1024;
const PI: u64 = TI * 1024;
const EI: u64 = PI * 1024;

/// Binary suffixes first: `Ki` also ends in a letter that no decimal suffix has, so the order
/// only saves comparisons.
const BINARY: [(&str, u64); 6] =
    [("Ki", KI), ("Mi", MI), ("Gi", GI), ("Ti", TI), ("Pi", PI), ("Ei", EI)];
const DECIMAL: [(&str, u64); 6] = [
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
];

/// CPU in thousandths.
pub(crate) fn cpu(text: &str) -> Result<u64, QuantityProblem> {
    if let Some(milli) = text.strip_suffix('m') {
        return digits(milli)
            .and_then(|value| u32::try_from(value).ok())
            .map(u64::from)
            .ok_or_else(|| (format!("{} is not an amount of CPU", Shown(text)), CPU_FORMS));
    }
    let value = scaled(text, 1000, "an amount of CPU", CPU_FORMS)?;
    match u32::try_from(value) {
        Ok(value) => Ok(u64::from(value)),
        Err(_) => Err((format!("{} is far more CPU than there is", Shown(text)), CPU_FORMS)),
    }
}

/// Memory or storage in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, QuantityProblem> {
    let (number, unit) = split(text, &[&BINARY, &DECIMAL]);
    scaled_of(text, number, unit, "a size", BYTE_FORMS)
}

/// GPU memory in whole gibibytes, as it stands in attribute keys (`80Gi`); what is left over is
/// cut off, so `512Mi` is `0Gi`.
pub(crate) fn gpu_ram_gi(text: &str) -> Result<u64, QuantityProblem> {
    let (number, unit) = split(text, &[&BINARY]);
    scaled_of(text, number, unit, "a size", RAM_FORMS).map(|bytes| bytes / GI)
}

/// A number of GPUs.
pub(crate) fn gpu(text: &str) -> Result<u64, QuantityProblem> {
    digits(text).ok_or_else(|| (format!("{} is not a number of GPUs", Shown(text)), GPU_FORMS))
}

/// Digits only: no sign, no space, no underscore.
fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn split<'t>(text: &'t str, tables: &[&[(&str, u64)]]) -> (&'t str, u64) {
    tables
        .iter()
        .copied()
        .flatten()
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|number| (number, *unit)))
        .unwrap_or((text, 1))
}

fn scaled(
    text: &str,
    unit: u64,
    what: &str,
    allowed: &'static str,
) -> Result<u64, QuantityProblem> {
    scaled_of(text, text, unit, what, allowed)
}

fn scaled_of(
    text: &str,
    number: &str,
    unit: u64,
    what: &str,
    allowed: &'static str,
) -> Result<u64, QuantityProblem> {
    // Rust reads "inf" and "nan" too; they are refused with everything else that is no number.
    let value = number
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .ok_or_else(|| (format!("{} is not {what}", Shown(text)), allowed))?;
    // All units are exact doubles: powers of two, and powers of ten up to 10^18.
    #[expect(clippy::cast_precision_loss)]
    let value = value * unit as f64;
    if value < 0.0 {
        return Err((format!("{} is negative", Shown(text)), allowed));
    }
    if value >= 18_446_744_073_709_551_616.0 {
        return Err((format!("{} is too large", Shown(text)), allowed));
    }
    // Not negative and below 2^64, checked above; the fraction is meant to go.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_in_thousandths() {
        for (text, expected) in [
            ("100m", 100),
            ("0.1", 100),
            ("1", 1000),
            ("0.5", 500),
            (".5", 500),
            ("1e-1", 100),
            ("0.0019", 1),
            ("0.29", 290),
            ("2.3", 2300),
            ("1.005", 1004),
            ("0", 0),
        ] {
            assert_eq!(cpu(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "m",
            "-1",
            "-100m",
            "0.5m",
            "1_000m",
            "4294967296m",
            "5000000",
            "inf",
            "nan",
            "1 ",
            "lots",
        ] {
            assert!(cpu(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_in_bytes() {
        for (text, expected) in [
            ("512Mi", 512 * MI),
            ("1Gi", GI),
            ("1.5Gi", GI + GI / 2),
            ("1k", 1000),
            ("1M", 1_000_000),
            ("2E", 2_000_000_000_000_000_000),
            ("1Ei", EI),
            ("134217728", 134_217_728),
            ("0.1k", 100),
            ("1e3", 1000),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "Gi", "1K", "-1Gi", "1 Gi", "100Ei", "1GiB", "0x10"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn gpu_memory_is_cut_to_whole_gibibytes() {
        assert_eq!(gpu_ram_gi("80Gi"), Ok(80));
        assert_eq!(gpu_ram_gi("512Mi"), Ok(0));
        assert_eq!(gpu_ram_gi("1Ti"), Ok(1024));
        assert!(gpu_ram_gi("80G").is_err());
    }

    #[test]
    fn gpus_are_counted() {
        assert_eq!(gpu("1"), Ok(1));
        for text in ["", "-1", "+1", "1.0", "0x1", "one"] {
            assert!(gpu(text).is_err(), "{text}");
        }
    }
}
