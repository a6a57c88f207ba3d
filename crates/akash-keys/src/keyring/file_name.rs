//! Item names as file names: slashes and percent signs escaped, all else as it is.

/// The name of the file of an item.
pub(super) fn escape(item: &str) -> String {
    item.replace('%', "%25").replace('/', "%2F")
}

/// The item of a file. Escapes of other characters are undone as well; a percent sign without
/// two digits stands for itself.
pub(super) fn unescape(file: &str) -> String {
    let mut item = Vec::with_capacity(file.len());
    let mut rest = file.as_bytes();
    while let Some((first, mut more)) = rest.split_first() {
        let escaped = || hex::decode(more.get(..2)?).ok()?.first().copied();
        match escaped().filter(|_| *first == b'%') {
            Some(byte) => {
                item.push(byte);
                more = more.get(2..).unwrap_or_default();
            }
            None => item.push(*first),
        }
        rest = more;
    }
    String::from_utf8_lossy(&item).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_slashes_and_percent_signs_are_escaped() {
        assert_eq!(escape("ops/100% ü.info"), "ops%2F100%25 ü.info");
        assert_eq!(unescape("ops%2f100%25 ü%2E%zz%4"), "ops/100% ü.%zz%4");
    }

    proptest! {
        #[test]
        fn names_come_back(item in "\\PC{0,20}") {
            let file = escape(&item);
            prop_assert!(!file.contains('/'));
            prop_assert_eq!(unescape(&file), item);
        }

        #[test]
        fn no_name_panics(file in "[%0-9a-fü]{0,20}") {
            let _ = unescape(&file);
        }
    }
}
