use super::*;
use ethnum::U256;
use proptest::prelude::*;

fn dec(text: &str) -> Dec {
    text.parse().unwrap()
}

#[test]
fn decimals_print_with_18_places() {
    for (text, printed) in [
        ("50", "50.000000000000000000"),
        ("1.5", "1.500000000000000000"),
        ("0", "0.000000000000000000"),
        ("-0", "0.000000000000000000"),
        ("+7", "7.000000000000000000"),
        ("-0.5", "-0.500000000000000000"),
        ("007.10", "7.100000000000000000"),
        ("0.000000000000000001", "0.000000000000000001"),
        ("170141183460469231731.687303715884105727", "170141183460469231731.687303715884105727"),
        ("-170141183460469231731.687303715884105728", "-170141183460469231731.687303715884105728"),
    ] {
        assert_eq!(dec(text).to_string(), printed);
    }
    assert_eq!(format!("{:>22}", dec("1")), "  1.000000000000000000");
}

#[test]
fn texts_that_are_not_decimals_are_refused() {
    for text in ["", "-", "+"] {
        assert_eq!(text.parse::<Dec>(), Err(DecError::Empty), "{text:?}");
    }
    for text in [".5", "5.", "-.5", "."] {
        assert!(matches!(text.parse::<Dec>(), Err(DecError::BarePoint { .. })), "{text:?}");
    }
    for text in ["1.2.3", "1e5", " 1", "1 ", "0x10", "1_0", "--5", "-+5", "1.-5", "٣", "1,5"] {
        assert!(matches!(text.parse::<Dec>(), Err(DecError::NotDecimal { .. })), "{text:?}");
    }
    assert_eq!(
        "0.0000000000000000001".parse::<Dec>(),
        Err(DecError::TooPrecise { text: "0.0000000000000000001".to_owned(), places: 19 })
    );
    for text in ["170141183460469231731.687303715884105728", "999999999999999999999999999"] {
        assert!(matches!(text.parse::<Dec>(), Err(DecError::TooLarge { .. })), "{text:?}");
    }
}

#[test]
fn the_wire_holds_the_scaled_digits() {
    for (wire, text) in [
        ("0", "0"),
        ("", "0"),
        ("1500000000000000000", "1.5"),
        ("-500000000000000000", "-0.5"),
        ("1", "0.000000000000000001"),
    ] {
        assert_eq!(Dec::from_wire(wire), Ok(dec(text)), "{wire:?}");
    }
    assert_eq!(dec("1.5").to_wire(), "1500000000000000000");
    assert_eq!(Dec::ZERO.to_wire(), "0");
    for wire in ["-", "-0", "00", "010", "0x10", "+1", "1.5", " 1", "1_0", "a"] {
        assert!(matches!(Dec::from_wire(wire), Err(DecError::Wire { .. })), "{wire:?}");
    }
    let above = "170141183460469231731687303715884105728";
    assert!(matches!(Dec::from_wire(above), Err(DecError::TooLarge { .. })));
}

#[test]
fn products_and_quotients_round_half_to_even() {
    for (a, b, product) in [
        ("2", "3", "6"),
        ("0.5", "0.000000000000000001", "0"),
        ("1.5", "0.000000000000000001", "0.000000000000000002"),
        ("2.5", "0.000000000000000001", "0.000000000000000002"),
        ("2.500000000000000001", "0.000000000000000001", "0.000000000000000003"),
        ("-1.5", "0.000000000000000001", "-0.000000000000000002"),
        ("-0.5", "0.000000000000000001", "0"),
    ] {
        assert_eq!(dec(a).checked_mul(dec(b)), Some(dec(product)), "{a} × {b}");
    }
    for (a, b, quotient, truncated) in [
        ("6", "3", "2", "2"),
        ("1", "3", "0.333333333333333333", "0.333333333333333333"),
        ("2", "3", "0.666666666666666667", "0.666666666666666666"),
        ("-2", "3", "-0.666666666666666667", "-0.666666666666666666"),
        ("0.000000000000000001", "2", "0", "0"),
        ("0.000000000000000003", "2", "0.000000000000000002", "0.000000000000000001"),
        ("0.000000000000000003", "-2", "-0.000000000000000002", "-0.000000000000000001"),
    ] {
        assert_eq!(dec(a).checked_quo(dec(b)), Some(dec(quotient)), "{a} ÷ {b}");
        assert_eq!(dec(a).checked_quo_truncate(dec(b)), Some(dec(truncated)), "{a} ÷ {b}");
    }
}

