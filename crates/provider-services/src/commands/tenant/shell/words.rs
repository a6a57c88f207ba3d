//! A command that is given as one word.

/// Splits at spaces, except between double quotes, as the Go program does.
pub(super) fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_split_unless_quoted() {
        for (command, wanted) in [
            ("ls", &["ls"][..]),
            ("ls  -l /tmp", &["ls", "-l", "/tmp"]),
            (r#"sh -c "echo a b""#, &["sh", "-c", "echo a b"]),
            (r#"echo "" x"#, &["echo", "", "x"]),
            ("", &[]),
        ] {
            assert_eq!(split(command), wanted, "{command}");
        }
    }
}
