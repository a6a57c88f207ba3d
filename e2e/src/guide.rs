//! Guides whose commands tests run.

/// The commands of a text, a line each; what ends in a backslash goes on in the next line.
///
/// A block marked `console` holds commands only; other blocks hold none.
pub fn commands(markdown: &str) -> Vec<String> {
    let (mut commands, mut inside, mut begun) = (Vec::new(), false, String::new());
    for line in markdown.lines() {
        match line.trim() {
            "```console" => inside = true,
            "```" => inside = false,
            text if inside && !text.is_empty() => {
                begun.push_str(text.strip_suffix('\\').unwrap_or(text));
                if !text.ends_with('\\') {
                    commands.push(std::mem::take(&mut begun));
                }
            }
            _ => {}
        }
    }
    commands
}

/// What stands below a heading, up to the next one of its kind.
pub fn section<'a>(markdown: &'a str, heading: &str) -> Option<&'a str> {
    let mark = heading.split(' ').next()?;
    let (_, rest) = markdown.split_once(&format!("\n{heading}\n"))?;
    rest.split(&format!("\n{mark} ")).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_blocks_and_nowhere_else() {
        let text = "a\n```console\nfirst \\\n  second\nthird\n```\n```text\nfourth\n```\n";
        assert_eq!(commands(text), ["first second", "third"]);
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let text = "# a\n\n## b\nfirst\n### c\nsecond\n## d\nthird\n";
        assert_eq!(section(text, "## b"), Some("first\n### c\nsecond"));
        assert_eq!(section(text, "## d"), Some("third\n"));
        assert_eq!(section(text, "## e"), None);
    }
}
