//! Small things about words.

/// `1 problem`, `2 problems`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A text from outside as one line that cannot steer a terminal. Each character stays one
/// character, so that columns still count.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        // Marks that turn the direction of what follows.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        // Line breaks that are not control characters.
        '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(counted(0, "group"), "0 groups");
        assert_eq!(counted(1, "group"), "1 group");
        assert_eq!(counted(2, "group"), "2 groups");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\tb\u{1b}[31mc\u{9b}d\u{202e}é"), "a b�[31mc�d�é");
    }
}
