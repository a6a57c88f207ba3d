//! The digits of a number, without allocating.

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

    #[test]
    fn the_same_digits_as_display() {
        for number in [0, 7, 10, 1_048_576, u64::MAX] {
            assert_eq!(digits(number, &mut [0; 20]), number.to_string());
        }
    }
}