#[test]
fn nothing_overflows_silently() {
    let (min, max) = (Dec::from_scaled(i128::MIN), Dec::from_scaled(i128::MAX));
    assert_eq!(max.checked_add(Dec::from_scaled(1)), None);
    assert_eq!(min.checked_sub(Dec::from_scaled(1)), None);
    assert_eq!(min.checked_neg(), None);
    assert_eq!(max.checked_neg().map(Dec::scaled), Some(-i128::MAX));
    assert_eq!(max.checked_mul(max), None);
    assert_eq!(min.checked_mul(min), None);
    assert_eq!(max.checked_mul_int(2), None);
    assert_eq!(max.checked_quo(Dec::from_scaled(1)), None);
    assert_eq!(max.checked_quo_truncate(Dec::from_scaled(1)), None);
    assert_eq!(min.checked_quo(Dec::ZERO), None);
    assert_eq!(min.checked_quo_truncate(Dec::ZERO), None);
    assert_eq!(min.checked_mul(Dec::ONE), Some(min));
    assert_eq!(min.checked_quo(Dec::ONE), Some(min));
    assert_eq!(Dec::checked_from_int(i128::MAX), None);
    assert_eq!(Dec::checked_from_int(-3), Some(dec("-3")));
    assert_eq!(Dec::from_int(u64::MAX).truncate_int(), i128::from(u64::MAX));
}

#[test]
fn whole_parts_round_towards_zero() {
    for (text, whole) in [("2.9", 2), ("-2.9", -2), ("0.1", 0), ("-0.1", 0)] {
        assert_eq!(dec(text).truncate_int(), whole);
    }
    assert!(dec("-0.1").is_negative() && !dec("-0.1").is_positive());
    assert!(dec("0").is_zero() && !dec("0").is_negative() && !dec("0").is_positive());
}

/// ⌊numerator ÷ denominator⌉ on magnitudes in 256 unsigned bits, in the way the chain rounds.
fn reference(numerator: U256, denominator: U256, negative: bool, round: bool) -> Option<Dec> {
    let (quotient, remainder) = (numerator / denominator, numerator % denominator);
    let rest = denominator - remainder;
    let up = round && (remainder > rest || (remainder == rest && quotient % 2 == 1));
    let magnitude = i128::try_from(quotient + U256::from(u8::from(up))).ok()?;
    Some(Dec::from_scaled(if negative { -magnitude } else { magnitude }))
}

/// Small and large magnitudes alike, halves often.
fn any_scaled() -> impl Strategy<Value = i128> {
    // i128::MIN is left to the table: its magnitude has no positive twin in the reference.
    (-i128::MAX..=i128::MAX, 0_u32..127, any::<bool>()).prop_map(|(value, shift, half)| {
        let value = value >> shift;
        if half && value.abs() > ONE { value / (ONE / 2) * (ONE / 2) } else { value }
    })
}

/// Division by zero is in the table.
fn any_divisor() -> impl Strategy<Value = i128> {
    any_scaled().prop_map(|value| if value == 0 { 1 } else { value })
}

proptest! {
    #[test]
    fn printing_and_parsing_are_inverse(scaled in any::<i128>()) {
        let value = Dec::from_scaled(scaled);
        prop_assert_eq!(value.to_string().parse(), Ok(value));
    }

    #[test]
    fn the_wire_form_and_back_is_the_same(scaled in any::<i128>()) {
        let value = Dec::from_scaled(scaled);
        prop_assert_eq!(Dec::from_wire(&value.to_wire()), Ok(value));
    }

    #[test]
    fn products_agree_with_the_reference(a in any_scaled(), b in any_scaled()) {
        let (x, y) = (Dec::from_scaled(a), Dec::from_scaled(b));
        let numerator = U256::from(a.unsigned_abs()) * U256::from(b.unsigned_abs());
        let negative = (a < 0) != (b < 0);
        let one = U256::from(ONE.unsigned_abs());
        prop_assert_eq!(x.checked_mul(y), reference(numerator, one, negative, true));
    }

    #[test]
    fn quotients_agree_with_the_reference(a in any_scaled(), b in any_divisor()) {
        let (x, y) = (Dec::from_scaled(a), Dec::from_scaled(b));
        let one = U256::from(ONE.unsigned_abs());
        let numerator = U256::from(a.unsigned_abs()) * one;
        let denominator = U256::from(b.unsigned_abs());
        let negative = (a < 0) != (b < 0);
        let truncated = reference(numerator, denominator, negative, false);
        prop_assert_eq!(x.checked_quo_truncate(y), truncated);
        // The chain cuts at the 36th place before it rounds at the 18th.
        let twice = numerator * one / denominator;
        prop_assert_eq!(x.checked_quo(y), reference(twice, one, negative, true));
    }

    #[test]
    fn no_text_panics(text in ".{0,60}") {
        let _ = text.parse::<Dec>();
        let _ = Dec::from_wire(&text);
    }

    #[test]
    fn numbers_of_any_shape_do_not_panic(text in "[-+]?[0-9]{0,45}\\.?[0-9]{0,25}") {
        let _ = text.parse::<Dec>();
        let _ = Dec::from_wire(&text);
    }
}
