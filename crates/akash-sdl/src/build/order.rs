//! Sorting as the reference implementation does, where ties are visible in the result.

/// Sorts by a strict "goes before". Elements that are equal keep their order; the reference
/// implementation does the same for up to twelve elements, and for more when they stand in order
/// already, which covers what people write.
pub(super) fn sort<T>(items: &mut [T], goes_before: impl Fn(&T, &T) -> bool) {
    items.sort_by(|a, b| {
        if goes_before(a, b) {
            std::cmp::Ordering::Less
        } else if goes_before(b, a) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
}
