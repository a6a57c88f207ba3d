//! How error texts quote what they refuse: enough to recognise it, never a whole document.

/// The start of a text.
pub(crate) fn shortened(text: &str) -> String {
    /// Longer than any id, so that what is nearly right is quoted whole.
    const LIMIT: usize = 160;
    match text.char_indices().nth(LIMIT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_cut() {
        let (fits, long) = ("é".repeat(160), "é".repeat(161));
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&long), format!("{fits}…"));
    }
}
